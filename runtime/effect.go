package runtime

import (
	"context"

	"xmd/lang/plan"
	"xmd/runtime/event"
)

// effect does something outside of xmd that is no turn and no program: its start is on record before it happens, its result before
// anything is built on it, and what has a result on record is not done. What it returns is a value, and its error has the step's place.
// input is the digest of what it is given.
func (r *Runner) effect(ctx context.Context, at place, s plan.Step, kind, input string, do func() (any, error)) (any, error) {
	where := at.where(s)
	e, err := r.recall(ctx, at, where, kind, input)
	if err != nil {
		return nil, err
	}
	if e != nil {
		return r.again(where, e)
	}
	if err := r.o.Stream.Commit(ctx, event.StepStarted, where, &event.Step{Kind: kind, Input: input}, nil); err != nil {
		return nil, thrown(storeError(err), where)
	}
	v, err := do()
	if err != nil {
		v, err = nil, thrown(err, where)
	}
	return v, r.endStep(ctx, where, &event.Step{Kind: kind, Input: input, Value: v}, err)
}

// again gives the recorded result of a step.
func (r *Runner) again(where event.At, e *ended) (any, error) {
	v, err := e.value()
	if err != nil {
		return nil, thrown(err, where)
	}
	r.o.Stream.Replay(event.StepEnded, where, &event.Step{Kind: e.Kind, Input: e.Input, Outcome: e.Outcome, ExitCode: e.ExitCode, Value: v, Error: e.Error})
	if failure := e.failure(); failure != nil {
		return v, failure
	}
	return v, nil
}

// endStep puts the end of a step on record, and returns failure, or why that could not be done.
func (r *Runner) endStep(ctx context.Context, where event.At, body *event.Step, failure error) error {
	body.Outcome = outcomeDone
	if failure != nil {
		e := asError(failure)
		body.Outcome, body.Error = outcomeOf(e.Kind), EventError(e)
	}
	if err := r.o.Stream.Commit(context.WithoutCancel(ctx), event.StepEnded, where, body, nil); err != nil {
		return thrown(storeError(err), where)
	}
	return failure
}
