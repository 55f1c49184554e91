package runtime

import (
	"context"

	"xmd/runtime/event"
)

// effect does something outside of xmd that is no turn and no program: its start is on record before it happens, its result before
// anything is built on it. What it returns is a value, and its error has the step's place.
func (r *Runner) effect(ctx context.Context, where event.At, kind string, do func() (any, error)) (any, error) {
	if err := r.o.Stream.Commit(ctx, event.StepStarted, where, &event.Step{Kind: kind}, nil); err != nil {
		return nil, thrown(storeError(err), where)
	}
	v, err := do()
	body := &event.Step{Kind: kind, Outcome: "done", Value: v}
	if err != nil {
		err = thrown(err, where)
		body = &event.Step{Kind: kind, Outcome: outcomeOf(KindOf(err)), Error: EventError(asError(err))}
	}
	if cerr := r.o.Stream.Commit(context.WithoutCancel(ctx), event.StepEnded, where, body, nil); cerr != nil {
		return nil, thrown(storeError(cerr), where)
	}
	return v, err
}
