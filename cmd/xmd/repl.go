package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/plan"
	"xmd/runtime"
)

func replCommand() *command {
	return &command{
		name: "repl", usage: "run entries from stdin one after another; names and sessions stay",
		flags: append(sessionFlags(), includeFlag(), &cli.StringFlag{Name: "format", Value: "text", Hidden: true}),
		run:   replMain,
	}
}

const replHelp = `An entry is a piece of a document; it runs when its tags, fences and braces are closed.
Names bound by an entry stay, sessions continue. :agent NAME sets the agent of prompts that name none, :quit leaves.`

// repl is one REPL: one run, many entries.
type repl struct {
	p       *program
	h       *host
	live    *live
	bound   plan.Names
	include []string
	entries int
	code    int // of the last entry that failed
	tty     bool
	lines   <-chan string

	mu      sync.Mutex
	running context.CancelCauseFunc // of the entry that runs; nil between entries
	struck  time.Time               // the last Ctrl-C
}

func replMain(p *program, c *call) error {
	if len(c.args) > 0 {
		return &usageError{message: "repl takes no arguments; run a document with xmd run"}
	}
	if err := errors.Join(onePolicy(c), durations(c, "wait")); err != nil {
		return err
	}
	h, err := p.host(c)
	if err != nil {
		return err
	}
	empty := &plan.Plan{Source: diag.NewSource("repl", "")}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	lines := linesOf(ctx, p.stdin)
	if isTerminal(p.stdin) && isTerminal(p.stderr) {
		p.console = &terminal{out: p.stderr, lines: lines}
	}
	l, err := h.begin(ctx, p, c, job{plan: empty, format: "text"})
	if err != nil {
		return err
	}
	r := &repl{p: p, h: h, live: l, tty: isTerminal(p.stdin), lines: lines, include: c.StringSlice("include")}
	stop := r.watch(cancel)
	defer stop()
	r.read(ctx)
	end := l.finish()
	var code exitCode
	if signalCode(ctx) != 0 && errors.As(end, &code) {
		return end
	}
	return codeError(r.code)
}

// watch makes Ctrl-C cancel the entry that runs; between entries, or twice within a second, it leaves.
func (r *repl) watch(leave context.CancelCauseFunc) func() {
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case sig := <-ch:
				r.struckBy(sig, leave)
			}
		}
	}()
	return func() { signal.Stop(ch); close(done) }
}

func (r *repl) struckBy(sig os.Signal, leave context.CancelCauseFunc) {
	if sig == syscall.SIGPIPE {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	twice := time.Since(r.struck) < time.Second
	r.struck = time.Now()
	if r.running != nil {
		r.running(interrupted{sig})
	}
	if r.running == nil || twice || sig == syscall.SIGTERM {
		leave(interrupted{sig})
	}
}

// read takes entries until stdin ends, :quit, or ctx ends.
func (r *repl) read(ctx context.Context) {
	entry := ""
	for {
		r.prompt(entry)
		select {
		case <-ctx.Done():
			return
		case line, ok := <-r.lines:
			if !ok {
				if strings.TrimSpace(entry) != "" {
					r.run(ctx, entry)
				}
				return
			}
			if entry == "" && strings.HasPrefix(line, ":") {
				if r.command(strings.Fields(line)) {
					return
				}
				continue
			}
			entry += line
			if doc, _ := lang.Parse("repl", entry); doc.Incomplete {
				continue
			}
			r.run(ctx, entry)
			entry = ""
		}
	}
}

// prompt shows that an entry, or its next line, is awaited; only at a terminal.
func (r *repl) prompt(entry string) {
	if !r.tty {
		return
	}
	mark := "xmd> "
	if entry != "" {
		mark = "...> "
	}
	_, _ = io.WriteString(r.p.stderr, mark)
}

// command obeys a line that begins with a colon; true means leave.
func (r *repl) command(words []string) bool {
	switch words[0] {
	case ":quit", ":q":
		return true
	case ":help":
		_, _ = fmt.Fprintln(r.p.stderr, replHelp)
	case ":agent":
		if len(words) != 2 {
			_, _ = fmt.Fprintln(r.p.stderr, "write :agent NAME")
		} else if _, err := r.h.agents.Lookup(words[1]); err != nil {
			r.code = r.p.finish(err)
		} else {
			r.live.runner.SetDefaultAgent(words[1])
		}
	default:
		_, _ = fmt.Fprintf(r.p.stderr, "unknown: %s; :help lists what there is\n", words[0])
	}
	return false
}

// run checks and runs one entry. A mistake shows its position and hint, runs nothing, and the REPL goes on.
func (r *repl) run(ctx context.Context, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	r.entries++
	doc, list := lang.Parse(fmt.Sprintf("repl[%d]", r.entries), text)
	compiled, names, more := plan.Compiler{Files: filesOf("repl", r.include)}.CompileEntry(doc, r.bound)
	list = append(list, more...)
	list = append(list, r.h.checkAgents(compiled)...)
	if len(list) > 0 {
		r.p.say(doc.Source, list)
	}
	if list.HasErrors() {
		r.code = 2
		return
	}
	r.bound = names
	ctx, cancel := context.WithCancelCause(ctx)
	r.set(cancel)
	before := len(r.live.runner.Failures())
	_ = r.live.runner.Execute(ctx, compiled)
	r.set(nil)
	cancel(nil)
	for _, e := range r.live.runner.Failures()[before:] {
		_, _ = fmt.Fprintln(r.p.stderr, printable(errorLine(e)))
		if r.code = e.Kind.ExitCode(); e.Kind == runtime.KindCancelled {
			r.code = exitInterrupt
		}
	}
}

func (r *repl) set(cancel context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = cancel
}
