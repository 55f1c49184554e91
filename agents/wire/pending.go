package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// Answer is what a call came to.
type Answer struct {
	// Method is that of the call.
	Method string
	// Result is valid JSON, and nil when Err is set.
	Result json.RawMessage
	// Err is an *Error, *EndedError or *OverlongError, or nil.
	Err error
}

// Pending is a call that was sent. Its methods may be called at once from any
// goroutine.
type Pending struct {
	c      *Conn
	id     int64
	method string
	done   chan struct{}
	answer Answer // readable after done
}

// Done is closed when the answer is there or can no longer come. Everything the
// agent sent before its answer has been handled by then.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Answered returns whether Done is closed.
func (p *Pending) Answered() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Wait returns the answer as [Conn.Call] does, or the cause of ctx as soon as ctx
// ends; the call stays pending then, and Wait may be called again. An answer that
// is there wins over a context that has ended.
func (p *Pending) Wait(ctx context.Context) (json.RawMessage, error) {
	if !p.Answered() {
		select {
		case <-p.done:
		case <-ctx.Done():
			if !p.Answered() {
				return nil, fmt.Errorf("%s: %w", p.method, context.Cause(ctx))
			}
		}
	}
	if p.answer.Err != nil {
		return nil, fmt.Errorf("%s: %w", p.method, p.answer.Err)
	}
	return p.answer.Result, nil
}

// Abandon says that nobody will wait for this call again: its answer goes to
// Options.Late. It returns false, and has no effect, when the answer is already
// there or just being stored.
func (p *Pending) Abandon() bool {
	s := &p.c.pending
	s.mu.Lock()
	defer s.mu.Unlock()
	_, waiting := s.calls[p.id]
	if waiting {
		s.late[p.id] = true
	}
	return waiting
}

// pendingCalls are the calls without an answer, by the id they were sent with.
type pendingCalls struct {
	mu    sync.Mutex
	last  int64
	calls map[int64]*Pending
	late  map[int64]bool // abandoned ones
	ended error
}

func (s *pendingCalls) add(c *Conn, method string) *Pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	p := &Pending{c: c, id: s.last, method: method, done: make(chan struct{})}
	if s.ended == nil { // else the writer refuses the frame with the same error
		s.calls[p.id] = p
	}
	return p
}

// take removes a call and returns it, nil when there is none, and whether it was
// abandoned. Who takes a call settles it.
func (s *pendingCalls) take(id int64) (p *Pending, late bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, late = s.calls[id], s.late[id]
	delete(s.calls, id)
	delete(s.late, id)
	return p, late
}

// end fails every call and all later ones.
func (s *pendingCalls) end(err error) {
	s.mu.Lock()
	calls := s.calls
	s.calls, s.late, s.ended = map[int64]*Pending{}, map[int64]bool{}, err
	s.mu.Unlock()
	for _, p := range calls {
		p.settle(nil, err)
	}
}

// settle stores the answer; only who took p may call it.
func (p *Pending) settle(result json.RawMessage, err error) {
	p.answer = Answer{Method: p.method, Result: result, Err: err}
	close(p.done)
}
