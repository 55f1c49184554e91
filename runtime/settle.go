package runtime

// Flight is a prompt that was sent and has no end on record.
type Flight struct {
	Words  Fingerprint
	Before []KnownTurn // our turns with a result before it, oldest first, up to 64 of the newest; failed ones that were accepted too
	// FirstEver says that no turn of ours was ever accepted in this conversation before.
	FirstEver bool
	// Accepted says that the agent had begun to answer it, by our own record. Then it is never absent: not every provider has the words
	// in its files by then, and whatever the agent did meanwhile is done.
	Accepted bool
}

// Fate is what a loaded history shows of a prompt in flight.
type Fate string

// The four fates.
const (
	FateAbsent     Fate = "absent"     // it never arrived: it may be sent, once
	FateCompleted  Fate = "completed"  // it is there, and the provider recorded its normal end: History.LastReply may be adopted
	FateUnfinished Fate = "unfinished" // it is there, without a recorded end or without a reply that could be adopted
	FateUnknown    Fate = "unknown"    // it cannot be told
)

// Settle says what a loaded history shows of the prompt. It is a pure function of both.
func (f Flight) Settle(h History) Fate { return settleFlight(h, f) }

// Recogniser is a Connection that knows which words its agent's history may not show as the user turn they were: a command of the
// agent's own, say. Every other Connection's history is taken to show them all.
type Recogniser interface {
	Recognises(words string) bool
}

// flightWords is what to look for in the history of c for these words; the zero value when they could not be recognised there, which
// no history settles.
func flightWords(c Connection, words string) Fingerprint {
	if r, ok := c.(Recogniser); ok && !r.Recognises(words) {
		return Fingerprint{}
	}
	return FingerprintOf(words)
}

// settleFlight decides by the user turn after our last turn with a result. A second send must be impossible and a wrong adoption
// nearly so, hence the two ways of counting with somebody else's turns: what says "absent" must hold even if others used our short
// words, what says "there" only if they did not use ours at all.
func settleFlight(h History, f Flight) Fate {
	if !h.Known || f.Words.Digest == "" || len(f.Before) == 0 && !(f.FirstEver && whole(h)) {
		return FateUnknown
	}
	s := sighting{History: h, Flight: f}
	for _, k := range f.Before {
		s.ours = append(s.ours, k.Words)
	}
	s.ours = append(s.ours, f.Words)
	at, there := s.there()
	switch {
	case there && at == len(h.Newest)-1 && h.Newest[at].Completed && h.LastReply != nil:
		return FateCompleted
	case there:
		return FateUnfinished
	case !f.Accepted && s.absent():
		return FateAbsent
	}
	return FateUnknown
}

// sighting is a history in which a prompt in flight is looked for.
type sighting struct {
	History
	Flight
	ours []Fingerprint // the words of the turns before it, then its own
}

// before are the words of our turns with a result.
func (s *sighting) before() []Fingerprint { return s.ours[:len(s.ours)-1] }

// last is our last turn with a result.
func (s *sighting) last() KnownTurn { return s.Before[len(s.Before)-1] }

// there finds the prompt: directly behind our last turn, where nothing else can be meant.
func (s *sighting) there() (at int, ok bool) {
	if len(s.Before) == 0 {
		return 0, len(s.Newest) > 0 && matches(s.Newest[0].Words, s.Flight.Words)
	}
	at = s.newestOurs()
	if at < 1 || !matches(s.Newest[at].Words, s.Flight.Words) || !matches(s.Newest[at-1].Words, s.last().Words) {
		return 0, false
	}
	return at, s.sole() || s.explained(s.ours, false) && !s.explained(s.before(), false)
}

// sole says whether there is only one turn that our last one can be.
func (s *sighting) sole() bool {
	last := s.last().Words
	n := 0
	for _, t := range s.Newest {
		if matches(t.Words, last) {
			n++
		}
	}
	for _, w := range s.ours {
		if matches(w, last) {
			n++
		}
	}
	return n == 2 // there, and here
}

// absent says whether our last turn is the newest of the history and the prompt is surely not among the turns up to it.
func (s *sighting) absent() bool {
	n := len(s.Newest)
	if s.Unread {
		return false
	}
	if len(s.Before) == 0 {
		return n == 0
	}
	last := s.last()
	if n == 0 || !matches(s.Newest[n-1].Words, last.Words) || matchHistory(s.History, s.Before) != HistoryConfirmed {
		return false
	}
	if matches(last.Words, s.Flight.Words) && last.Reply.Digest != "" && !matches(s.Newest[n-1].Reply, last.Reply) {
		return false // the same words, but not with the answer our last turn got
	}
	sure := s.sole() && !s.foreign(last.Words, true)
	return sure || s.nowhere() || s.explained(s.before(), true) && !s.explained(s.ours, true)
}

// nowhere says whether the words are in no turn, in a history that would show them: it is whole, or begins no later than with a turn
// that can only be ours.
func (s *sighting) nowhere() bool {
	ours := whole(s.History)
	for _, t := range s.Newest {
		if t.Words.Digest == "" || matches(t.Words, s.Flight.Words) {
			return false
		}
		ours = ours || !s.foreign(t.Words, true)
	}
	return ours
}

// explained says whether the history can be what is shown of these turns of ours, all of them if it is whole and else the end of
// them, in order, with turns of somebody else between them.
func (s *sighting) explained(ours []Fingerprint, loose bool) bool {
	// at[k]: the turns read so far can hold, or come after, the first k of ours.
	at := make([]bool, len(ours)+1)
	for k := range at {
		at[k] = k == 0 || !whole(s.History)
	}
	for _, t := range s.Newest {
		next := make([]bool, len(at))
		foreign := s.foreign(t.Words, loose)
		for k, reached := range at {
			if reached && foreign {
				next[k] = true
			}
			if reached && k < len(ours) && (t.Words.Digest == "" || matches(t.Words, ours[k])) {
				next[k+1] = true
			}
		}
		at = next
	}
	return at[len(ours)]
}

// foreign says whether a turn can be somebody else's. loose: others may have used our words where these are short.
func (s *sighting) foreign(words Fingerprint, loose bool) bool {
	if loose && words.Letters < minLetters {
		return true
	}
	for _, w := range s.ours {
		if matches(w, words) {
			return false
		}
	}
	return true
}

// newestOurs is the newest turn with words of ours; -1: none.
func (s *sighting) newestOurs() int {
	for i := len(s.Newest) - 1; i >= 0; i-- {
		if !s.foreign(s.Newest[i].Words, false) {
			return i
		}
	}
	return -1
}
