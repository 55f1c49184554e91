package runtime

import "fmt"

// Identity says what confirmed which provider conversation was loaded.
type Identity string

// HistoryState says whether our accepted turns are in a loaded conversation. It is evidence, no proof.
type HistoryState string

const (
	IdentityNew      Identity = "new"      // made in this run
	IdentityAsserted Identity = "asserted" // the provider stated the id by itself
	IdentityListed   Identity = "listed"   // the provider's own list names it
	IdentityLoaded   Identity = "loaded"   // the agent compares the id while loading
	IdentityHistory  Identity = "history"  // our turns are in it

	HistoryNone        HistoryState = "none" // no turn of ours to look for
	HistoryConfirmed   HistoryState = "confirmed"
	HistoryShortened   HistoryState = "shortened"
	HistoryUnconfirmed HistoryState = "unconfirmed"
)

// minLetters is how many letters and digits make a single match count by itself.
const minLetters = 20

// KnownTurn is one of our own turns of a session, as the store keeps it.
type KnownTurn struct {
	Words, Reply Fingerprint
}

// judge decides whether the conversation that came back is the one asked for. known are our accepted turns, oldest first.
// The error is an *Error of kind mismatch, empty or unasserted, without names; the caller adds them.
func judge(info AgentInfo, id string, got Opened, known []KnownTurn) (Identity, HistoryState, *Error) {
	if got.Asserted != "" && got.Asserted != id {
		return "", "", Errorf(KindMismatch, "the agent answered with another conversation (%s) than the one asked for (%s)", got.Asserted, id)
	}
	state := matchHistory(got.History, known)
	if len(known) > 0 && got.History.Known && got.History.UserTurns == 0 && !got.History.Compacted {
		return "", "", Errorf(KindEmpty, "the conversation %s was loaded, but nothing of it is left: %d accepted turns are missing from it", id, len(known))
	}
	identity := identityOf(info, id, got, state)
	if identity == "" {
		return "", "", Errorf(KindUnasserted, "nothing but an echo of the request confirms that conversation %s was loaded", id)
	}
	return identity, state, nil
}

func identityOf(info AgentInfo, id string, got Opened, state HistoryState) Identity {
	switch {
	case got.Asserted == id:
		return IdentityAsserted
	case info.ConfirmList && got.Listed == ListNames:
		return IdentityListed
	case info.ConfirmLoad:
		return IdentityLoaded
	case state == HistoryConfirmed && !info.ListOnly:
		// Also where the list omits the id: what it leaves out (another folder, an older one) proves nothing, and our newest turn is there.
		return IdentityHistory
	}
	return ""
}

// matchHistory looks for our turns in the newest turns of a history.
func matchHistory(h History, known []KnownTurn) HistoryState {
	if len(known) == 0 {
		return HistoryNone
	}
	if !h.Known {
		return HistoryUnconfirmed
	}
	last := len(known) - 1
	if found(h, known, last) {
		return HistoryConfirmed
	}
	for i := range known[:last] {
		if found(h, known, i) {
			return HistoryShortened
		}
	}
	return HistoryUnconfirmed
}

// found says whether our turn i counts as found: long enough words or reply, or the turn before it matches as well, or it is the newest
// user turn of the history. Of turns that are alike, a history that is whole must hold as many as we had up to this one: else it is
// an earlier one that is there.
func found(h History, known []KnownTurn, i int) bool {
	k, past := known[i], h.Newest
	byReply := k.Reply.Letters >= minLetters && !fewer(h, known[:i+1], replyOf)
	byWords := !fewer(h, known[:i+1], wordsOf)
	for j := range past {
		if byReply && matches(past[j].Reply, k.Reply) {
			return true
		}
		if !byWords || !matches(past[j].Words, k.Words) {
			continue
		}
		switch {
		case k.Words.Letters >= minLetters, j == len(past)-1:
			return true
		case i > 0 && j > 0 && matches(past[j-1].Words, known[i-1].Words):
			return true
		}
	}
	return false
}

// side is the words or the reply of a turn.
type side func(words, reply Fingerprint) Fingerprint

func wordsOf(words, _ Fingerprint) Fingerprint { return words }
func replyOf(_, reply Fingerprint) Fingerprint { return reply }

// fewer says whether a whole history holds fewer turns like the last of the known ones than these are. A turn that could not be read
// may be any.
func fewer(h History, known []KnownTurn, of side) bool {
	if !whole(h) {
		return false
	}
	last := known[len(known)-1]
	want := of(last.Words, last.Reply)
	n := 0
	for _, k := range known {
		if matches(of(k.Words, k.Reply), want) {
			n++
		}
	}
	for _, t := range h.Newest {
		if t.Words.Digest == "" || matches(of(t.Words, t.Reply), want) {
			n--
		}
	}
	return n > 0
}

// whole says whether every user turn of a conversation is before us.
func whole(h History) bool { return !h.Compacted && h.UserTurns == len(h.Newest) }

func matches(a, b Fingerprint) bool { return a.Digest != "" && a.Digest == b.Digest }

// String is for messages.
func (h HistoryState) String() string { return string(h) }

// historyNote is the one line said when a history could not be confirmed; "" otherwise.
func historyNote(shown, session string, h HistoryState) string {
	switch h {
	case HistoryShortened:
		return fmt.Sprintf("The newest turns of session %q were not found in %s's conversation; earlier ones were. Continuing.", session, shown)
	case HistoryUnconfirmed:
		return fmt.Sprintf("None of the recorded turns of session %q was found in what %s shows of its conversation (usual after it compacted it). Continuing.", session, shown)
	}
	return ""
}
