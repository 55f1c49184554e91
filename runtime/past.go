package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"xmd/lang/expr"
	"xmd/lang/plan"
	"xmd/runtime/event"
)

// The runner reads what a run has on record (Options.Past) by step identity. A step with a recorded end is told again and not run; what
// has none is run, or, where nothing may happen (Options.Offline, a body that had ended), ends the strand there.

// ended is the recorded end of a step.
type ended struct {
	Kind     string          `json:"kind"`
	Input    string          `json:"input"`
	Outcome  string          `json:"outcome"`
	ExitCode *int            `json:"exitCode"`
	Value    json.RawMessage `json:"value"`
	Error    *event.Error    `json:"error"`

	step string
}

// Outcomes of steps.
const (
	outcomeDone    = "done"
	outcomeSkipped = "skipped"
)

// value is what the step gave.
func (e *ended) value() (any, error) { return recordedValue(e.Value) }

func recordedValue(raw json.RawMessage) (any, error) {
	if raw == nil {
		return nil, nil
	}
	v, err := expr.ParseJSON(string(raw))
	if err != nil {
		return nil, Errorf(KindStore, "a value on record %w", err)
	}
	return v, nil
}

// failure is how the step failed; nil when it did not.
func (e *ended) failure() *Error { return recordedError(e.Error, e.step) }

func recordedError(e *event.Error, step string) *Error {
	if e == nil {
		return nil
	}
	return &Error{
		Kind: Kind(e.Kind), Retryable: e.Retryable, Message: e.Message, Position: e.Position, Step: e.Step, Agent: e.Agent, Session: e.Session,
		undo: []Undo{{Step: step}},
	}
}

// Undo is a record that a resume takes out of use: the end of a step, or a turn of a prompt.
type Undo struct {
	Step string // with #k for a turn
	Turn bool
}

// errNotOnRecord ends a strand where the record of it ends. It is no failure of the document and no Catch handles it.
var errNotOnRecord = fmt.Errorf("%w: nothing is on record from here on", context.Canceled)

// recordEnds is errNotOnRecord as an error of a step.
func recordEnds() error {
	return &Error{Kind: KindCancelled, Message: "nothing is on record from here on", Err: errNotOnRecord}
}

// recall finds the recorded end of a step; nil: it has none and is to be run. input is the digest of what the step is given now: another
// one than then is a divergence.
func (r *Runner) recall(ctx context.Context, at place, where event.At, kind, input string) (*ended, error) {
	e, err := r.lookUp(ctx, where, kind, input)
	if e != nil || err != nil {
		return e, err
	}
	return nil, r.mayRun(at, where)
}

// lookUp is recall for whatever decides by itself what happens without a record.
func (r *Runner) lookUp(ctx context.Context, where event.At, kind, input string) (*ended, error) {
	if r.o.Past == nil {
		return nil, nil
	}
	e := &ended{step: where.Step}
	then, found, err := r.o.Past.Last(ctx, where.Step, event.StepEnded, e)
	if err != nil {
		return nil, thrown(storeError(err), where)
	}
	started := ended{}
	if !found {
		if then, _, err = r.o.Past.Last(ctx, where.Step, event.StepStarted, &started); err != nil {
			return nil, thrown(storeError(err), where)
		}
		e.Kind, e.Input = started.Kind, started.Input
	}
	if same := e.Kind == "" || e.Kind == kind && (e.Input == input || e.Input == "" || input == ""); !same {
		return nil, r.diverges(ctx, then, e.Kind, where, kind)
	}
	if !found {
		return nil, nil
	}
	return e, nil
}

// mayRun says whether a step without a recorded end may be run there.
func (r *Runner) mayRun(at place, where event.At) error {
	if !r.o.Offline && !at.strand.fixed {
		return nil
	}
	if r.o.Offline && !at.strand.fixed {
		r.rehearsed.pend(where)
	}
	return thrown(recordEnds(), where)
}

// diverges is a recorded step that is not the one that stands there now. When a step before it is run again on purpose, what came of it
// may be different, and so the step is run again as well.
func (r *Runner) diverges(ctx context.Context, then event.At, was string, where event.At, kind string) error {
	if r.o.Retry {
		if r.o.Offline {
			return nil
		}
		return r.discard(ctx, where, "retry")
	}
	e := Errorf(KindDivergence, "the %s at %s is not the one on record: %s was run at %s with something else; nothing was sent. "+
		"Put the document back, or run it anew", kind, where.Position, was, orWord(then.Position, where.Step))
	if r.o.Offline {
		r.rehearsed.diverge(asError(thrown(e, where)))
		return thrown(recordEnds(), where)
	}
	return thrown(e, where)
}

// discard takes what is on record of a step out of use, durably.
func (r *Runner) discard(ctx context.Context, where event.At, reason string) error {
	err := r.o.Stream.Record(ctx, event.StepDiscarded, where, &event.Discarded{Reason: reason}, nil)
	for _, turn := range r.o.Past.Turns(where.Step) {
		if err == nil {
			err = r.o.Stream.Record(ctx, event.PromptDiscarded, event.At{Step: turn}, &event.Discarded{Reason: reason}, nil)
		}
	}
	if err == nil {
		err = r.o.Past.Refresh(ctx)
	}
	if err != nil {
		return thrown(storeError(err), where)
	}
	return nil
}

// decide makes a decision that follows from what is known: the recorded one if there is one, else the one that do makes, which is put on
// record. It may be made offline.
func (r *Runner) decide(ctx context.Context, at place, s plan.Step, kind, input string, do func() (any, error)) (any, error) {
	where := at.where(s)
	e, err := r.lookUp(ctx, where, kind, input)
	if err != nil {
		return nil, err
	}
	if e != nil && !(r.o.Retry && kind == "if" && !at.strand.fixed) { // what it is decided by may be another now
		v, err := e.value()
		if failure := e.failure(); err == nil && failure != nil {
			err = failure
		}
		return v, err
	}
	v, err := do()
	body := &event.Step{Kind: kind, Input: input, Outcome: outcomeDone, Value: v}
	if err != nil {
		failure := asError(thrown(err, where))
		body.Outcome, body.Error = outcomeOf(failure.Kind), EventError(failure)
		err = failure
	}
	if !r.o.Offline {
		r.o.Stream.Emit(event.StepEnded, where, body)
	}
	return v, err
}

// inputOf is the digest of what a step is given.
func (r *Runner) inputOf(parts ...any) string {
	h := sha256.New()
	for _, p := range parts {
		raw, err := json.Marshal(p)
		if err != nil {
			raw = []byte(err.Error()) // a value that JSON cannot hold; expressions make none
		}
		if encoded, err := r.o.Secrets.EncodeJSON(raw); err == nil {
			raw = encoded // another value of a secret is the same input
		}
		h.Write(raw)
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// strand is one line of execution: the document's own, or one of several bodies that run at once. It counts the nodes that it comes to:
// a replay ends it at the node where it was cancelled. Used by one goroutine.
type strand struct {
	nodes   int
	fixed   bool // it has ended already and is told again: it neither runs anything nor looks whether it is cancelled
	stopAt  int  // fixed: the node that found it cancelled; 0: none did
	stopped int  // the node that found it cancelled
}

// next comes to the next node.
func (s *strand) next(ctx context.Context) error {
	s.nodes++
	switch {
	case s.fixed && s.nodes == s.stopAt:
		return recordEnds()
	case !s.fixed && ctx.Err() != nil:
		s.stopped = s.nodes
		return stopped(ctx)
	}
	return nil
}

// Rehearsal is what an offline run of a recorded plan found. Safe for concurrent use until Execute has returned; then to be read.
type Rehearsal struct {
	mu       sync.Mutex
	Pending  []event.At // the steps that would have to be run, in the order in which they were come to
	Diverged []*Error
}

func (h *Rehearsal) pend(where event.At) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Pending = append(h.Pending, where)
}

func (h *Rehearsal) diverge(e *Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Diverged = append(h.Diverged, e)
}

// Rehearsal is what was found, offline.
func (r *Runner) Rehearsal() *Rehearsal { return &r.rehearsed }

// Undo are the records of what ended the run, and of what was cancelled because of it: a resume makes them again.
func (r *Runner) Undo() []Undo { return r.undo }

// isRecordEnd says whether err only says that the record ends there.
func isRecordEnd(err error) bool { return errors.Is(err, errNotOnRecord) }
