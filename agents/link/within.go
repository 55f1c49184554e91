package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
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
