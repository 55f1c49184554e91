package acp

import (
	"strings"

	"xmd/agents/past"
	"xmd/agents/wire"
	"xmd/runtime"
)

// ownWord takes a message that may be the agent's own word although it comes as the model's does. It is one for certain while a tool
// runs or after a refusal, since the model is not asked then; else what follows tells, and it is held until then.
func (t *turn) ownWord(text string) bool {
	if !past.BeginsAny(text, t.p.OwnWords) {
		return false
	}
	t.settleOwn()
	if t.refused > 0 || t.working() {
		t.ownNotice(text)
		return true
	}
	t.release()
	t.held, t.heldOwn = text, true
	return true
}

// working says whether a tool of the turn has begun and not ended.
func (t *turn) working() bool {
	for _, k := range t.tools {
		if s := k.call.Status; s == "pending" || s == "in_progress" {
			return true
		}
	}
	return false
}

// modelCall says that the agent asks its model: what it said just before was no answer.
func (t *turn) modelCall() {
	t.calls++
	t.settleOwn()
}

// settleOwn takes a held message as the agent's own word.
func (t *turn) settleOwn() {
	if !t.heldOwn {
		return
	}
	text := t.held
	t.held, t.heldOwn = "", false
	t.ownNotice(text)
}

// ownNotice shows an agent's own word. Its conversation has the words of the person by then.
func (t *turn) ownNotice(text string) {
	if !past.BeginsAny(text, t.p.Harmless) {
		t.notices = append(t.notices, strings.TrimSpace(text))
	}
	t.emit(runtime.Update{Kind: runtime.UpdateNotice, Accepts: true, Text: text})
}

// judgeOwn decides about a message that is the last of its turn: it is the model's if the model was asked once and used something.
func (t *turn) judgeOwn(used *runtime.Usage) {
	if used == nil || spent(used) == 0 || t.calls > 1 {
		t.settleOwn()
	}
}

// meter makes of the figures of a result, which may be the sum of the process, those of the turn.
func (t *turn) meter(u *runtime.Usage) *runtime.Usage {
	if u == nil || !t.p.UsageIsTotal {
		return u
	}
	before := t.total
	t.total = *u
	return &runtime.Usage{
		InputTokens:  since(before.InputTokens, u.InputTokens),
		OutputTokens: since(before.OutputTokens, u.OutputTokens),
		CachedTokens: since(before.CachedTokens, u.CachedTokens),
		TotalTokens:  since(before.TotalTokens, u.TotalTokens),
	}
}

// since is how much a sum has grown; one that has shrunk began anew.
func since(before, now *int64) *int64 {
	if before == nil || now == nil || *now < *before {
		return now
	}
	d := *now - *before
	return &d
}

func spent(u *runtime.Usage) int64 {
	var sum int64
	for _, n := range []*int64{u.InputTokens, u.OutputTokens, u.TotalTokens} {
		if n != nil {
			sum += *n
		}
	}
	return sum
}

// TurnEnd is how a replay tells of the end of a turn: by a notification of the agent's own, beside the protocol's updates.
type TurnEnd struct {
	Method string // of the notification; "": none
	Kind   string // its update's kind
	Member string // of the update: how the turn ended
	Normal string // what that is when it came to its normal end
}

// replayedEnd takes a notification that tells of the end of the newest replayed turn; false: it is none.
func (c *conn) replayedEnd(m *wire.Message) bool {
	e := c.p.TurnEnd
	if e.Method == "" || m.Method != e.Method {
		return false
	}
	update := wire.Field(m.Params, "update")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loading == nil || !isID(wire.Field(m.Params, "sessionId"), c.id) || !wire.Is(wire.Field(update, "sessionUpdate"), e.Kind) {
		return false
	}
	if wire.Is(wire.Field(update, e.Member), e.Normal) {
		c.loading.past.Completed()
	}
	return true
}
