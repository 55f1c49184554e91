package runtime

import (
	"context"
	"fmt"
	"strings"

	"xmd/runtime/event"
)

// maxReplyKept bounds the reply that is kept in memory when nothing needs it whole.
const maxReplyKept = 1 << 20

// replyText gathers a reply, whole when somebody needs it, else its first part.
type replyText struct {
	whole bool
	b     strings.Builder
	total int64
}

func (r *replyText) add(s string) {
	r.total += int64(len(s))
	if r.whole || r.b.Len() < maxReplyKept {
		r.b.WriteString(s)
	}
}

// complete says whether String is the whole reply.
func (r *replyText) complete() bool { return int64(r.b.Len()) == r.total }

func (r *replyText) String() string { return r.b.String() }

// update takes one thing the agent did; it runs on the connection's reader, in wire order.
func (t *turn) update(u Update) {
	t.idle.seen()
	if u.Accepts && !t.accepted {
		t.accept()
	}
	emit := t.r.o.Stream.Emit
	switch u.Kind {
	case UpdateMessage:
		t.text.add(u.Text)
		t.minutes.said(u.Text)
		emit(event.Message, t.at, &event.Delta{Text: u.Text})
		if err := t.reply.Value(u.Text); err != nil && t.broken == nil {
			t.broken = err
		}
	case UpdateThought:
		emit(event.Thought, t.at, &event.Delta{Text: u.Text})
	case UpdateNotice:
		emit(event.Notice, t.at, &event.Delta{Text: u.Text})
	case UpdateTool:
		t.tool(u.Tool)
	case UpdateTodo:
		t.minutes.list(u.Todo)
		emit(event.Todo, t.at, &event.Todos{Items: u.Todo})
	case UpdateUsage:
		emit(event.UsageReported, t.at, &event.Used{Usage: u.Usage})
	case UpdateCompaction:
		t.compacted = true
		emit(event.Compaction, t.at, nil)
	case UpdatePermission:
		t.permission(u.Permission)
	}
}

// tool joins the updates of one call and tells its start and its end, once each.
func (t *turn) tool(u *ToolCall) {
	if t.tools == nil {
		t.tools = map[string]*action{}
	}
	a := t.tools[u.ID]
	if a == nil {
		a = &action{ToolCall: ToolCall{ID: u.ID}}
		t.tools[u.ID] = a
		t.order = append(t.order, u.ID)
	}
	a.merge(u)
	outcome := outcomes[a.Status]
	if !a.shown && !t.shows(a, outcome) {
		return
	}
	if !a.shown {
		a.shown = true
		t.show(event.ToolStarted, a.body())
	}
	if outcome != "" && !a.ended {
		a.ended = true
		body := a.body()
		body.Outcome = outcome
		t.show(event.ToolEnded, body)
	}
}

// action is one call of a tool as the agent tells of it.
type action struct {
	ToolCall
	shown bool // its start was told
	ended bool // its end is settled
}

// outcomes are how calls end, by their last status.
var outcomes = map[string]string{"completed": "done", "failed": "failed", "declined": "not run"}

func (a *action) body() event.Tool {
	body := event.Tool{ID: a.ID, Name: a.Name, Kind: a.Kind, Subject: a.Subject, Input: a.Input, Output: a.Output}
	if len(a.Diffs) > 0 {
		body.Diffs = a.Diffs
	}
	return body
}

// shows says whether a call is told as the agent's own. One of the workflow's tools is told as what came in through the door, and here only if
// nothing came in. One that may yet turn out to be such waits until it is more than pending.
func (t *turn) shows(a *action, outcome string) bool {
	switch {
	case a.ended || t.s.pass == nil && t.s.direct() == nil:
		return !a.ended
	case a.Door == "":
		return a.Status != "" && a.Status != "pending"
	case outcome == "":
		return false
	}
	a.ended = t.calls.saw(a.Door)
	return !a.ended
}

// showHeld tells of the calls that waited to be known, when the turn has ended: whatever they were, nothing came of them.
func (t *turn) showHeld() {
	for _, id := range t.order {
		if a := t.tools[id]; !a.shown && !a.ended && (a.Door == "" || !t.calls.saw(a.Door)) {
			a.shown = true
			t.show(event.ToolStarted, a.body())
		}
	}
}

// merge takes over what an update changed.
func (c *ToolCall) merge(u *ToolCall) {
	for _, m := range []struct{ to, from *string }{
		{&c.Name, &u.Name}, {&c.Kind, &u.Kind}, {&c.Subject, &u.Subject}, {&c.Status, &u.Status}, {&c.Output, &u.Output}, {&c.Door, &u.Door},
	} {
		if *m.from != "" {
			*m.to = *m.from
		}
	}
	if len(u.Input) > 0 {
		c.Input = u.Input
	}
	if len(u.Diffs) > 0 {
		c.Diffs = u.Diffs
	}
}

// ask answers one permission request by the policies around the prompt and the run's own. It runs on a goroutine of the driver, one request at a time; the driver
// tells what came of it as an update.
func (t *turn) ask(ctx context.Context, req PermissionRequest) bool {
	defer t.idle.asked()()
	if t.isCall(req) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.reason = ""
		return true
	}
	allowed, reason := t.r.o.Policy.answer(ctx, t.from.policy, t.r.o.Ask, t.s.info.Shown, t.at.Position, t.s.key.Root, req)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reason = reason
	return allowed
}

// actKinds are the kinds of requests that are never those of a call through the door, whatever the agent says.
var actKinds = map[string]bool{"execute": true, "edit": true, "delete": true, "move": true, "fetch": true}

// isCall says whether a request is about a tool of the workflow that is in scope: its author has allowed it by offering it.
func (t *turn) isCall(req PermissionRequest) bool {
	return req.Door != "" && !actKinds[req.Kind] && t.doing(ToolUse{Name: req.Door}) != nil
}

// permission tells of one answered request, and remembers the first that was refused.
func (t *turn) permission(o *PermissionOutcome) {
	t.mu.Lock()
	reason := o.Reason
	if reason == "" {
		reason = t.reason
	}
	if !o.Allowed && t.refused == "" {
		what := o.Request.Subject
		if what == "" {
			what = o.Request.Title
		}
		t.refused = fmt.Sprintf("%s %q (%s)", orWord(o.Request.Kind, "a request"), what, reason)
	}
	t.mu.Unlock()
	t.r.o.Stream.Emit(event.Permission, t.at, &event.Asked{
		Kind: o.Request.Kind, Title: o.Request.Title, Subject: o.Request.Subject, Allowed: o.Allowed, Reason: reason,
	})
}

func orWord(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// EventError is an error as machines read it.
func EventError(e *Error) *event.Error {
	return &event.Error{
		Code: e.Kind.ExitCode(), Kind: string(e.Kind), Retryable: e.Retryable, Message: e.Message,
		Position: e.Position, Step: e.Step, Agent: e.Agent, Session: e.Session,
	}
}
