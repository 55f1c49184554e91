package acp

import (
	"strings"

	"xmd/agents/wire"
	"xmd/runtime"
)

// newestTurns is how many turns of a history are kept.
const newestTurns = 64

// past collects the user turns of a history as it streams by; it keeps fingerprints, and the texts only of the turn that
// is being read.
type past struct {
	p        *Profile
	turns    []runtime.PastTurn // ring: the newest newestTurns
	count    int
	compact  bool
	inTurn   bool            // a user turn has begun
	unknown  bool            // the turn has a part that is no text
	words    strings.Builder // of the turn being read
	reply    strings.Builder
	userID   string // message id of the user chunks being joined
	lastRole byte   // 'u' user, 'a' agent, 0 anything else
}

// user adds a piece of a user message. Pieces of one message follow each other and have one id, if they have any.
func (h *past) user(id, text string) {
	if h.lastRole != 'u' || id != "" && h.userID != "" && id != h.userID {
		h.end()
		h.inTurn = true
	}
	h.lastRole, h.userID = 'u', id
	if text == "" {
		h.unknown = true
	}
	h.words.WriteString(text)
}

// agent adds a piece of an answer.
func (h *past) agent(text string) {
	h.lastRole = 'a'
	if h.inTurn {
		h.reply.WriteString(text)
	}
}

// other is anything else that ends a message: a tool call, a plan.
func (h *past) other() { h.lastRole = 0 }

// compacted says that everything before was replaced by a summary; what of it is left is added again by the caller.
func (h *past) compacted() { h.compact = true }

// end closes the turn being read.
func (h *past) end() {
	if !h.inTurn {
		return
	}
	text := h.p.unwrap(h.words.String())
	switch {
	case h.p.Summary != "" && strings.HasPrefix(strings.TrimSpace(text), h.p.Summary):
		h.compact = true
	case h.p.synthetic(text):
	case h.words.Len() == 0 && !h.unknown:
	default:
		h.add(runtime.PastTurn{Words: runtime.FingerprintOf(text), Reply: runtime.FingerprintOf(h.reply.String())})
	}
	h.inTurn, h.unknown, h.userID = false, false, ""
	h.words.Reset()
	h.reply.Reset()
}

func (h *past) add(t runtime.PastTurn) {
	h.count++
	if len(h.turns) == newestTurns {
		copy(h.turns, h.turns[1:])
		h.turns[newestTurns-1] = t
		return
	}
	h.turns = append(h.turns, t)
}

// drop takes the newest n turns back.
func (h *past) drop(n int) {
	n = max(0, min(n, h.count))
	h.count -= n
	h.turns = h.turns[:max(0, len(h.turns)-n)]
}

// forget drops all turns.
func (h *past) forget() {
	h.end()
	h.count, h.turns, h.lastRole = 0, h.turns[:0], 0
}

// history is what was collected. A history in which nothing was understood is unknown, not empty.
func (h *past) history(known bool) runtime.History {
	h.end()
	return runtime.History{Known: known, UserTurns: h.count, Compacted: h.compact, Newest: h.turns}
}

// replayed takes one session/update between a load and its fence.
func (h *past) replayed(u *update) {
	switch {
	case wire.Is(u.kind, "user_message_chunk"):
		text, _ := contentText(u.content)
		id, _ := wire.String(u.messageID)
		h.user(id, text)
	case wire.Is(u.kind, "agent_message_chunk"):
		if u.messageID == nil && h.p.NoticeWithoutID {
			h.other()
			return
		}
		if text, _ := contentText(u.content); text != "" {
			h.agent(text)
		}
	case wire.Is(u.kind, "tool_call"), wire.Is(u.kind, "tool_call_update"):
		h.other()
		if h.p.CompactTitle != "" && wire.Is(wire.Field(u.raw, "title"), h.p.CompactTitle) {
			h.compacted()
		}
	case wire.Is(u.kind, "compaction_update"):
		h.other()
		h.compacted()
	case wire.Is(u.kind, "plan"):
		h.other()
	}
}
