package acp

import (
	"strings"

	"xmd/agents/wire"
	"xmd/runtime"
)

const (
	// newestTurns is how many turns of a history are kept.
	newestTurns = 64
	// maxWords bounds the words of one turn; longer ones are a turn that could not be read.
	maxWords = 64 << 20
)

// text gathers a text up to a bound. Of one that is longer nothing is kept.
type text struct {
	b    []byte
	over bool
}

func (t *text) add(s string, bound int) {
	if t.over || len(t.b)+len(s) > bound {
		t.b, t.over = nil, true
		return
	}
	t.b = append(t.b, s...)
}

func (t *text) reset() { t.b, t.over = t.b[:0], false }

func (t *text) String() string { return string(t.b) }

// pastTurn is a user turn of a history.
type pastTurn struct {
	runtime.PastTurn
	id    string // of the provider's turn it began; "": none is told
	shown bool   // its messages are recorded as a client was shown them, not only as the model is given them
}

// past collects the user turns of a history as it streams by. It keeps fingerprints, and texts only of the turn that is being read.
type past struct {
	p       *Profile
	turns   []pastTurn // the newest newestTurns, oldest first
	count   int
	compact bool
	unread  bool // what may be a turn could not be read

	open  bool   // what comes belongs to the newest turn
	reply text   // of that turn, as a live one would have shown it
	held  string // a piece that is an error's text if nothing of the turn follows

	hearing bool   // a user message is being read
	words   text   // of that message
	userID  string // its message id
}

// user adds a piece of a user message. Pieces of one message follow each other and have one id, if they have any. A piece that is no
// text makes a turn too.
func (h *past) user(id, piece string) {
	if !h.hearing || id != "" && h.userID != "" && id != h.userID {
		h.heard()
		h.hearing = true
	}
	h.userID = id
	h.words.add(piece, maxWords)
}

// heard takes the user message that was being read as what it is. One that is not the user's own does not end a turn: what the model
// says after it still answers the words before it.
func (h *past) heard() {
	if !h.hearing {
		return
	}
	h.hearing, h.userID = false, ""
	words := h.words.String()
	switch {
	case h.p.summary(words):
		h.compact = true
	case !h.p.synthetic(words):
		h.begin("", h.p.unwrap(words))
	}
	h.words.reset()
}

// begin opens a turn.
func (h *past) begin(id, words string) {
	h.end()
	h.count++
	if len(h.turns) == newestTurns {
		copy(h.turns, h.turns[1:])
		h.turns = h.turns[:newestTurns-1]
	}
	h.turns = append(h.turns, pastTurn{PastTurn: runtime.PastTurn{Words: runtime.FingerprintOf(words)}, id: id})
	h.open, h.unread = true, false
}

// newest is the newest turn; nil: there is none.
func (h *past) newest() *pastTurn {
	if len(h.turns) == 0 {
		return nil
	}
	return &h.turns[len(h.turns)-1]
}

// agent adds a piece of an answer, under the rules of a live turn.
func (h *past) agent(piece string) {
	h.other()
	if beginsAny(piece, h.p.ErrorText) {
		h.held = piece
		return
	}
	h.reply.add(piece, runtime.MaxAdopted)
}

// other is anything else that ends a message: a tool call, a thought, a plan.
func (h *past) other() {
	h.heard()
	if h.held != "" {
		h.reply.add(h.held, runtime.MaxAdopted)
		h.held = ""
	}
}

// completed says that the newest turn came to its normal end.
func (h *past) completed() {
	h.heard()
	if h.open {
		h.newest().Completed = true
	}
}

// compacted says that everything before was replaced by a summary; what of it is left is added again by the caller.
func (h *past) compacted() { h.compact = true }

// end ends the newest turn.
func (h *past) end() {
	h.heard()
	if h.open {
		h.newest().Reply = runtime.FingerprintOf(h.reply.String())
	}
	h.open, h.held = false, ""
	h.reply.reset()
}

// drop takes the newest n turns back.
func (h *past) drop(n int) {
	h.end()
	n = max(0, min(n, h.count))
	h.count -= n
	h.turns = h.turns[:max(0, len(h.turns)-n)]
}

// forget drops all turns.
func (h *past) forget() {
	h.end()
	h.count, h.turns = 0, h.turns[:0]
}

// history is what was collected.
func (h *past) history(known bool) runtime.History {
	h.heard()
	got := runtime.History{Known: known, Unread: h.unread}
	if h.open && !h.reply.over {
		reply := h.reply.String()
		got.LastReply = &reply
	}
	h.end()
	got.UserTurns, got.Compacted = h.count, h.compact
	for _, t := range h.turns {
		got.Newest = append(got.Newest, t.PastTurn)
	}
	return got
}

// replayed takes one session/update between a load and its fence.
func (h *past) replayed(u *update) {
	switch {
	case wire.Is(u.kind, "user_message_chunk"):
		piece, _ := contentText(u.content)
		id, _ := wire.String(u.messageID)
		h.user(id, piece)
	case wire.Is(u.kind, "agent_message_chunk"):
		h.message(u)
	case wire.Is(u.kind, "agent_thought_chunk"), wire.Is(u.kind, "plan"):
		h.other()
	case wire.Is(u.kind, "tool_call"), wire.Is(u.kind, "tool_call_update"):
		h.other()
		if h.p.CompactTitle != "" && wire.Is(wire.Field(u.raw, "title"), h.p.CompactTitle) {
			h.compacted()
		}
	case wire.Is(u.kind, "compaction_update"):
		h.other()
		h.compacted()
	}
	if h.p.CompletedMark != "" && string(wire.Path(u.raw, "_meta", h.p.CompletedMark)) == "true" {
		h.completed()
	}
}

// message takes a piece of an answer, or what an adapter says in between.
func (h *past) message(u *update) {
	h.heard()
	if u.messageID == nil && h.p.NoticeWithoutID {
		return
	}
	if piece, _ := contentText(u.content); piece != "" {
		h.agent(piece)
	}
}

// asShown gives a recorded history the newest reply as a client was shown it, where the agent rewrites it on the way: from the replay
// of that turn, or not at all.
func (p Profile) asShown(recorded, replay runtime.History) runtime.History {
	n, m := len(recorded.Newest)-1, len(replay.Newest)-1
	if recorded.LastReply == nil || p.Rewritten == "" || !strings.Contains(*recorded.LastReply, p.Rewritten) {
		return recorded
	}
	recorded.LastReply = nil
	if m >= 0 && replay.LastReply != nil && replay.Newest[m].Words == recorded.Newest[n].Words {
		recorded.LastReply = replay.LastReply
		recorded.Newest[n].Reply = replay.Newest[m].Reply
	}
	return recorded
}
