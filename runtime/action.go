package runtime

import (
	"time"

	"xmd/runtime/event"
)

// action is one tool call of a turn as the agent tells of it, joined from its updates.
type action struct {
	ToolCall
	began time.Time
	shown bool // its start was told
	over  bool // its end was told, or it is not told here at all
}

// outcomes are the ends of a call as they are told, by its status.
var outcomes = map[string]string{"completed": "done", "failed": "failed", "declined": "not run"}

// tool joins the updates of one call and tells its start and its end, once each.
func (t *turn) tool(u *ToolCall) {
	a := t.actions[u.ID]
	if a == nil {
		a = &action{ToolCall: ToolCall{ID: u.ID}, began: time.Now()}
		if t.actions == nil {
			t.actions = map[string]*action{}
		}
		t.actions[u.ID] = a
		t.order = append(t.order, a)
	}
	a.merge(u)
	outcome := outcomes[a.Status]
	if !a.shown && !t.shows(a, outcome) {
		return
	}
	t.startAction(a)
	if outcome != "" {
		t.endAction(a, outcome)
	}
}

// shows says whether a call is told as the agent's own. One of the workflow's tools is told as what came in through the door, and here only if
// nothing came in. One that may yet turn out to be such waits until it is more than pending.
func (t *turn) shows(a *action, outcome string) bool {
	switch {
	case a.over || t.s.pass == nil && t.s.direct() == nil:
		return !a.over
	case a.Door == "":
		return a.Status != "" && a.Status != "pending"
	case outcome == "":
		return false
	}
	a.over = t.calls.saw(a.Door)
	return !a.over
}

func (t *turn) startAction(a *action) {
	if !a.shown {
		a.shown = true
		t.show(event.ToolStarted, a.body())
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
	t.show(event.ToolEnded, body)
}

// endActions tells the calls of which the turn showed no end: what became of them is not known. Those that waited to be known are told now,
// unless they came in through the door.
func (t *turn) endActions() {
	for _, a := range t.order {
		if !a.shown && !a.over && a.Door != "" && t.calls.saw(a.Door) {
			a.over = true
		}
		if !a.over {
			t.startAction(a)
			t.endAction(a, "unknown")
		}
	}
}

func (a *action) body() event.Tool {
	body := event.Tool{ID: a.ID, Name: a.Name, Kind: a.Kind, Subject: a.Subject, Input: a.Input, Output: a.Output}
	if len(a.Diffs) > 0 {
		body.Diffs = a.Diffs
	}
	return body
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
