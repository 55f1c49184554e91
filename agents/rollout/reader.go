package rollout

import (
	"encoding/json"
	"strings"

	"xmd/agents/past"
	"xmd/agents/wire"
)

// reader takes the records of one rollout, in order.
type reader struct {
	past    past.Collector
	id      string
	records int  // parsed ones
	strange bool // one of a type that is not known was among them

	// The turn of Codex's that runs, and the person's messages in it: as the model is given them, and as a client is shown them. Each
	// message is recorded both ways, in this order in the builds that were run, so a turn begins with the first of the two.
	turn         string
	given, shown int
}

var recordMembers = []string{"type", "payload"}

func (r *reader) record(line []byte) {
	var m [2][]byte
	if !wire.Pick(line, recordMembers, m[:]) {
		return
	}
	r.records++
	kind, payload := m[0], m[1]
	switch {
	case wire.Is(kind, "session_meta"):
		if r.records == 1 {
			r.id, _ = wire.String(wire.Field(payload, "id"))
		}
	case wire.Is(kind, "response_item"):
		r.item(payload)
	case wire.Is(kind, "compacted"):
		r.compacted(payload)
	case wire.Is(kind, "event_msg"):
		r.event(payload)
	case wire.Is(kind, "turn_context"):
		r.enter(wire.Field(payload, "turn_id"))
	case wire.Is(kind, "world_state"), wire.Is(kind, "token_usage_record"):
	default:
		r.strange, r.past.Unread = true, true
	}
}

// enter notes which turn runs.
func (r *reader) enter(id []byte) {
	if id, ok := wire.String(id); ok && id != "" && id != r.turn {
		r.turn, r.given, r.shown = id, 0, 0
	}
}

var itemMembers = []string{"type", "role", "content", "internal_chat_message_metadata_passthrough"}

// item takes one message, call or result of the model's history.
func (r *reader) item(payload []byte) {
	var m [4][]byte
	if !wire.Pick(payload, itemMembers, m[:]) || !wire.Is(m[0], "message") {
		return
	}
	switch {
	case wire.Is(m[1], "user"):
		if words, own := r.words(m[2], wire.Field(m[3], "content_item_kinds")); own {
			r.enter(wire.Field(m[3], "turn_id"))
			if r.given++; r.given > r.shown {
				r.past.Begin(r.turn, words)
			}
		}
	case wire.Is(m[1], "assistant"):
		if t := r.answered(wire.Field(m[3], "turn_id")); t != nil && !t.Shown {
			r.answer(m[2])
		}
	}
}

// words are a user message's own. Newer builds say of each part where it comes from; of others only its form tells whether Codex put
// it there.
func (r *reader) words(content, kinds []byte) (words string, own bool) {
	var from [][]byte
	for k := range wire.Elements(kinds) {
		from = append(from, k)
	}
	i := -1
	var b strings.Builder
	for part := range wire.Elements(content) {
		i++
		if i < len(from) && !isUsers(from[i]) {
			continue
		}
		text, _ := wire.String(wire.Field(part, "text"))
		if len(from) == 0 && Forms.IsSynthetic(text) {
			continue
		}
		own = true
		b.WriteString(text)
	}
	return b.String(), own
}

// isUsers says whether a part of that kind is the person's own words or image.
func isUsers(kind []byte) bool {
	text, _ := wire.String(kind)
	return text == "user.text" || strings.HasPrefix(text, "user.image") || strings.HasPrefix(text, "user.audio")
}

// answered is the newest turn if what happens in the turn with that id answers it.
func (r *reader) answered(id []byte) *past.Turn {
	t := r.past.Newest()
	if s, ok := wire.String(id); t == nil || ok && s != "" && t.ID != "" && s != t.ID {
		return nil
	}
	return t
}

// answer adds the text parts of a message.
func (r *reader) answer(content []byte) {
	for part := range wire.Elements(content) {
		if text, ok := wire.String(wire.Field(part, "text")); ok {
			r.past.Agent(text)
		}
	}
}

// event takes what a client is told.
func (r *reader) event(payload []byte) {
	switch kind := wire.Field(payload, "type"); {
	case wire.Is(kind, "task_started"):
		r.enter(wire.Field(payload, "turn_id"))
	case wire.Is(kind, "item_completed"):
		r.completed(wire.Field(payload, "item"), wire.Field(payload, "turn_id"))
	case wire.Is(kind, "task_complete"):
		failure := wire.Field(payload, "error")
		r.ended(wire.Field(payload, "turn_id"), failure == nil || string(failure) == "null")
	case wire.Is(kind, "turn_aborted"):
		r.ended(nil, false)
	case wire.Is(kind, "thread_rolled_back"):
		r.rolledBack(payload)
	}
}

// completed takes one item as a client was shown it.
func (r *reader) completed(item, turn []byte) {
	switch kind := wire.Field(item, "type"); {
	case wire.Is(kind, "UserMessage"):
		r.enter(turn)
		if r.shown++; r.shown > r.given {
			var words strings.Builder
			for part := range wire.Elements(wire.Field(item, "content")) {
				text, _ := wire.String(wire.Field(part, "text"))
				words.WriteString(text)
			}
			r.past.Begin(r.turn, words.String())
		}
		if t := r.past.Newest(); t != nil { // rolled back: none
			t.Shown = true
		}
	case wire.Is(kind, "AgentMessage"):
		if t := r.answered(turn); t != nil && t.Shown {
			r.answer(wire.Field(item, "content"))
		}
	}
}

// ended says that a turn of Codex's is over, and whether it came to its normal end.
func (r *reader) ended(id []byte, well bool) {
	r.past.Unread = false
	turn, _ := wire.String(id)
	if well {
		r.past.CompletedTurn(turn)
	}
}

// compacted starts the history anew from what was kept. A turn that goes on over it keeps its answer.
func (r *reader) compacted(payload []byte) {
	r.past.Refill(func() {
		for item := range wire.Elements(wire.Field(payload, "replacement_history")) {
			r.item(item)
		}
	})
}

func (r *reader) rolledBack(payload []byte) {
	r.past.End()
	var n int
	if json.Unmarshal(wire.Field(payload, "num_turns"), &n) == nil {
		r.past.Drop(n)
	}
}

// result judges what was read: without a first record that names the conversation, or without any turn but with records
// of an unknown type, the form is not known; an emptied file is known to be empty.
func (r *reader) result() Found {
	h := r.past.History(r.id != "")
	if h.UserTurns == 0 && !h.Compacted && r.strange {
		h.Known = false
	}
	return Found{ID: r.id, History: h}
}
