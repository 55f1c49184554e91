package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/event"
)

// oneTest is a test while it runs: the folders that are its alone, and what it waits for.
type oneTest struct {
	*suite
	file testFile
	test *plan.Test
	dir  string // of all its files; gone with it
	env  environment
	open *openSteps

	mu   sync.Mutex
	made int // files of its own that were named so far
	runs []testRan
	busy []*openSteps // of the documents that run
}

// Folders of a test.
const (
	workFolder  = "run" // the run's directory
	stateFolder = "state"
)

// mostStderr is how much of the stderr of a document a result keeps.
const mostStderr = 8 << 10

// one runs a test as if it were alone on the machine: nothing of the person's state or configuration is read or written.
func (s *suite) one(ctx context.Context, f testFile, t *plan.Test) testResult {
	result := testResult{File: f.name, Name: t.Name, Position: f.plan.Source.At(t.Pos.Start), Outcome: "cancelled"}
	if ctx.Err() != nil {
		return result
	}
	began := time.Now()
	one := &oneTest{suite: s, file: f, test: t, open: &openSteps{}}
	if err := one.begin(); err != nil {
		result.fail(err)
	} else {
		one.run(ctx, &result)
	}
	if err := os.RemoveAll(one.dir); err != nil && result.Outcome == "passed" {
		result.fail(runtime.Errorf(runtime.KindFailed, "the test's folder could not be removed: %w", plainError(err)))
	}
	result.Runs, result.Took = one.runs, time.Since(began)
	return result
}

// begin makes the folders and the environment.
func (o *oneTest) begin() error {
	dir, err := os.MkdirTemp("", "xmd-test-")
	if err == nil {
		o.dir, err = filepath.EvalSymlinks(dir)
	}
	for _, name := range []string{workFolder, stateFolder, "config"} {
		if err == nil {
			err = os.Mkdir(filepath.Join(o.dir, name), 0o700)
		}
	}
	if err != nil {
		return runtime.Errorf(runtime.KindFailed, "the test's folder cannot be made: %w", plainError(err))
	}
	if from := o.test.Files; from != "" {
		from = beside(o.file.name, from)
		if info, err := os.Stat(from); err != nil || !info.IsDir() {
			return runtime.Errorf(runtime.KindInvalid, "there is no folder %s, with which the test's run begins", from)
		}
		if err := os.CopyFS(filepath.Join(o.dir, workFolder), os.DirFS(from)); err != nil {
			return runtime.Errorf(runtime.KindInvalid, "the files %s of the test cannot be copied: %w", from, plainError(err))
		}
	}
	for _, kv := range o.p.env {
		if !strings.HasPrefix(kv, "XMD_") {
			o.env = append(o.env, kv)
		}
	}
	o.env = append(o.env, "XDG_CONFIG_HOME="+filepath.Join(o.dir, "config"), "XDG_STATE_HOME="+filepath.Join(o.dir, stateFolder))
	return nil
}

// beside is the path of a file that a document names.
func beside(document, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(document), path)
}

// run runs the test's own document.
func (o *oneTest) run(ctx context.Context, result *testResult) {
	limit := time.Duration(o.test.TimeoutMS) * time.Millisecond
	late := runtime.Errorf(runtime.KindTimeout, "the test took longer than its timeout of %s", limit)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() {
		late.Message += o.waited()
		cancel(late)
	})
	defer timer.Stop()
	own := &lastEnd{}
	inner, err := o.program(ctx, own, o.open)
	if err != nil {
		result.fail(err)
		return
	}
	inner.agents, inner.testing = nobody{}, o
	command := runCommand()
	command.run = o.execute
	code := inner.finish(command.invoke(inner, o.flags()))
	_, stderr := inner.wrote()
	result.wrote = stderr
	switch {
	case errors.Is(context.Cause(ctx), late):
		late.Position = result.Position
		result.fail(late)
	case signalCode(ctx) != 0:
	case code == 0:
		result.Outcome = "passed"
	case own.end != nil && len(own.end.Errors) > 0:
		for _, e := range own.end.Errors {
			result.failed(testFailure{e.Kind, e.Message, e.Position})
		}
	default:
		result.fail(runtime.Errorf(runtime.KindFailed, "%s", strings.TrimSpace(first(stderr, fmt.Sprintf("the test ended with code %d", code)))))
	}
}

// execute runs the plan of the test, as the command run does with that of a document.
func (o *oneTest) execute(p *program, c *call) error {
	h, err := p.host(c)
	if err != nil {
		return err
	}
	j, err := h.job(p, c, o.file.plan.ForTest(o.test), "")
	if err != nil {
		return err
	}
	return h.execute(p, c, j)
}

// flags are those of every run of the test.
func (o *oneTest) flags() []string {
	flags := []string{"-C", filepath.Join(o.dir, workFolder), "--state-dir", filepath.Join(o.dir, stateFolder), "--agent", simAgent}
	for _, dir := range o.include {
		flags = append(flags, "--include", dir)
	}
	return flags
}

// program is xmd for one run of the test, in this process.
func (o *oneTest) program(ctx context.Context, watch ...event.Sink) (*program, error) {
	p := &program{env: o.env, stdin: strings.NewReader(""), parent: ctx, watch: watch}
	var err error
	if p.stdout, err = os.Create(o.name("stdout")); err == nil {
		p.stderr, err = os.Create(o.name("stderr"))
	}
	if err != nil {
		return nil, runtime.Errorf(runtime.KindFailed, "the output of the run cannot be kept: %w", plainError(err))
	}
	return p, nil
}

// wrote gives what a program wrote, and closes its streams.
func (p *program) wrote() (stdout, stderr string) {
	read := func(f *os.File) string {
		defer func() { _ = f.Close() }() // all is read
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return ""
		}
		text, _ := io.ReadAll(f) // a file of our own
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return read(p.stdout), read(p.stderr)
}

// name is that of a new file of the test.
func (o *oneTest) name(what string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.made++
	return filepath.Join(o.dir, fmt.Sprintf("%d-%s", o.made, what))
}

// fail adds a failure.
func (r *testResult) fail(err error) {
	f := testFailure{Kind: string(runtime.KindOf(err)), Message: err.Error(), Position: r.Position}
	r.failed(f)
}

func (r *testResult) failed(f testFailure) {
	r.Outcome = "failed"
	f.Message = strings.TrimPrefix(f.Message, f.Position+": ")
	r.Failures = append(r.Failures, f)
}

// lastEnd keeps the end of a run.
type lastEnd struct{ end *event.End }

// Event takes one event of the run.
func (l *lastEnd) Event(e *event.Event) {
	if end, ok := e.Body.(*event.End); ok {
		l.end = end
	}
}

// openSteps follows a run's events: what has begun and not ended. Safe for concurrent use.
type openSteps struct {
	mu   sync.Mutex
	list []*event.Event
}

// Event takes one event of the run.
func (o *openSteps) Event(e *event.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	ended := map[event.Type]event.Type{event.StepEnded: event.StepStarted, event.PromptEnded: event.PromptSent}[e.Type]
	switch {
	case e.Type == event.StepStarted || e.Type == event.PromptSent:
		o.list = append(o.list, e)
	case ended != "":
		o.list = slices.DeleteFunc(o.list, func(b *event.Event) bool { return b.Type == ended && b.At.Step == e.At.Step })
	}
}

// last says which of what is open began last; "": nothing is open.
func (o *openSteps) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.list) == 0 {
		return ""
	}
	e := o.list[len(o.list)-1]
	what := "the step"
	switch body := e.Body.(type) {
	case *event.Sent:
		what = "the answer of " + e.At.Agent
	case *event.Step:
		if what = "the step (" + body.Kind + ")"; body.Kind == "run" {
			what = "the run"
		}
	}
	return what + " at " + e.At.Position
}

// waited says what the test waits for now.
func (o *oneTest) waited() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	own := o.open.last()
	for _, inner := range slices.Backward(o.busy) {
		if what := inner.last(); what != "" {
			return "; it waited for " + what + ", in " + own
		}
	}
	if own == "" {
		return ""
	}
	return "; it waited for " + own
}
