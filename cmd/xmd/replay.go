package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"xmd/runtime"
	"xmd/runtime/event"
)

func replayCommand() *command {
	return &command{
		name: "replay", args: "RUN", usage: "print the document of a run that has ended again, from its journal alone",
		flags: append(reportFlags(),
			&cli.StringFlag{Name: "format", Usage: "text (default), json or ndjson"},
			&cli.StringFlag{Name: "state-dir", Usage: "the state folder"},
			&cli.BoolFlag{Name: "no-color", Usage: "no colours"},
			&cli.BoolFlag{Name: "q", Aliases: []string{"quiet"}, Usage: "only errors on stderr"},
		),
		run: replayRun,
	}
}

// replayRun starts no process, contacts nobody, and writes nothing but its output. It ends with the code of the run.
func replayRun(p *program, c *call) error {
	format := first(c.String("format"), "text")
	if format != "text" && format != "json" && format != "ndjson" {
		return &usageError{message: fmt.Sprintf("--format is text, json or ndjson, not %q", format)}
	}
	p.owing = format
	if len(c.args) != 1 {
		return p.invalid(format, &usageError{message: fmt.Sprintf("replay takes one run, got %d", len(c.args))})
	}
	p.openFace(c)
	if err := p.openReports(c); err != nil {
		return p.invalid(format, err)
	}
	ctx, stop := p.signals(context.Background())
	defer stop()
	s, err := p.readStore(ctx, c)
	if err != nil {
		return p.invalid(format, err)
	}
	defer func() { _ = s.Close() }()
	r, err := recordedRun(ctx, s, c.args[0], standIns)
	if err == nil && r.run.Outcome == "" {
		err = notEnded(r.run)
	}
	if err != nil {
		return p.invalid(format, err)
	}
	return p.replay(ctx, c, r, format)
}

// replay tells a run again and compares what came of it with what the run gave.
func (p *program) replay(ctx context.Context, c *call, r *recorded, format string) error {
	var end event.End
	_, found, err := r.past.Last(ctx, "", event.RunEnded, &end)
	if err != nil {
		return p.invalid(format, storeFailed(err))
	}
	if !found {
		return p.invalid(format, notEnded(r.run))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w, styled := p.document(format)
	out := event.NewOutput(w, func(err error) { cancel(outputLost(err)) })
	digest := event.NewDigestSink()
	told := p.notes(c, r.secrets)
	told.told = true
	sinks := []event.Sink{event.TextSink{W: out}, digest, told}
	if machine := machineSink(format, out); machine != nil {
		sinks[0] = machine
	}
	sinks = append(sinks, p.sinks()...)
	runner := r.offline(true, false, sinks...)
	runner.Tell(event.RunStarted, &event.Run{Document: r.run.Document, Digest: r.plan.Digest, Dir: r.run.Dir, Props: r.props})
	thrown := runner.Execute(ctx, r.plan)
	runner.EndText()
	problem := r.unlike(runner, thrown, digest.Sum(), &end)
	if problem != nil {
		end = event.End{Outcome: "failed", ExitCode: problem.Kind.ExitCode(), Errors: []*event.Error{runtime.EventError(problem)}}
	}
	runner.Tell(event.RunEnded, &end)
	p.owing = ""
	end.ExitCode = p.report(end.ExitCode)
	if errors.Join(out.Close(), styled()) != nil {
		if code := signalCode(ctx); code != 0 {
			return exitCode(code)
		}
		return exitCode(1)
	}
	if code := signalCode(ctx); code != 0 {
		return exitCode(code)
	}
	for _, e := range end.Errors {
		if !c.Bool("q") || problem != nil {
			_, _ = fmt.Fprintln(hidden(p.through(p.stderr), r.secrets), printable(errorLine(&runtime.Error{Kind: runtime.Kind(e.Kind), Retryable: e.Retryable, Message: e.Message, Position: e.Position})))
		}
	}
	return codeError(end.ExitCode)
}

// unlike says why a replay is not what the run gave; nil when it is.
func (r *recorded) unlike(runner *runtime.Runner, thrown error, sum *event.Digest, end *event.End) *runtime.Error {
	if list := runner.Rehearsal().Diverged; len(list) > 0 {
		return list[0]
	}
	if runtime.KindOf(thrown) == runtime.KindStore && thrown != nil {
		var e *runtime.Error
		if errors.As(thrown, &e) {
			return e
		}
	}
	if end.Output != nil && *end.Output != *sum {
		return runtime.Errorf(runtime.KindDivergence, "this replay of run %s does not give what the run gave (%d bytes now, %d then); the journal is not whole, or this build reads it differently",
			r.run.ID, sum.Bytes, end.Output.Bytes)
	}
	return nil
}
