package past

import "xmd/runtime"

const (
	// MaxTurns is how many turns of a history are kept.
	MaxTurns = 64
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

// Turn is a user turn of a history.
type Turn struct {
	runtime.PastTurn
	ID    string // of the provider's turn it began; "": none is told
	Shown bool   // its messages are recorded as a client was shown them, not only as the model is given them
}

// Collector collects the user turns of a history as it streams by. It keeps fingerprints, and texts only of the turn that is being read.
// Not safe for concurrent use.
type Collector struct {
	// Unread says that what may be a turn could not be read. The next turn that begins takes it back.
	Unread bool

	forms   *Forms
	turns   []Turn // the newest MaxTurns, oldest first
	count   int
	compact bool

	open  bool   // what comes belongs to the newest turn
	reply text   // of that turn, as a live one would have shown it
	held  string // a piece that is an error's text if nothing of the turn follows

	hearing bool   // a user message is being read
	words   text   // of that message
	userID  string // its message id
}

// New makes a collector of the history of an agent that shows a person's words in these forms, which it keeps.
func New(forms *Forms) Collector { return Collector{forms: forms} }

// User adds a piece of a user message. Pieces of one message follow each other and have one id, if they have any. A piece that is no
// text makes a turn too.
func (h *Collector) User(id, piece string) {
	if !h.hearing || id != "" && h.userID != "" && id != h.userID {
		h.Heard()
		h.hearing = true
	}
	h.userID = id
	h.words.add(piece, maxWords)
}

// Heard takes the user message that was being read as what it is. One that is not the user's own does not end a turn: what the model
// says after it still answers the words before it.
func (h *Collector) Heard() {
	if !h.hearing {
		return
	}
	h.hearing, h.userID = false, ""
	words := h.words.String()
	switch {
	case h.forms.IsSummary(words):
		h.compact = true
	case !h.forms.IsSynthetic(words):
		h.Begin("", h.forms.Unwrap(words))
	}
	h.words.reset()
}

// Begin opens a turn.
func (h *Collector) Begin(id, words string) {
	h.End()
	h.count++
	if len(h.turns) == MaxTurns {
		copy(h.turns, h.turns[1:])
		h.turns = h.turns[:MaxTurns-1]
	}
	h.turns = append(h.turns, Turn{PastTurn: runtime.PastTurn{Words: runtime.FingerprintOf(words)}, ID: id})
	h.open, h.Unread = true, false
}

// Newest is the newest turn; nil: there is none.
func (h *Collector) Newest() *Turn {
	if len(h.turns) == 0 {
		return nil
	}
	return &h.turns[len(h.turns)-1]
}

// Agent adds a piece of an answer, under the rules of a live turn.
func (h *Collector) Agent(piece string) {
	h.Other()
	if BeginsAny(piece, h.forms.ErrorText) {
		h.held = piece
		return
	}
	h.reply.add(piece, runtime.MaxAdopted)
}

// Other is anything else that ends a message: a tool call, a thought, a plan.
func (h *Collector) Other() {
	h.Heard()
	if h.held != "" {
		h.reply.add(h.held, runtime.MaxAdopted)
		h.held = ""
	}
}

// Completed says that the newest turn came to its normal end.
func (h *Collector) Completed() {
	h.Heard()
	if h.open {
		h.Newest().Completed = true
	}
}

// CompletedTurn says the same of the turn that belongs to the provider's turn with that id.
func (h *Collector) CompletedTurn(id string) {
	for i := range h.turns {
		if t := &h.turns[i]; id != "" && t.ID == id {
			t.Completed = true
		}
	}
}

// Compacted says that an earlier part was replaced by a summary.
func (h *Collector) Compacted() { h.compact = true }

// Refill replaces everything before by a summary and what add adds again. A turn that goes on over it keeps its answer.
func (h *Collector) Refill(add func()) {
	var running Turn
	if t := h.Newest(); t != nil {
		running = *t
	}
	answer := h.reply
	h.reply = text{}
	h.Forget()
	h.Compacted()
	add()
	if t := h.Newest(); t != nil && running.Shown && t.ID != "" && t.ID == running.ID {
		t.Shown, t.Completed = true, running.Completed
		h.reply = answer
	}
}

// End ends the newest turn.
func (h *Collector) End() {
	h.Heard()
	if h.open {
		h.Newest().Reply = runtime.FingerprintOf(h.reply.String())
	}
	h.open, h.held = false, ""
	h.reply.reset()
}

// Drop takes the newest n turns back.
func (h *Collector) Drop(n int) {
	h.End()
	n = max(0, min(n, h.count))
	h.count -= n
	h.turns = h.turns[:max(0, len(h.turns)-n)]
}

// Forget drops all turns.
func (h *Collector) Forget() {
	h.End()
	h.count, h.turns = 0, h.turns[:0]
}

// History is what was collected.
func (h *Collector) History(known bool) runtime.History {
	h.Heard()
	got := runtime.History{Known: known, Unread: h.Unread}
	if h.open && !h.reply.over {
		reply := h.reply.String()
		got.LastReply = &reply
	}
	h.End()
	got.UserTurns, got.Compacted = h.count, h.compact
	for _, t := range h.turns {
		got.Newest = append(got.Newest, t.PastTurn)
	}
	return got
}
