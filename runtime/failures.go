package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// failureLog gathers failures in document order: bodies that run at once have one each, which are joined when all have ended.
type failureLog struct {
	mu   sync.Mutex // the run's own is read by Failures at any time
	list []*Error
}

func (l *failureLog) add(e ...*Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, e...)
}

func (l *failureLog) all() []*Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*Error(nil), l.list...)
}

func (l *failureLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}

// cut drops what came after the first n: a Catch has handled it.
func (l *failureLog) cut(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = l.list[:n]
}

// breakLoop is the way of a Break to its Loop. It is no failure.
type breakLoop struct{}

func (breakLoop) Error() string { return "Break outside of a Loop" }

// returned is the way of a value to the end of its document. It is no failure.
type returned struct{ value any }

func (returned) Error() string { return "Return outside of a document with returns" }

// isFlow says whether err only leaves a body.
func isFlow(err error) bool {
	return errors.As(err, new(breakLoop)) || errors.As(err, new(returned))
}

// uncatchable are failures that no Catch handles: the run cannot go on as if nothing were.
var uncatchable = map[Kind]bool{KindCancelled: true, KindLimit: true, KindWaiting: true, KindDivergence: true, KindStore: true, KindAssertion: true}

// catchable says whether a Try may handle err.
func catchable(ctx context.Context, err error) bool {
	return !isFlow(err) && ctx.Err() == nil && !uncatchable[asError(err).Kind]
}

// errSibling is the cause of a context that ended because a body beside it has failed.
var errSibling = fmt.Errorf("%w, because a branch beside it failed", context.Canceled)

// stopped is why ctx ended, as an error of whoever was stopped.
func stopped(ctx context.Context) *Error {
	return own(context.Cause(ctx))
}

// own is err as an *Error of one's own, which still matches err: the reason why a context ended is shared by all that it stops.
func own(err error) *Error {
	e := *asError(err)
	e.Err = err
	return &e
}

// asError makes an *Error of any error.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return storeError(err)
}

// ExitCode is the exit code of failures in document order: that of the first, but waiting for a person counts only if nothing
// failed. 0 without failures; a signal's own code is the caller's to know.
func ExitCode(failures []*Error) int {
	code := 0
	for _, e := range failures {
		if e.Kind != KindWaiting {
			return e.Kind.ExitCode()
		}
		code = e.Kind.ExitCode()
	}
	return code
}
