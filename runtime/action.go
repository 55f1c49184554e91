package runtime

import (
	"time"

	"xmd/runtime/event"
)

// action is one tool call of a turn, joined from its updates.
type action struct {
	ToolCall
	began time.Time
	over  bool // its end was told
}

// outcomes are the ends of a call as they are told, by its status.
var outcomes = map[string]string{"completed": "done", "failed": "failed", "declined": "not run"}

// tool joins the updates of one call and tells its start and its end, once each.
func (t *turn) tool(u *ToolCall) {
	a, known := t.calls[u.ID]
	if !known {
		a = &action{ToolCall: ToolCall{ID: u.ID}, began: time.Now()}
		if t.calls == nil {
			t.calls = map[string]*action{}
		}
		t.calls[u.ID] = a
		t.order = append(t.order, a)
	}
	a.merge(u)
	if !known {
		t.r.o.Stream.Emit(event.ToolStarted, t.at, a.body())
	}
	if outcome := outcomes[a.Status]; outcome != "" {
		t.endAction(a, outcome)
	}
}

// endAction tells the end of a call. One that xmd refused was not run, whatever the agent calls that.
func (t *turn) endAction(a *action, outcome string) {
	if a.over {
		return
	}
	a.over = true
	t.mu.Lock()
	denied := t.denied[a.ID]
	t.mu.Unlock()
	if denied && outcome != "done" {
		outcome = "not run"
	}
	body := a.body()
	body.Outcome, body.Milliseconds = outcome, time.Since(a.began).Milliseconds()
	t.r.o.Stream.Emit(event.ToolEnded, t.at, body)
}

// endActions tells the calls of which the turn showed no end: what became of them is not known.
func (t *turn) endActions() {
	for _, a := range t.order {
		t.endAction(a, "unknown")
	}
}

func (a *action) body() *event.Tool {
	body := &event.Tool{ID: a.ID, Name: a.Name, Kind: a.Kind, Subject: a.Subject, Input: a.Input, Output: a.Output}
	if len(a.Diffs) > 0 {
		body.Diffs = a.Diffs
	}
	return body
}

// merge takes over what an update changed.
func (c *ToolCall) merge(u *ToolCall) {
	for _, m := range []struct{ to, from *string }{
		{&c.Name, &u.Name}, {&c.Kind, &u.Kind}, {&c.Subject, &u.Subject}, {&c.Status, &u.Status}, {&c.Output, &u.Output},
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
