package runtime

import (
	"context"
	"errors"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
)

// each renders a body for every item.
func (r *Runner) each(ctx context.Context, n *plan.Each, at place, out layout.Sink) error {
	v, err := at.value(n.In, n.Step)
	if err != nil {
		return err
	}
	items, ok := v.([]any)
	if !ok {
		return at.wrong(n.In, n.Step, "in must be an array, is %s", expr.KindName(v))
	}
	limit := 0
	if n.Parallel.Given {
		if limit, err = at.whole(n.Parallel, n.Step, "parallel", 1, maxBranches); err != nil {
			return err
		}
	}
	if n.As != "" {
		at.throws = true
	}
	got := make([]any, len(items))
	body := func(ctx context.Context, i int, at place, out layout.Sink) (err error) {
		at.vars = newScope(at.vars, map[string]any{"each": map[string]any{"index": int64(i + 1)}})
		if n.Let != "" {
			at.vars.set(n.Let, items[i])
		}
		at.id = at.id.round(n.Step, i+1)
		got[i], err = r.item(ctx, n, at, out)
		return err
	}
	if limit > 0 {
		err = r.eachAtOnce(ctx, n, at, out, limit, len(items), body)
	} else {
		for i := range items {
			if err = body(ctx, i, at, out); err != nil {
				break
			}
		}
	}
	if err == nil && n.As != "" {
		at.vars.set(n.As, got)
	}
	return err
}

// item runs the body of an Each once, and gives the element that it makes.
func (r *Runner) item(ctx context.Context, n *plan.Each, at place, out layout.Sink) (any, error) {
	switch {
	case n.As == "":
		return nil, r.render(ctx, n.Body, at, out)
	case n.Collect.Given:
		if err := r.render(ctx, n.Body, at, &layout.Buffer{}); err != nil {
			return nil, err
		}
		return at.value(n.Collect, n.Step)
	}
	return r.capture(ctx, n.Body, at)
}

// eachAtOnce runs the bodies of a parallel Each.
func (r *Runner) eachAtOnce(ctx context.Context, n *plan.Each, at place, out layout.Sink, limit, items int,
	body func(ctx context.Context, i int, at place, out layout.Sink) error,
) error {
	g := r.newGroup(at, n.Step, "each", items, limit, func(i int) string { return at.id.round(n.Step, i+1).here })
	for i, t := range g.tasks {
		t.body = func(ctx context.Context, at place, out layout.Sink) error { return body(ctx, i, at, out) }
	}
	return g.run(ctx, func(ctx context.Context) error {
		for _, t := range g.tasks {
			if err := at.strand.next(ctx); err != nil {
				return err
			}
			if err := t.deliver(out, at.aside); err != nil {
				return err
			}
		}
		return nil
	})
}

// loop renders a body again and again.
func (r *Runner) loop(ctx context.Context, n *plan.Loop, at place, out layout.Sink) error {
	most, err := at.whole(n.Max, n.Step, "max", 1, 0)
	if err != nil {
		return err
	}
	rounds := func(i int) error {
		_, err := r.decide(ctx, at, n.Step, "loop", "", func() (any, error) { return int64(i), nil })
		return err
	}
	for i := 1; i <= most; i++ {
		round := at
		round.vars = at.vars.lend("loop", map[string]any{"index": int64(i)})
		round.id = at.id.round(n.Step, i)
		err := r.render(ctx, n.Body, round, out)
		if errors.As(err, new(breakLoop)) {
			return rounds(i)
		}
		if err != nil {
			return err
		}
	}
	return rounds(most)
}

// try renders a body; what fails in it is the business of its Catch. Whether it was, is on record: it was not when the run was cancelled
// by then.
func (r *Runner) try(ctx context.Context, n *plan.Try, at place, out layout.Sink) error {
	inner := at
	inner.throws, inner.tried = true, true
	before := at.log.len()
	err := r.render(ctx, n.Body, inner, out)
	if err == nil || isFlow(err) {
		return err
	}
	caughtIt, derr := r.decide(ctx, at, n.Step, "try", "", func() (any, error) { return catchable(ctx, err), nil })
	if derr != nil {
		return derr
	}
	if caughtIt != true {
		e := own(err)
		e.undo = append(e.undo, Undo{Step: at.id.of(n.Step.ID)}) // what comes of another attempt is decided anew
		return e
	}
	at.log.cut(before)
	if n.As != "" {
		at.vars.set(n.As, caught(asError(err)))
	}
	return r.render(ctx, n.Catch, at, out)
}

// caught is a failure as its Catch sees it. What is not known is null.
func caught(e *Error) map[string]any {
	known := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return map[string]any{
		"code": int64(e.Kind.ExitCode()), "kind": string(e.Kind), "retryable": e.Retryable, "message": e.Message,
		"position": known(e.Position), "step": known(e.Step), "agent": known(e.Agent), "session": known(e.Session),
	}
}

// fail ends the run failed.
func (r *Runner) fail(n *plan.Fail, at place) error {
	text, err := at.text(n.Message, n.Step, "message")
	if err != nil {
		return err
	}
	return thrown(Errorf(KindFailed, "%s", text), at.where(n.Step))
}
