package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/secret"
)

func replCommand() *command {
	return &command{
		name: "repl", usage: "run entries from stdin one after another; names and sessions stay",
		flags: append(sessionFlags(), includeFlag()),
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
	secrets *secret.Set
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
	if err := errors.Join(onePolicy(c), durations(c, timeFlags...)); err != nil {
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
	secrets, err := p.secrets(c, nil)
	if err != nil {
		return err
	}
	l, err := h.begin(ctx, p, c, job{plan: empty, secrets: secrets, settings: h.settingsOf(c, "text")})
	if err != nil {
		return err
	}
	r := &repl{p: p, h: h, live: l, secrets: secrets, tty: isTerminal(p.stdin), lines: lines, include: c.StringSlice("include")}
	stop := r.watch(cancel)
	defer stop()
	r.read(l.ctx)
	end := l.finish()
	var code exitCode
	if (signalCode(l.ctx) != 0 || r.code == 0) && errors.As(end, &code) {
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
			if doc, _ := lang.Parse("repl", entry); doc.Incomplete || openFrontmatter(entry) {
				continue
			}
			r.run(ctx, entry)
			entry = ""
		}
	}
}

// openFrontmatter says whether an entry may still become one with a frontmatter, which is then refused as a whole: its first line is ---, and
// behind it stand blank lines and comments only, or a key and no further --- yet.
func openFrontmatter(entry string) bool {
	lines := strings.Split(strings.TrimSuffix(entry, "\n"), "\n")
	if strings.TrimRight(lines[0], " \t\r") != "---" {
		return false
	}
	key := false
	for _, line := range lines[1:] {
		line = strings.TrimRight(line, " \t\r")
		switch {
		case line == "---":
			return false
		case key || line == "" || strings.HasPrefix(strings.TrimSpace(line), "#"):
		case !frontmatterKey().MatchString(line):
			return false
		default:
			key = true
		}
	}
	return true
}

// frontmatterKey is how the first line of a frontmatter begins.
var frontmatterKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\s:#]+:(\s|$)`) })

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
	if strings.TrimSpace(text) == "" || ctx.Err() != nil {
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
	if err := r.p.undeclared(compiled, r.secrets); err != nil {
		r.code = r.p.finish(err)
		return
	}
	r.bound = names
	entry, cancel := context.WithCancelCause(ctx)
	r.set(cancel)
	before := len(r.live.runner.Failures())
	_ = r.live.runner.Execute(entry, compiled)
	r.set(nil)
	cancel(nil)
	_ = r.live.output.Flush() // before what is said of this entry and of the next; a reader that has gone ends ctx
	if signalCode(ctx) == exitOutputClosed {
		return // silently
	}
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
