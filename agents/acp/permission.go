package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"xmd/agents/wire"
	"xmd/runtime"
)

// Reasons for which the driver itself refuses a permission.
const (
	reasonNobody   = "nobody to ask"
	reasonNoOption = "no matching option"
)

// question is one permission request that waits for its answer.
type question struct {
	id      json.RawMessage // of the request, as the agent wrote it
	request runtime.PermissionRequest
	allow   string // option id of kind allow_once; "" when it is not offered
	reject  string // option id of kind reject_once
	reply   wire.Reply
	cancel  context.CancelFunc // ends the asking
}

// questions are the permission requests of a turn. They are decided one after the other, in wire order, by one goroutine
// that lives while there are any.
type questions struct {
	mu      sync.Mutex
	waiting []*question // the first is being decided
	working bool
	closed  bool // cancelled or over: new ones are answered as cancelled
	idle    sync.WaitGroup
}

var requestMembers = []string{"sessionId", "toolCall", "options"}

// parseQuestion reads a request and joins it with what the turn knows of the call. The turn is locked.
func (t *turn) parseQuestion(toolCall, options []byte) *question {
	var m [toolMemberCount][]byte
	wire.Pick(toolCall, toolMembers, m[:])
	id, _ := wire.String(m[toolID])
	known := t.tool(id)
	t.merge(known, &m)
	q := &question{request: runtime.PermissionRequest{
		CallID: id, Kind: known.kind, Title: known.title, Subject: known.call.Subject,
		Command: commandLine(known.call.Input), Paths: paths(known),
		Input: known.call.Input, Diffs: known.call.Diffs,
	}}
	q.allow, q.reject = onceOptions(options)
	return q
}

// onceOptions finds the options by their kind. Ids and positions mean nothing, and what would hold for ever is not chosen.
func onceOptions(options []byte) (allow, reject string) {
	for o := range wire.Elements(options) {
		var m [2][]byte
		wire.Pick(o, []string{"kind", "optionId"}, m[:])
		switch id, _ := wire.String(m[1]); {
		case wire.Is(m[0], "allow_once") && allow == "":
			allow = id
		case wire.Is(m[0], "reject_once") && reject == "":
			reject = id
		}
	}
	return allow, reject
}

// asked takes a permission request on the reader.
func (t *turn) asked(r *wire.Message, reply wire.Reply) {
	var m [3][]byte
	wire.Pick(r.Params, requestMembers, m[:])
	t.mu.Lock()
	q := t.parseQuestion(m[1], m[2])
	q.id, q.reply = r.ID, reply
	t.content()
	t.emit(runtime.Update{Accepts: true}) // the words are there, whatever the answer and however long it takes
	t.mu.Unlock()
	t.questions.add(t, q)
}

func (qs *questions) add(t *turn, q *question) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.closed {
		answerCancelled(q.reply)
		return
	}
	qs.waiting = append(qs.waiting, q)
	if !qs.working {
		qs.working = true
		qs.idle.Add(1)
		go qs.work(t)
	}
}

// work decides until none is left.
func (qs *questions) work(t *turn) {
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
		allowed := t.ask != nil && t.ask(ctx, q.request)
		cancel()
		qs.settle(t, q, allowed)
	}
}

// take removes q, and returns whether it was still waiting. Who takes a question answers it.
func (qs *questions) take(q *question) bool {
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
func (qs *questions) settle(t *turn, q *question, allowed bool) {
	if !qs.take(q) {
		return
	}
	out := runtime.PermissionOutcome{Request: q.request, Allowed: allowed}
	switch {
	case t.ask == nil:
		out.Reason = reasonNobody
	case allowed && q.allow == "":
		out.Allowed, out.Reason = false, reasonNoOption
	}
	t.mu.Lock()
	if !out.Allowed {
		t.refused++
	}
	t.emit(runtime.Update{Kind: runtime.UpdatePermission, Permission: &out})
	t.mu.Unlock()
	answer(q, out.Allowed)
}

// cancel answers everything that waits, and what comes later, as cancelled, and ends the asking.
func (qs *questions) cancel() {
	qs.mu.Lock()
	waiting := qs.waiting
	qs.waiting, qs.closed = nil, true
	qs.mu.Unlock()
	for _, q := range waiting {
		q.drop()
	}
}

// withdraw answers the question of that request id as cancelled and ends its asking.
func (qs *questions) withdraw(id []byte) {
	qs.mu.Lock()
	i := slices.IndexFunc(qs.waiting, func(q *question) bool { return bytes.Equal(q.id, id) })
	if i < 0 {
		qs.mu.Unlock()
		return
	}
	q := qs.waiting[i]
	qs.waiting = slices.Delete(qs.waiting, i, i+1)
	qs.mu.Unlock()
	q.drop()
}

// drop answers a question that was taken as cancelled.
func (q *question) drop() {
	answerCancelled(q.reply)
	if q.cancel != nil {
		q.cancel()
	}
}

// end waits until nothing is being decided any more; what still waits is answered as cancelled.
func (qs *questions) end() {
	qs.cancel()
	qs.idle.Wait()
}

type selected struct {
	Outcome  string `json:"outcome"`
	OptionID string `json:"optionId,omitempty"`
}

type outcome struct {
	Outcome selected `json:"outcome"`
}

func answer(q *question, allowed bool) {
	option := q.reject
	if allowed {
		option = q.allow
	}
	if option == "" {
		answerCancelled(q.reply)
		return
	}
	_ = q.reply(outcome{selected{"selected", option}}, nil) // a connection that has ended fails the turn itself
}

func answerCancelled(reply wire.Reply) {
	_ = reply(outcome{selected{Outcome: "cancelled"}}, nil)
}
