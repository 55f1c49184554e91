package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	edit "xmd/cmd/xmd/repl"
	"xmd/cmd/xmd/term"
	"xmd/lang"
	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/secret"
)

func replCommand() *command {
	return &command{
		name: "repl", usage: "run entries from stdin one after another; names and sessions stay",
		flags: append(sessionFlags(), includeFlag(), &cli.StringFlag{Name: "resume", Usage: "go on with the REPL of this run: its names and sessions are there again"}),
		run:   replMain,
	}
}

// repl is one REPL: one run, many entries.
type repl struct {
	p        *program
	h        *host
	c        *call
	live     *live
	in       edit.Lines
	past     *journal.Past // of the REPL that goes on; nil: a new one
	agent    string        // of prompts that name none
	bound    plan.Names
	include  []string
	secrets  *secret.Set
	entries  int
	accepted []string // the entries that were run, as they were given
	code     int      // of the last entry that failed
	tty      bool

	mu      sync.Mutex
	running context.CancelCauseFunc // of the entry that runs; nil between entries
	struck  time.Time               // the last Ctrl-C
	early   bool                    // it came when no entry ran: maybe for one that is about to
	edited  bool                    // entries are edited at a terminal, where Ctrl-C is a key while one is typed
}

func replMain(p *program, c *call) error {
	if len(c.args) > 0 {
		return &usageError{message: "repl takes no arguments; run a document with xmd run"}
	}
	if err := errors.Join(onePolicy(c), durations(c, timeFlags...), budget(c)); err != nil {
		return err
	}
	h, err := p.host(c)
	if err != nil {
		return err
	}
	p.openFace(c)
	r := &repl{p: p, h: h, c: c, tty: isTerminal(p.stdin), include: c.StringSlice("include")}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	given, err := h.settingsOf(c, "text")
	if err != nil {
		return err
	}
	if err := r.openInput(ctx); err != nil {
		return err
	}
	defer func() { _ = r.in.Close() }()
	if err := r.begin(ctx, given); err != nil {
		return err
	}
	p.mask = r.secrets.Mask
	stop := r.watch(cancel)
	defer stop()
	r.recall(r.live.ctx)
	r.read(r.live.ctx)
	end := r.live.finish()
	var code exitCode
	if (signalCode(r.live.ctx) != 0 || r.code == 0) && errors.As(end, &code) {
		return end
	}
	return codeError(r.code)
}

// openInput chooses where entries come from: a terminal is edited at, unless it cannot be; anything else is read as it comes.
func (r *repl) openInput(ctx context.Context) error {
	if in, ok := r.p.stdin.(*os.File); ok && r.tty && isTerminal(r.p.stderr) && r.p.env.get("TERM") != "dumb" {
		editor, err := edit.New(edit.Options{In: in, Out: r.p.stderr, History: filepath.Join(r.h.stateDir, "repl-history"), Complete: r.complete})
		if err == nil {
			r.in, r.edited = editor, true
			r.p.console = &terminal{out: r.p.stderr, screen: r.p.face.screen, color: r.p.face.rules.Color, line: r.asked}
			return nil
		}
	}
	lines := linesOf(ctx, r.p.stdin)
	r.in = simple{plainLines{io.Discard, lines}} // a pipe has no prompt
	if r.tty && isTerminal(r.p.stderr) {
		plain := plainLines{r.p.stderr, lines}
		r.in, r.p.console = simple{plain}, &terminal{out: r.p.stderr, screen: r.p.face.screen, color: r.p.face.rules.Color, line: plain.read}
	}
	return nil
}

// simple are entries from what lines cannot be edited at; nothing is remembered.
type simple struct{ plainLines }

func (s simple) Read(ctx context.Context, prompt string) (string, error) {
	line, err := s.read(ctx, prompt)
	return strings.TrimSuffix(line, "\n"), err
}

func (simple) Remember(string) {}
func (simple) Close() error    { return nil }

// asked puts a question while an entry runs. Ctrl-C there is Ctrl-C: it cancels the entry.
func (r *repl) asked(ctx context.Context, prompt string) (string, error) {
	line, err := r.in.Read(ctx, prompt)
	if errors.Is(err, edit.ErrInterrupt) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.struck = time.Now()
		if r.running != nil {
			r.running(interrupted{os.Interrupt})
		}
	}
	return line, err
}

// watch makes Ctrl-C cancel the entry that runs; between entries, or twice within a second, it leaves.
func (r *repl) watch(leave context.CancelCauseFunc) func() {
	// The first process that Go's os package starts or looks for makes it try something in a child that shares our memory and our signal
	// handlers: a Ctrl-C at that moment would count twice.
	_, _ = os.FindProcess(os.Getpid())
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
	switch {
	case r.running == nil && !r.edited, twice, sig == syscall.SIGTERM:
		leave(interrupted{sig})
	case r.running == nil:
		r.early = true
	}
}

// read takes entries until the input ends, :quit, or ctx ends.
func (r *repl) read(ctx context.Context) {
	var entry strings.Builder
	for {
		prompt := "xmd> "
		if entry.Len() > 0 {
			prompt = "...> "
		}
		line, err := r.line(ctx, prompt)
		switch {
		case errors.Is(err, edit.ErrInterrupt):
			if r.leaves(entry.Len() == 0) {
				r.live.cancel(interrupted{os.Interrupt})
				return
			}
			entry.Reset()
			continue
		case errors.Is(err, io.EOF) && line == "":
			r.run(ctx, entry.String())
			return
		case err != nil && line == "":
			return
		case entry.Len() == 0 && strings.HasPrefix(line, ":"):
			r.remember(line)
			if r.command(ctx, line) {
				return
			}
			continue
		}
		entry.WriteString(line + "\n")
		text := entry.String()
		if len(text) > longEntry && !strings.HasPrefix(text, "---") && !strings.ContainsAny(line, closers) {
			continue
		}
		if doc, _ := lang.Parse("repl", text); doc.Incomplete || openFrontmatter(text) {
			continue
		}
		r.remember(text)
		r.run(ctx, text)
		entry.Reset()
	}
}

// Of an entry this long only lines with one of these characters are looked at for its end: a tag, a comment, a fence and a brace that are open
// end with one, and to read all of it again for each line costs too much.
const (
	longEntry = 64 << 10
	closers   = ">`~}"
)

// line reads one line of an entry; whatever edits it has the terminal to itself.
func (r *repl) line(ctx context.Context, prompt string) (string, error) {
	defer r.p.face.screen.Hold()()
	return r.in.Read(ctx, prompt)
}

// leaves says whether a Ctrl-C at the prompt is the second within a second. On an empty line the first one says how to leave.
func (r *repl) leaves(empty bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	twice := time.Since(r.struck) < time.Second
	r.struck = time.Now()
	if empty && !twice {
		_, _ = io.WriteString(r.p.stderr, "Ctrl-D leaves, or Ctrl-C once more\n")
	}
	return twice
}

// remember puts an entry or a command into the history, unless it has a secret in it.
func (r *repl) remember(entry string) {
	if r.secrets.Mask(entry) == entry {
		r.in.Remember(entry)
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

// run checks and runs one entry. A mistake shows its position and hint, runs nothing, and the REPL goes on.
func (r *repl) run(ctx context.Context, text string) {
	if strings.TrimSpace(text) == "" || ctx.Err() != nil {
		return
	}
	r.entries++
	r.compileAndRun(ctx, fmt.Sprintf("repl[%d]", r.entries), text, filesOf("repl", r.include))
}

// compileAndRun is run for a text with a name, which finds its files there.
func (r *repl) compileAndRun(ctx context.Context, name, text string, files documentFiles) {
	doc, list := lang.Parse(name, text)
	compiled, names, more := plan.Compiler{Files: files}.CompileEntry(doc, r.bound)
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
	r.accepted = append(r.accepted, text)
	r.execute(ctx, event.Entry{Name: name, Text: text}, func(entry context.Context) { _ = r.live.runner.Execute(entry, compiled) })
}

// execute runs what an entry is and tells its failures. That it begins is on record before, that it has ended behind it.
func (r *repl) execute(ctx context.Context, begun event.Entry, do func(context.Context)) {
	begun.Number, begun.Agent = r.entries, r.agent
	r.live.runner.Enter(begun.Number)
	if err := r.live.stream.Record(ctx, event.EntryStarted, event.At{}, &begun, nil); err != nil {
		r.code = r.p.finish(storeFailed(err))
		return
	}
	defer func() {
		if err := r.live.stream.Record(context.WithoutCancel(ctx), event.EntryEnded, event.At{}, &event.Entry{Number: begun.Number}, nil); err != nil {
			r.code = r.p.finish(storeFailed(err))
		}
	}()
	entry, cancel := context.WithCancelCause(ctx)
	r.set(cancel)
	before := len(r.live.runner.Failures())
	fault := r.live.guarded(func() error { do(entry); return nil })
	r.set(nil)
	cancel(nil)
	_ = r.live.flush() // before what is said of this entry and of the next; a reader that has gone ends ctx
	if signalCode(ctx) == exitOutputClosed {
		return // silently
	}
	failures := r.live.runner.Failures()[before:]
	var e *runtime.Error
	if errors.As(fault, &e) {
		failures = append(failures, e)
	}
	for _, e := range failures {
		_, _ = fmt.Fprintln(r.p.through(r.p.stderr), term.Paint(r.p.face.rules.Color, term.Red, printable(r.secrets.Mask(errorLine(e)))))
		if r.code = e.Kind.ExitCode(); e.Kind == runtime.KindCancelled {
			r.code = exitInterrupt
		}
	}
}

func (r *repl) set(cancel context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = cancel
	if cancel != nil && r.early && time.Since(r.struck) < time.Second {
		cancel(interrupted{os.Interrupt})
	}
	r.early = false
}
