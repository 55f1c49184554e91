// Package asking decides the permission requests of one turn of an agent, whatever protocol they came over.
//
//	reader ──Add──▶ Queue ── one at a time, in wire order ──▶ Ask (a goroutine of its own)
//	                  │                                        │
//	                  └ Cancel, Withdraw, End ──▶ Drop         ├ allowed ──▶ Told, then Answer(true)
//	                                                           └ refused ──▶ Told, then Answer(false)
//
// Who takes a question out of the queue answers it, so each is answered exactly once.
package asking

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"xmd/runtime"
)

// Reasons for which a driver itself refuses a permission.
const (
	reasonNobody   = "nobody to ask"
	reasonNoOption = "no matching option"
)

// Question is one permission request that waits for its answer.
type Question struct {
	ID      json.RawMessage // of the request, as the agent wrote it
	Request runtime.PermissionRequest
	// NoAllow says that the agent offers no way to allow it this once.
	NoAllow bool
	// Answer sends the decision, and Drop says that nobody will decide any more. One of them is called, once.
	Answer func(allowed bool)
	Drop   func()

	cancel context.CancelFunc // ends the asking
}

// Asker is a turn as its questions see it.
type Asker struct {
	// Ask decides; see runtime.Turn. A nil Ask refuses.
	Ask func(ctx context.Context, req runtime.PermissionRequest) bool
	// Told is called with each decision before it is sent.
	Told func(runtime.PermissionOutcome)
}

// Queue holds the permission requests of a turn. They are decided one after the other, in the order in which they were added, by one
// goroutine that lives while there are any. The zero value is ready; it is safe for concurrent use.
type Queue struct {
	mu      sync.Mutex
	waiting []*Question // the first is being decided
	working bool
	closed  bool // cancelled or over: new ones are dropped
	idle    sync.WaitGroup
}

// Add takes a question over.
func (qs *Queue) Add(a Asker, q *Question) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.closed {
		q.Drop()
		return
	}
	qs.waiting = append(qs.waiting, q)
	if !qs.working {
		qs.working = true
		qs.idle.Add(1)
		go qs.work(a)
	}
}

// work decides until none is left.
func (qs *Queue) work(a Asker) {
	defer qs.idle.Done()
	for {
		qs.mu.Lock()
		if len(qs.waiting) == 0 {
			qs.working = false
			qs.mu.Unlock()
			return
		}
		q := qs.waiting[0]
		ctx, cancel := context.WithCancel(context.Background())
		q.cancel = cancel
		qs.mu.Unlock()
		allowed := a.Ask != nil && a.Ask(ctx, q.Request)
		cancel()
		qs.settle(a, q, allowed)
	}
}

// take removes q, and returns whether it was still waiting. Who takes a question answers it.
func (qs *Queue) take(q *Question) bool {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	i := slices.Index(qs.waiting, q)
	if i < 0 {
		return false
	}
	qs.waiting = slices.Delete(qs.waiting, i, i+1)
	return true
}

// settle answers q unless a cancel has done so meanwhile.
func (qs *Queue) settle(a Asker, q *Question, allowed bool) {
	if !qs.take(q) {
		return
	}
	out := runtime.PermissionOutcome{Request: q.Request, Allowed: allowed}
	switch {
	case a.Ask == nil:
		out.Reason = reasonNobody
	case allowed && q.NoAllow:
		out.Allowed, out.Reason = false, reasonNoOption
	}
	a.Told(out)
	q.Answer(out.Allowed)
}

// Cancel drops everything that waits, and what comes later, and ends the asking. It returns whether anything waited.
func (qs *Queue) Cancel() bool {
	qs.mu.Lock()
	waiting := qs.waiting
	qs.waiting, qs.closed = nil, true
	qs.mu.Unlock()
	for _, q := range waiting {
		q.drop()
	}
	return len(waiting) > 0
}

// Withdraw drops the question of that request id and ends its asking.
func (qs *Queue) Withdraw(id []byte) {
	qs.mu.Lock()
	i := slices.IndexFunc(qs.waiting, func(q *Question) bool { return bytes.Equal(q.ID, id) })
	if i < 0 {
		qs.mu.Unlock()
		return
	}
	q := qs.waiting[i]
	qs.waiting = slices.Delete(qs.waiting, i, i+1)
	qs.mu.Unlock()
	q.drop()
}

// drop is the end of a question that was taken.
func (q *Question) drop() {
	q.Drop()
	if q.cancel != nil {
		q.cancel()
	}
}

// End waits until nothing is being decided any more; what still waits is dropped.
func (qs *Queue) End() {
	qs.Cancel()
	qs.idle.Wait()
}
