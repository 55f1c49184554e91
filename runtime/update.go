package runtime

import (
	"context"
	"fmt"
	"strings"

	"xmd/runtime/event"
)

// maxReplyKept bounds the reply that is kept in memory when nothing needs it whole, and what is recorded of it beside its pieces.
const maxReplyKept = 1 << 20

// replyText gathers a reply, whole when somebody needs it, else its first part. A long one is put together once, at the end: a text that
// grows is copied again and again, and is there twice meanwhile.
type replyText struct {
	whole  bool
	blocks []string
	b      strings.Builder // the last one
	total  int64
}

func (r *replyText) add(s string) {
	r.total += int64(len(s))
	if !r.whole && r.total-int64(len(s)) >= maxReplyKept {
		return
	}
	r.b.WriteString(s)
	if r.b.Len() >= maxReplyKept {
		r.blocks = append(r.blocks, r.b.String())
		r.b.Reset()
	}
}

// short says that the whole reply is here and small enough to be looked at closely.
func (r *replyText) short() bool { return r.total <= maxReplyKept }

// String is what was gathered. Nothing is added after it.
func (r *replyText) String() string {
	if len(r.blocks) == 0 {
		return r.b.String()
	}
	if r.b.Len() > 0 || len(r.blocks) > 1 {
		r.blocks = []string{strings.Join(append(r.blocks, r.b.String()), "")}
		r.b.Reset()
	}
	return r.blocks[0]
}

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
		if err := t.r.spending.over(u.Usage); err != nil {
			t.idle.cancel(err)
		}
		emit(event.UsageReported, t.at, &event.Used{Usage: u.Usage})
	case UpdateCompaction:
		t.compacted = true
		emit(event.Compaction, t.at, nil)
	case UpdatePermission:
		t.permission(u.Permission)
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
	if !o.Allowed && o.Request.CallID != "" {
		if t.denied == nil {
			t.denied = map[string]bool{}
		}
		t.denied[o.Request.CallID] = true
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

// outcomeOf is how an end with such an error is called in its event.
func outcomeOf(k Kind) string {
	switch k {
	case KindCancelled:
		return "cancelled"
	case KindRefused:
		return "refused"
	}
	return "failed"
}
