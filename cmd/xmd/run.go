package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/lang/diag"
	"xmd/lang/plan"
	"xmd/lang/resolve"
	"xmd/runtime"
	"xmd/runtime/event"
)

func runCommand() *command {
	return &command{
		name: "run", args: "FILE[#TARGET]|-", props: true,
		usage: "run a document; its text is written to stdout, everything else to stderr",
		flags: slices.Concat(sessionFlags(), runFlags(), answerFlags(), reportFlags()),
		run:   runDocument,
	}
}

// sessionFlags are those of every command that attaches agents.
func sessionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "C", Usage: "run in `DIR` instead of here"},
		&cli.StringFlag{Name: "agent", Usage: "the agent of prompts that name none"},
		&cli.BoolFlag{Name: "approve-all", Usage: "allow every permission request"},
		&cli.BoolFlag{Name: "approve-reads", Usage: "allow reads and searches, ask for the rest (default)"},
		&cli.BoolFlag{Name: "ask", Usage: "ask for every permission"},
		&cli.BoolFlag{Name: "deny-all", Usage: "refuse every permission request"},
		&cli.BoolFlag{Name: "require-confirmed", Usage: "fail when a session's history cannot be confirmed"},
		&cli.StringFlag{Name: "wait", Usage: "wait this long for a busy session"},
		&cli.StringFlag{Name: "timeout-prompt", Usage: "end the run when a prompt takes longer than this"},
		&cli.StringFlag{Name: "timeout-exec", Usage: "end the run when an exec block takes longer than this"},
		&cli.Int64Flag{Name: "max-turns", Usage: "end the run before it sends more prompts than this"},
		&cli.Int64Flag{Name: "max-tokens", Usage: "end the run when agents have reported more tokens than this"},
		&cli.Float64Flag{Name: "max-cost", Usage: "end the run when agents have reported a higher cost than this"},
		&cli.StringFlag{Name: "idle-timeout", Usage: "cancel a turn in which the agent shows nothing for this long (default 10m)"},
		&cli.StringFlag{Name: "state-dir", Usage: "keep sessions and runs in this folder"},
		&cli.StringSliceFlag{Name: "secret", Usage: "this variable is a secret: its value is recorded and shown nowhere; may be repeated"},
		&cli.StringFlag{Name: "trace-acp", Usage: "write the raw frames of the agents to this file"},
		&cli.BoolFlag{Name: "q", Aliases: []string{"quiet"}, Usage: "only warnings and errors on stderr"},
		&cli.BoolFlag{Name: "v", Aliases: []string{"verbose"}, Usage: "the agents' own stderr and notices too"},
		&cli.BoolFlag{Name: "no-color", Usage: "no colours"},
	}
}

// timeFlags are the flags that hold a duration, of all commands that run documents.
var timeFlags = []string{"wait", "timeout", "timeout-prompt", "timeout-exec", "idle-timeout"}

func runFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: "text", Usage: "text, json or ndjson"},
		includeFlag(),
		&cli.StringFlag{Name: "props", Usage: "props as a JSON object, or @FILE"},
		&cli.StringFlag{Name: "timeout", Usage: "end the run after this long"},
	}
}

func includeFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "include", Usage: "look for component files in this folder too"}
}

// runDocument checks everything first; then the run begins.
func runDocument(p *program, c *call) error {
	format := c.String("format")
	if format != "text" && format != "json" && format != "ndjson" {
		return &usageError{message: fmt.Sprintf("--format is text, json or ndjson, not %q", format)}
	}
	p.owing = format
	if len(c.args) != 1 {
		return p.invalid(format, &usageError{message: fmt.Sprintf("run takes one document, got %d", len(c.args))})
	}
	if err := errors.Join(onePolicy(c), durations(c, timeFlags...), budget(c)); err != nil {
		return p.invalid(format, err)
	}
	p.openFace(c)
	if err := p.openReports(c); err != nil {
		return p.invalid(format, err)
	}
	h, err := p.host(c)
	if err != nil {
		return p.invalid(format, err)
	}
	doc, err := p.load(c.args[0], c.StringSlice("include"))
	if err != nil {
		return p.invalid(format, err)
	}
	compiled, src, list, err := compile(doc)
	if err != nil {
		return p.invalid(format, err)
	}
	list = append(list, h.checkAgents(compiled)...)
	if list.HasErrors() {
		return p.invalid(format, &documentError{src, list})
	}
	if len(list) > 0 && !c.Bool("q") {
		p.say(src, list)
	}
	if err := h.checkDefault(); err != nil {
		return p.invalid(format, err)
	}
	j, err := h.job(p, c, compiled, doc.target)
	if err != nil {
		return p.invalid(format, err)
	}
	return h.execute(p, c, j)
}

// job gathers what a document is given: props, variables, secrets, answers.
func (h *host) job(p *program, c *call, compiled *plan.Plan, target string) (job, error) {
	props, err := p.bindProps(c, compiled)
	if err != nil {
		return job{}, err
	}
	answers, err := givenAnswers(c)
	if err == nil {
		err = knownAnswers(compiled, answers)
	}
	if err != nil {
		return job{}, err
	}
	j := job{plan: compiled, props: props, answers: answers}
	if j.settings, err = h.settingsOf(c, c.String("format")); err != nil {
		return job{}, err
	}
	j.settings.Target, j.settings.Variables = target, p.variablesOf(compiled)
	j.settings.setAnswers(answers)
	if j.env, err = documentEnv(compiled, j.settings.Variables); err == nil {
		j.secrets, err = h.secrets(p, c, compiled)
		j.settings.Secrets = j.secrets.Names()
	}
	return j, err
}

// documentError is a document that cannot run: the diagnostics are the message.
type documentError struct {
	src  *diag.Source
	list diag.List
}

func (e *documentError) Error() string { return "the document is invalid" }

// invalid ends a command before anything ran: diagnostics on stderr, and the one object that a machine format owes on stdout.
func (p *program) invalid(format string, err error) error {
	var doc *documentError
	var e *runtime.Error
	var usage *usageError
	end := &event.End{Outcome: "invalid", ExitCode: 2}
	switch {
	case errors.As(err, &doc):
		p.say(doc.src, doc.list)
		for _, d := range doc.list {
			if d.Severity == diag.Error {
				line, col := doc.src.Pos(d.Span.Start)
				end.Errors = append(end.Errors, &event.Error{Code: 2, Kind: string(runtime.KindInvalid), Message: d.Summary, Position: fmt.Sprintf("%s:%d:%d", doc.src.Name, line, col)})
			}
		}
	case errors.As(err, &e):
		end.ExitCode = e.Kind.ExitCode()
		if end.ExitCode != 2 {
			end.Outcome = "failed"
		}
		end.Errors = []*event.Error{{Code: end.ExitCode, Kind: string(e.Kind), Retryable: e.Retryable, Message: e.Message, Position: e.Position, Agent: e.Agent}}
	case errors.As(err, &usage):
		end.Errors = []*event.Error{{Code: 2, Kind: string(runtime.KindUsage), Message: usage.message}}
	}
	p.owe(format, end)
	if doc != nil {
		return exitCode(2)
	}
	return err
}

// owe tells the end of a run that never began to whoever reads a machine format or a report.
func (p *program) owe(format string, end *event.End) {
	p.owing = ""
	sinks := p.sinks()
	if sink := machineSink(format, p.stdout); sink != nil {
		sinks = append(sinks, sink)
	}
	for _, sink := range sinks {
		sink.Event(&event.Event{Seq: 1, Time: time.Now(), Type: event.RunEnded, Body: end})
	}
	p.report(end.ExitCode)
}

// machineSink is the renderer of a machine format; nil for text.
func machineSink(format string, w event.StringWriter) event.Sink {
	switch format {
	case "json":
		return &event.SummarySink{W: w}
	case "ndjson":
		return &event.NDJSONSink{W: w}
	}
	return nil
}

// execute runs a checked document and says how it ended.
func (h *host) execute(p *program, c *call, j job) error {
	ctx, stop := p.signals(context.Background())
	defer stop()
	ctx, cancel := limited(ctx, j.settings.Timeout)
	defer cancel()
	live, err := h.begin(ctx, p, c, j)
	if err != nil {
		return p.notBegun(ctx, j.settings.Format, err)
	}
	live.thrown = live.guarded(func() error { return live.runner.Execute(live.ctx, j.plan) })
	p.owing = ""
	return live.finish()
}

// notBegun ends a run that could not begin; a signal is why if there was one.
func (p *program) notBegun(ctx context.Context, format string, err error) error {
	code := signalCode(ctx)
	if code == 0 {
		return p.invalid(format, err)
	}
	p.owe(format, &event.End{Outcome: "cancelled", ExitCode: code})
	return exitCode(code)
}

// limited ends ctx after the time of --timeout; "" is no limit.
func limited(ctx context.Context, timeout string) (context.Context, context.CancelFunc) {
	ms, err := resolve.Duration(timeout)
	if timeout == "" || err != nil { // durations has said what is wrong with it
		return context.WithCancel(ctx)
	}
	d := time.Duration(ms) * time.Millisecond
	return context.WithTimeoutCause(ctx, d, runtime.Errorf(runtime.KindLimit, "the run took longer than --timeout %s", d))
}

// say prints diagnostics on stderr.
func (p *program) say(src *diag.Source, list diag.List) {
	list.Sort()
	_ = diag.WriteText(p.through(p.stderr), src, list)
}

// name of a run for lock owners: the command without values that could be secret.
func commandLine(c *call) string {
	if len(c.args) == 0 {
		return "xmd " + c.verb
	}
	return strings.TrimSpace("xmd " + c.verb + " " + filepath.Base(c.args[0]))
}
