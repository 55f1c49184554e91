package runtime

import (
	"iter"
	"slices"
	"time"

	"xmd/runtime/secret"
)

// Handoff renders the earlier part of a Conversation for an agent that has not seen it. Package handoff implements it. Safe for
// concurrent use.
type Handoff interface {
	// Block renders h. It never fails: what cannot be shown is left out and said so in the block.
	Block(h Handover) Handed
}

// Handover is what a block is made of. Read-only.
type Handover struct {
	Reason Reason
	// Entries is what is to be handed over, newest first: no more of it is taken than the block can hold, and it is used once. Newest
	// makes it of a list. Nil: nothing.
	Entries iter.Seq[Entry]
	Count   int // how many Entries has; 0: it is read to its end to count them
	// First is the first request of the whole Conversation, for a block that cannot hold everything; nil: it is the oldest of Entries,
	// which are then read to their end.
	First *Entry
	Now   Standing      // where things stand
	Hide  *secret.Hider // of declared secrets and well-known variables; nil: there are none
}

// Newest is a list that is oldest first, from its end.
func Newest(entries []Entry) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, e := range slices.Backward(entries) {
			if !yield(e) {
				return
			}
		}
	}
}

// Handed is a rendered block.
type Handed struct {
	Text    string // with its frame, at most 60,000 code points
	LeftOut int    // entries that the block does not hold
	Secrets int    // known secrets that were replaced
	UpTo    int    // the number of the newest entry in it; 0: none
}

// Reason says why a prompt of a Conversation does not simply go on in the agent's own provider conversation.
type Reason string

// The reasons. Only ReasonLost says that something is lost.
const (
	ReasonJoined       Reason = "joined"               // the agent never took part
	ReasonMissed       Reason = "missed"               // others answered since
	ReasonTools        Reason = "tools-changed"        // the agent's tools are fixed at the start, and changed
	ReasonInstructions Reason = "instructions-changed" // told anew
	ReasonLost         Reason = "lost"                 // its provider conversation is missing or empty
	ReasonNoLoad       Reason = "no-load"              // the agent cannot load conversations
)

// Entry is one turn in the log of a Conversation: what was asked, what was done, what was answered. It is stored as JSON.
type Entry struct {
	Number    int        `json:"number"` // from 1, in the Conversation
	Agent     string     `json:"agent"`  // as in documents
	Shown     string     `json:"shown"`  // for people
	Run       string     `json:"run,omitempty"`
	Step      string     `json:"step,omitempty"`
	Time      time.Time  `json:"time"`
	Words     string     `json:"words"` // the author's, without a handoff
	Parts     []Part     `json:"parts,omitempty"`
	Outcome   string     `json:"outcome,omitempty"` // done, failed, cancelled, refused; "": its end was not seen
	Failure   string     `json:"failure,omitempty"` // the agent's own message
	Todo      []TodoItem `json:"todo,omitzero"`     // the agent's own list as it was last told; an empty list was emptied
	Questions []Asked    `json:"questions,omitempty"`
}

// Part is one piece of an answer in the order in which it came: text, or an action that began there.
type Part struct {
	Text   string  `json:"text,omitempty"`
	Action *Action `json:"action,omitempty"`
}

// Action is one thing that an agent did.
type Action struct {
	Name    string   `json:"name"`    // uniform: Read Edit Bash Fetch Search, else the agent's own title
	Subject string   `json:"subject"` // path, command, pattern
	Outcome string   `json:"outcome"` // done, failed, not run; "": no end was seen
	Result  string   `json:"result,omitempty"`
	Files   []string `json:"files,omitempty"` // that it changed
}

// Asked is a question that was put to a person in the Conversation.
type Asked struct {
	Question string `json:"question"`
	Answer   string `json:"answer,omitempty"`
	Answered bool   `json:"answered,omitempty"`
}

// Standing is where things stand when a handoff is made.
type Standing struct {
	Todo      []TodoItem // the newest list; items that are done are not told
	Questions []string   // that wait for an answer
	Running   []string   // work that still runs
	Tree      string     // the state of the working tree in a few lines; "": not known
}
