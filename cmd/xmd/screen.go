package main

import (
	"context"
	"io"
	"os"
	"time"

	"xmd/cmd/xmd/term"
	"xmd/runtime"
	"xmd/runtime/event"
)

// face is what a person at a terminal sees beside the result. The zero value is for pipes.
type face struct {
	rules  term.Rules
	screen *term.Screen // nil: there is no status line
	status *term.Status // nil with screen
}

// openFace finds out what is shown where. A screen is made once and closed when the command has ended.
func (p *program) openFace(c *call) {
	p.face.rules = term.Decide(term.Surroundings{
		Getenv: p.env.get, Stdout: isTerminal(p.stdout), Stderr: isTerminal(p.stderr),
		NoColor: c.Bool("no-color"), Quiet: c.Bool("q"), Verbose: c.Bool("v"),
	})
	if !p.face.rules.Line || p.face.screen != nil {
		return
	}
	p.face.status = term.NewStatus(time.Now, func() { p.face.screen.Changed() })
	p.face.screen = term.NewScreen(p.stderr, p.face.status.Line, p.face.rules.Color)
}

// through is a writer to a file of this program; what is the terminal of the status line is written to with it.
func (p *program) through(f *os.File) io.Writer {
	if p.face.screen == nil || !isTerminal(f) {
		return f
	}
	a, err := f.Stat()
	b, berr := p.stderr.Stat()
	if err != nil || berr != nil || !os.SameFile(a, b) {
		return f
	}
	return p.face.screen.Through(f)
}

// document is where the rendered document goes, and what writes the end of it that its styling holds back.
func (p *program) document(format string) (w io.Writer, flush func() error) {
	w = p.through(p.stdout)
	if format != "text" || !p.face.rules.Clean {
		return w, func() error { return nil }
	}
	styled := term.NewMarkdown(w, p.face.rules.Styled)
	return styled, styled.Flush
}

// sinks are what of the face reads the event stream.
func (f face) sinks() []event.Sink {
	if f.status == nil {
		return nil
	}
	return []event.Sink{f.status}
}

// aside is a terminal that an agent's own interface has: there is no status line while it does.
type aside struct {
	runtime.Terminal
	screen *term.Screen
}

// Run runs a program in the foreground of the terminal.
func (a aside) Run(ctx context.Context, p runtime.Program) (runtime.ProgramExit, error) {
	defer a.screen.Hold()()
	return a.Terminal.Run(ctx, p)
}
