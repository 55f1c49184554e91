package runtime

import (
	"context"
	"slices"
	"sync"
)

// token is the right to use a session: one holder at a time, in the order in which it was asked for. The zero value is free.
type token struct {
	mu      sync.Mutex
	held    bool
	waiting []chan struct{}
}

// take waits for the token. queued is called as soon as the place in the queue is sure; it may be nil. On error, the reason why ctx
// ended, the token is not held.
func (t *token) take(ctx context.Context, queued func()) error {
	t.mu.Lock()
	turn := make(chan struct{})
	if !t.held {
		t.held = true
		close(turn)
	} else {
		t.waiting = append(t.waiting, turn)
	}
	t.mu.Unlock()
	if queued != nil {
		queued()
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	at := slices.Index(t.waiting, turn)
	if at >= 0 {
		t.waiting = slices.Delete(t.waiting, at, at+1)
	}
	t.mu.Unlock()
	if at < 0 { // it was given meanwhile
		t.give()
	}
	return stopped(ctx)
}

// give passes the token to whoever asked first.
func (t *token) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.held = false
		return
	}
	close(t.waiting[0])
	t.waiting = t.waiting[1:]
}
