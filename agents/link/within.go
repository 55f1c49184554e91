package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"xmd/agents/wire"
)

// Unanswered is the error of a call that was not answered in its time. It says what was waited for, and how long.
type Unanswered struct {
	Method string
	Limit  time.Duration
}

// Error reads after the agent's name or "it".
func (u *Unanswered) Error() string {
	return fmt.Sprintf("did not answer %s within %s", u.Method, u.Limit)
}

// Within makes a call and waits for its answer, at most limit: then the error is an *Unanswered. When ctx ends it is ctx's.
func (l *Link) Within(ctx context.Context, limit time.Duration, method string, params any) (json.RawMessage, error) {
	limited, stop := context.WithTimeoutCause(ctx, limit, &Unanswered{method, limit})
	defer stop()
	result, err := l.Wire.Call(limited, method, params)
	var late *Unanswered
	if errors.As(err, &late) {
		return nil, late
	}
	return result, err
}

// Silent is the error of a call during which nothing came for too long.
type Silent struct{ Limit time.Duration }

// Error says how long nothing came.
func (s *Silent) Error() string { return fmt.Sprintf("nothing came for %s", s.Limit) }

// Patiently waits for the answer of a call as long as anything comes, which activity counts: when that stands still for limit the call is
// abandoned and the error is a *Silent. When ctx ends the error is its cause.
func Patiently(ctx context.Context, call *wire.Pending, limit time.Duration, activity *atomic.Int64) (json.RawMessage, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		seen := activity.Load()
		select {
		case <-call.Done():
			return call.Wait(ctx)
		case <-ctx.Done():
			call.Abandon()
			return nil, context.Cause(ctx)
		case <-timer.C:
			if activity.Load() == seen {
				call.Abandon()
				return nil, &Silent{limit}
			}
			timer.Reset(limit)
		}
	}
}
