package acp

import (
	"encoding/json"

	"xmd/agents/past"
	"xmd/agents/wire"
	"xmd/runtime"
)

// update is one session/update as spans of its line, valid during the handler's call.
type update struct {
	kind      []byte // sessionUpdate, quoted
	content   []byte
	messageID []byte
	raw       []byte // the whole update
}

var (
	sessionMembers = []string{"sessionId", "update"}
	updateMembers  = []string{"sessionUpdate", "content", "messageId"}
)

// parseUpdate finds the parts of a session/update that most kinds need.
func parseUpdate(raw []byte) (update, bool) {
	var m [3][]byte
	if !wire.Pick(raw, updateMembers, m[:]) || m[0] == nil {
		return update{}, false
	}
	if string(m[2]) == "null" {
		m[2] = nil
	}
	return update{kind: m[0], content: m[1], messageID: m[2], raw: raw}, true
}

var contentMembers = []string{"type", "text"}

// contentText is the text of a content block, or of all text blocks of an array of them.
func contentText(content []byte) (string, bool) {
	var m [2][]byte
	if wire.Pick(content, contentMembers, m[:]) {
		if m[0] != nil && !wire.Is(m[0], "text") {
			return "", false
		}
		return wire.String(m[1])
	}
	var all []byte
	found := false
	for block := range wire.Elements(content) {
		if text, ok := contentText(block); ok {
			all, found = append(all, text...), true
		}
	}
	return string(all), found
}

// deliver turns an update of the running turn into what the caller sees. The turn is locked.
func (t *turn) deliver(u *update) {
	switch {
	case wire.Is(u.kind, "agent_message_chunk"):
		t.message(u)
	case wire.Is(u.kind, "agent_thought_chunk"):
		t.thought(u)
	case wire.Is(u.kind, "tool_call"), wire.Is(u.kind, "tool_call_update"):
		t.action(u)
	case wire.Is(u.kind, "plan"):
		t.content()
		t.emit(runtime.Update{Kind: runtime.UpdateTodo, Accepts: true, Todo: todo(u.raw)})
	case wire.Is(u.kind, "usage_update"):
		t.usageUpdate(u)
	case wire.Is(u.kind, "compaction_update"):
		t.compaction(u)
	case wire.Is(u.kind, "session_info_update"):
		t.info(u)
	default:
		t.emit(runtime.Update{})
	}
}

// message takes a piece of the answer, or what the adapter says in between.
func (t *turn) message(u *update) {
	text, ok := contentText(u.content)
	switch {
	case !ok:
		// An image or a resource: the model's, but nothing a document can render.
		t.content()
		t.emit(runtime.Update{Accepts: true})
	case text == "":
		t.emit(runtime.Update{})
	case u.messageID == nil && t.p.NoticeWithoutID:
		t.notice(text)
	case past.BeginsAny(text, t.p.Noise):
		t.emit(runtime.Update{Kind: runtime.UpdateNotice, Text: text})
	case t.ownWord(text):
	case t.mayBeError(text):
		t.release()
		t.held = text
	default:
		t.content()
		t.emit(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: text})
	}
}

func (t *turn) thought(u *update) {
	text, _ := contentText(u.content)
	if u.messageID == nil && t.p.NoticeWithoutID && text != "" {
		t.emit(runtime.Update{Kind: runtime.UpdateNotice, Text: text})
		return
	}
	t.release()
	t.emit(runtime.Update{Kind: runtime.UpdateThought, Accepts: true, Text: text})
}

func (t *turn) compaction(u *update) {
	if wire.Is(wire.Field(u.raw, "status"), "in_progress") {
		t.emit(runtime.Update{})
		return
	}
	t.emit(runtime.Update{Kind: runtime.UpdateCompaction})
}

// info takes what an adapter says about the conversation; of it only Codex's own state counts.
func (t *turn) info(u *update) {
	switch status := wire.Path(u.raw, "_meta", "codex", "threadStatus", "type"); {
	case wire.Is(status, "systemError"):
		t.systemError = true
	case wire.Is(status, "active"):
		t.systemError = false
	}
	t.emit(runtime.Update{})
}

func todo(raw []byte) []runtime.TodoItem {
	var items []runtime.TodoItem
	for entry := range wire.Elements(wire.Field(raw, "entries")) {
		text, _ := wire.String(wire.Field(entry, "content"))
		status, _ := wire.String(wire.Field(entry, "status"))
		items = append(items, runtime.TodoItem{Text: text, Status: status})
	}
	return items
}

// usageUpdate takes the figures that come during a turn. How full the model's window is says nothing about what was
// used, so only the cost counts.
func (t *turn) usageUpdate(u *update) {
	t.modelCall()
	var m struct {
		Cost *struct {
			Amount   *float64 `json:"amount"`
			Currency string   `json:"currency"`
		} `json:"cost"`
	}
	if json.Unmarshal(u.raw, &m) != nil || m.Cost == nil || m.Cost.Amount == nil {
		t.emit(runtime.Update{})
		return
	}
	t.reportCost(*m.Cost.Amount, m.Cost.Currency)
	usage := t.usage
	t.emit(runtime.Update{Kind: runtime.UpdateUsage, Usage: &usage})
}

// resultUsage reads the figures of a prompt's result; nil when it has none.
func resultUsage(result []byte) *runtime.Usage {
	var m struct {
		Input  *int64 `json:"inputTokens"`
		Output *int64 `json:"outputTokens"`
		Cached *int64 `json:"cachedReadTokens"`
		Total  *int64 `json:"totalTokens"`
	}
	raw := wire.Field(result, "usage")
	if raw == nil {
		raw = wire.Path(result, "_meta", "usage")
	}
	if raw == nil {
		return quotaUsage(result)
	}
	if raw == nil || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	if m.Input == nil && m.Output == nil && m.Cached == nil && m.Total == nil {
		return nil
	}
	return &runtime.Usage{InputTokens: m.Input, OutputTokens: m.Output, CachedTokens: m.Cached, TotalTokens: m.Total}
}

// quotaUsage reads the figures where Gemini has them; nil when it has none.
func quotaUsage(result []byte) *runtime.Usage {
	var m struct {
		Input  *int64 `json:"input_tokens"`
		Output *int64 `json:"output_tokens"`
	}
	raw := wire.Path(result, "_meta", "quota", "token_count")
	if raw == nil || json.Unmarshal(raw, &m) != nil || m.Input == nil && m.Output == nil {
		return nil
	}
	return &runtime.Usage{InputTokens: m.Input, OutputTokens: m.Output}
}
