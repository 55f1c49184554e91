package runtime

import (
	"context"
	"sync"
	"time"
)

// idleWatch cancels a turn in which the agent has shown nothing for too long. Its clock stands still while the agent waits for xmd. The
// zero limit never ends a turn.
type idleWatch struct {
	limit  time.Duration
	cancel context.CancelCauseFunc
	reason error

	mu      sync.Mutex
	timer   *time.Timer
	waiting int // requests of the agent that xmd has not answered
	over    bool
}

// watchIdle starts the watch of a turn; end it.
func watchIdle(ctx context.Context, limit time.Duration, reason error) (context.Context, *idleWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &idleWatch{limit: limit, cancel: cancel, reason: reason}
	if limit > 0 {
		w.timer = time.AfterFunc(limit, w.expire)
	}
	return ctx, w
}

func (w *idleWatch) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == 0 && !w.over {
		w.cancel(w.reason)
	}
}

// seen tells that the agent has shown something.
func (w *idleWatch) seen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.restart()
}

// restart begins the time anew; the caller holds mu.
func (w *idleWatch) restart() {
	if w.timer != nil && w.waiting == 0 && !w.over {
		w.timer.Reset(w.limit)
	}
}

// asked tells that the agent waits for an answer of xmd, until the function it returns is called.
func (w *idleWatch) asked() (answered func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting++
	if w.timer != nil {
		w.timer.Stop()
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.waiting--
		w.restart()
	}
}

// end ends the watch.
func (w *idleWatch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(nil)
}
