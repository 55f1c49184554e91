package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/lang/diag"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

// leftLimit bounds how long a resume waits for what is left of the process that ran the run before.
const leftLimit = 60 * time.Second

func resumeCommand() *command {
	flags := []cli.Flag{
		&cli.StringSliceFlag{Name: "retry", Usage: "run this step again, and what came after it in its session"},
		&cli.StringSliceFlag{Name: "resend", Usage: "send this prompt again, which was in flight when the run died"},
		&cli.StringSliceFlag{Name: "adopt", Usage: "take what stands in the conversation as the reply of this prompt"},
		&cli.StringSliceFlag{Name: "skip", Usage: "go on without this prompt or exec block"},
		&cli.BoolFlag{Name: "edited", Usage: "use the document's files as they are now"},
		&cli.BoolFlag{Name: "yes", Usage: "do not ask about --retry"},
		&cli.StringFlag{Name: "format", Usage: "text, json or ndjson instead of the run's own"},
		&cli.StringFlag{Name: "timeout", Usage: "end the run after this long, instead of the run's own limit"},
	}
	for _, f := range sessionFlags() {
		if n := f.Names()[0]; n != "C" && n != "agent" && n != "secret" {
			flags = append(flags, f)
		}
	}
	flags = append(flags, reportFlags()...)
	return &command{
		name: "resume", args: "RUN", usage: "go on with a run; what has a result on record is not done again",
		flags: append(flags, answerFlags()...), run: resumeRun,
	}
}

// resumption is one resume of a run before it goes on.
type resumption struct {
	p     *program
	h     *host
	c     *call
	store *store.Store
	lock  *store.Lock
	*recorded
	edited  []event.Source
	seen    *runtime.Rehearsal
	undo    []runtime.Undo
	thrown  error
	gone    []*runtime.Error // failures that the document went on after
	discard []discarded
	settle  map[string]runtime.Settling
}

// discarded is a record that does not count any more.
type discarded struct {
	runtime.Undo
	reason string
}

func resumeRun(p *program, c *call) error {
	format := first(c.String("format"), "text")
	if format != "text" && format != "json" && format != "ndjson" {
		return &usageError{message: fmt.Sprintf("--format is text, json or ndjson, not %q", format)}
	}
	p.owing = format
	if len(c.args) != 1 {
		return p.invalid(format, &usageError{message: fmt.Sprintf("resume takes one run, got %d", len(c.args))})
	}
	if err := errors.Join(onePolicy(c), durations(c, timeFlags...), budget(c)); err != nil {
		return p.invalid(format, err)
	}
	p.openFace(c)
	if err := p.openReports(c); err != nil {
		return p.invalid(format, err)
	}
	ctx, stop := p.signals(context.Background())
	defer stop()
	r := &resumption{p: p, c: c, settle: map[string]runtime.Settling{}}
	defer r.close()
	if err := r.prepare(ctx); err != nil {
		return p.notBegun(ctx, first(c.String("format"), r.format(), "text"), err)
	}
	return r.goOn(ctx)
}

// format is the run's own; "" before it is known.
func (r *resumption) format() string {
	if r.recorded == nil {
		return ""
	}
	return r.settings.Format
}

// close gives up what was not handed to the run.
func (r *resumption) close() {
	if r.lock != nil {
		_ = r.lock.Close()
	}
	if r.store != nil {
		_ = r.store.Close()
	}
}

// prepare takes the run over and finds out what there is to do. It contacts no agent and changes nothing.
func (r *resumption) prepare(ctx context.Context) (err error) {
	if r.store, err = r.p.openStore(ctx, r.c); err != nil {
		return err
	}
	run, err := r.store.FindRun(ctx, r.c.args[0])
	switch {
	case errors.Is(err, store.ErrNoRun):
		return runtime.Errorf(runtime.KindInvalid, "%w; xmd runs lists them", err)
	case err != nil:
		return storeFailed(err)
	}
	if err := r.takeOver(ctx, run); err != nil {
		return err
	}
	if r.recorded, err = recordedRun(ctx, r.store, run.ID, r.p.recordedSecrets); err != nil {
		return err
	}
	if r.h, err = r.p.hostIn(r.c, run.Dir); err != nil {
		return err
	}
	if err := r.renew(); err != nil {
		return err
	}
	if err := r.rehearse(ctx); err != nil {
		return err
	}
	if r.c.Bool("edited") {
		if err := r.edit(ctx); err != nil {
			return err
		}
	}
	return r.choose(ctx)
}

// takeOver takes the run's lock. What is left of a process that has ended is waited for; a run that goes on is busy.
func (r *resumption) takeOver(ctx context.Context, run store.Run) error {
	owner := store.LockOwner{Run: run.ID, Command: "xmd resume"}
	lock, err := r.store.TryLock(ctx, store.LockRun, run.ID, owner)
	var busy *store.BusyError
	if wait := waitOf(r.c, "wait"); errors.As(err, &busy) && wait > 0 {
		r.note("waiting up to %s: %s", wait, busy.Says())
		lock, err = r.store.Wait(ctx, wait, store.LockRun, run.ID, owner)
	}
	if errors.As(err, &busy) && busy.Gone {
		r.note("waiting up to %s for what is left of the process that ran %s", leftLimit, run.ID)
		lock, err = r.store.Wait(ctx, leftLimit, store.LockRun, run.ID, owner)
	}
	switch {
	case errors.As(err, &busy):
		return &runtime.Error{Kind: runtime.KindBusy, Retryable: true, Message: fmt.Sprintf("run %s cannot be resumed: %v", run.ID, busy), Err: err}
	case err != nil:
		return storeFailed(err)
	}
	r.lock = lock
	return nil
}

func (r *resumption) note(format string, args ...any) {
	if !r.c.Bool("q") {
		_, _ = fmt.Fprintln(r.p.through(r.p.stderr), printable(fmt.Sprintf(format, args...)))
	}
}

// renew lays what was given now over the run's settings.
func (r *resumption) renew() error {
	s := &r.settings
	s.Format = first(r.c.String("format"), s.Format, "text")
	s.Timeout = first(r.c.String("timeout"), s.Timeout)
	s.PromptTimeout = first(r.c.String("timeout-prompt"), s.PromptTimeout)
	s.ExecTimeout = first(r.c.String("timeout-exec"), s.ExecTimeout)
	s.Idle = first(r.c.String("idle-timeout"), s.Idle)
	s.spendMore(r.c)
	s.RequireConfirmed = s.RequireConfirmed || r.c.Bool("require-confirmed")
	if policy := policyOf(r.c); policy != "" {
		s.Policy = policy
	}
	now, err := givenAnswers(r.c)
	if err != nil {
		return err
	}
	if err := knownAnswers(r.plan, now); err != nil {
		return err
	}
	all, err := s.answers(now)
	if err != nil {
		return err
	}
	s.setAnswers(all)
	return nil
}

// edit takes the document's files as they are now. What is run again may have been changed; what is not, may not.
func (r *resumption) edit(ctx context.Context) error {
	doc, err := editedDocument(r.run, r.settings)
	if err != nil {
		return err
	}
	compiled, src, list, err := compile(doc)
	if err != nil {
		return err
	}
	list = append(list, r.h.checkAgents(compiled)...)
	if list.HasErrors() {
		return &documentError{src, list}
	}
	if compiled.Digest == r.plan.Digest && sameSources(compiled.Sources(), r.sources) {
		return nil
	}
	if r.secrets, err = r.p.secretsOf(compiled, r.settings.Secrets); err != nil {
		return err
	}
	r.plan = compiled
	r.settings.Variables = r.p.variablesWith(compiled, r.settings.Variables)
	for _, f := range compiled.Sources() {
		r.edited = append(r.edited, event.Source{Name: f.Name, Text: f.Text})
	}
	if err := r.bind(); err != nil {
		return err
	}
	for _, one := range r.undo {
		r.past.Forget(one.Step, one.Turn)
	}
	undo := r.undo
	if err := r.rehearse(ctx); err != nil {
		return err
	}
	r.undo = append(undo, r.undo...)
	return nil
}

// rehearse tells what is on record and finds where it ends.
func (r *resumption) rehearse(ctx context.Context) error {
	runner := r.offline(false, r.c.IsSet("retry"))
	r.thrown = runner.Execute(ctx, r.plan)
	if ctx.Err() != nil {
		return runtime.Errorf(runtime.KindCancelled, "cancelled")
	}
	if r.thrown != nil && runtime.KindOf(r.thrown) == runtime.KindStore {
		return r.thrown
	}
	r.seen, r.undo, r.gone = runner.Rehearsal(), runner.Undo(), runner.Failures()
	if diverged := append(r.seen.Diverged, r.vanished()...); len(diverged) > 0 {
		return r.p.sayDiverged(diverged)
	}
	return nil
}

// vanished are recorded steps that an edited document does not have any more.
func (r *resumption) vanished() []*runtime.Error {
	if r.edited == nil {
		return nil
	}
	known := map[string]bool{}
	for _, it := range r.plan.Items() {
		known[it.ID] = true
	}
	var gone []*runtime.Error
	for _, step := range r.past.Steps() {
		if static := staticIdentity(step); !known[static] && r.past.Seq(step, event.StepEnded) != 0 {
			gone = append(gone, runtime.Errorf(runtime.KindDivergence, "step %s is on record and not in the document any more; nothing was sent. Put it back, or run the document anew", step))
		}
	}
	return gone
}

// roundMark is the number of a round in an identity.
var roundMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\d+\]`) })

// staticIdentity is the identity of a recorded step as a plan has it. Of a step in the file of a component it is the component's, of one in
// the body of a tool that of the prompt that was answered.
func staticIdentity(step string) string {
	step, _ = journal.TurnOfCall(step)
	step, _, _ = strings.Cut(journal.StepOf(step), "/file/")
	return strings.TrimSuffix(roundMark().ReplaceAllString(step, ""), "/path")
}

// sameSources says whether documents are what is on record, byte for byte.
func sameSources(now []*diag.Source, then []store.Source) bool {
	return slices.EqualFunc(now, then, func(a *diag.Source, b store.Source) bool { return a.Name == b.Name && a.Text == b.Text })
}

// goOn puts on record what is run again, and runs.
func (r *resumption) goOn(ctx context.Context) error {
	ctx, cancel := limited(ctx, r.settings.Timeout)
	defer cancel()
	j := job{
		plan: r.plan, props: r.props, env: r.env, settings: r.settings, secrets: r.secrets, past: r.past, settle: r.settle,
		retry: r.c.IsSet("retry"), edited: r.edited,
	}
	var err error
	if j.answers, err = r.settings.answers(nil); err != nil {
		return r.p.invalid(r.settings.Format, err)
	}
	l, err := r.h.carryOn(ctx, r, j)
	if err != nil {
		return r.p.notBegun(ctx, r.settings.Format, err)
	}
	l.runner.Offer(j.plan)
	l.thrown = l.guarded(func() error {
		var failed error
		if list := l.runner.Settle(l.ctx); len(list) > 0 {
			failed = list[0]
		}
		return cmp.Or(failed, l.runner.Execute(l.ctx, j.plan))
	})
	r.p.owing = ""
	return l.finish()
}

// carryOn is begin for a run that goes on: its lock and its store are handed over.
func (h *host) carryOn(ctx context.Context, r *resumption, j job) (*live, error) {
	l := &live{id: r.run.ID, verb: r.c.verb, store: r.store, lock: r.lock}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	r.store, r.lock = nil, nil
	err := l.start(ctx, h, r.p, r.c, j)
	if err == nil {
		err = l.takeBack(ctx, r)
	}
	if err != nil {
		l.release()
		return nil, err
	}
	l.runner.Sweep(ctx)
	return l, nil
}

// takeBack puts on record which steps do not count any more, and which a person goes past.
func (l *live) takeBack(ctx context.Context, r *resumption) error {
	for _, d := range r.discard {
		kind := event.StepDiscarded
		if d.Turn {
			kind = event.PromptDiscarded
		}
		if err := l.stream.Record(ctx, kind, event.At{Step: d.Step}, &event.Discarded{Reason: d.reason}, nil); err != nil {
			return storeFailed(err)
		}
		if d.Turn || r.settle[d.Step] != runtime.SettleSkip {
			continue
		}
		at := r.place(d.Step)
		var was event.Step
		if _, _, err := r.past.Last(ctx, d.Step, event.StepEnded, &was); err != nil {
			return storeFailed(err)
		}
		body := &event.Step{Kind: was.Kind, Input: was.Input, Outcome: "skipped"}
		if err := l.stream.Record(ctx, event.StepEnded, at, body, nil); err != nil {
			return storeFailed(err)
		}
	}
	if err := r.past.Refresh(ctx); err != nil {
		return storeFailed(err)
	}
	return nil
}
