package runtime

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A world is what really happened in a conversation, and what a load shows of it.
type world struct {
	words  []string // all user turns, oldest first
	mine   []bool
	flight int // its place among them; -1: it never arrived
	h      History
	f      Flight
}

// The alphabet: short words that anybody may use, and long ones that nobody else does.
var (
	shortWords = []string{"go on", "yes"}
	longWords  = []string{strings.Repeat("review the implementation ", 2), strings.Repeat("write the missing tests ", 2)}
	theirs     = []string{"no", strings.Repeat("something else entirely ", 2)}
)

func pick(r *rand.Rand, from ...[]string) string {
	all := slices.Concat(from...)
	return all[r.IntN(len(all))]
}

// newWorld makes a world at random; borrow: others may use short words of ours.
func newWorld(r *rand.Rand, borrow bool) *world {
	w := &world{flight: -1}
	words := func() string { return pick(r, shortWords, longWords) }
	others := func() {
		for r.IntN(3) == 0 {
			said := pick(r, theirs)
			if borrow && r.IntN(2) == 0 {
				said = pick(r, shortWords)
			}
			w.add(said, false, "theirs")
		}
	}
	others()
	for range r.IntN(5) {
		said, reply := words(), pick(r, []string{"", "OK", "done"})
		w.add(said, true, reply)
		w.f.Before = append(w.f.Before, KnownTurn{Words: FingerprintOf(said), Reply: FingerprintOf(reply)})
		others()
	}
	flight := words()
	w.f.Words, w.f.FirstEver = FingerprintOf(flight), len(w.f.Before) == 0
	if r.IntN(2) == 0 {
		if !borrow && len(w.words) > 0 && !w.mine[len(w.mine)-1] && r.IntN(2) == 0 {
			w.cutTail() // directly behind our last turn, for once
		}
		w.flight = len(w.words)
		w.add(flight, true, pick(r, []string{"", "begun", "OK"}))
		w.h.Newest[w.flight].Completed = r.IntN(2) == 0
		others()
	}
	w.show(r)
	return w
}

func (w *world) add(words string, mine bool, reply string) {
	w.words, w.mine = append(w.words, words), append(w.mine, mine)
	w.h.Newest = append(w.h.Newest, PastTurn{Words: FingerprintOf(words), Reply: FingerprintOf(reply)})
}

// cutTail takes back what somebody else said last.
func (w *world) cutTail() {
	n := len(w.mine)
	for n > 0 && !w.mine[n-1] {
		n--
	}
	w.words, w.mine, w.h.Newest = w.words[:n], w.mine[:n], w.h.Newest[:n]
}

// show cuts off an earlier part, by a compaction or because only the newest are kept.
func (w *world) show(r *rand.Rand) {
	w.h.Known, w.h.UserTurns = true, len(w.words)
	if n := len(w.words); n > 0 && r.IntN(2) == 0 {
		cut := r.IntN(n)
		w.h.Newest = w.h.Newest[cut:]
		if r.IntN(2) == 0 {
			w.h.Compacted, w.h.UserTurns = true, len(w.h.Newest)
		}
	}
	if len(w.h.Newest) > 0 {
		reply := "the newest reply"
		w.h.LastReply = &reply
	}
}

func (w *world) String() string {
	var b strings.Builder
	for i, said := range w.words {
		mark := " "
		switch {
		case i == w.flight:
			mark = "!"
		case w.mine[i]:
			mark = "*"
		}
		fmt.Fprintf(&b, "%s%.20s; ", mark, said)
	}
	return fmt.Sprintf("%s(%d of %d shown, compacted %v, before %d, %d letters in flight)", b.String(), len(w.h.Newest), w.h.UserTurns, w.h.Compacted, len(w.f.Before), w.f.Words.Letters)
}

// Absent is said only of what never arrived, whatever others said in between, even in our own short words. There is said only of what
// did, unless others used our words.
func TestSettleIsNeverWrong(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	said := map[Fate]int{}
	for range 60_000 {
		borrow := r.IntN(2) == 0
		w := newWorld(r, borrow)
		got := w.f.Settle(w.h)
		said[got]++
		switch got {
		case FateAbsent:
			if w.flight >= 0 {
				t.Fatalf("absent, but it arrived: %v", w)
			}
		case FateCompleted, FateUnfinished:
			if w.flight < 0 && !borrow {
				t.Fatalf("%s, but it never arrived: %v", got, w)
			}
			if got == FateCompleted && !borrow && (w.flight != len(w.words)-1 || !w.h.Newest[len(w.h.Newest)-1].Completed) {
				t.Fatalf("completed, but it is not the newest turn or has no end: %v", w)
			}
		}
	}
	for _, fate := range []Fate{FateAbsent, FateCompleted, FateUnfinished, FateUnknown} {
		if said[fate] < 1500 {
			t.Errorf("%s was said %d times only: the worlds prove little", fate, said[fate])
		}
	}
}

// Where nobody else took part and nothing was cut off, everything is told.
func TestSettleTellsWhatCanBeTold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 15_000 {
		w := &world{flight: -1}
		for range r.IntN(6) {
			said := pick(r, shortWords, longWords)
			w.add(said, true, "OK")
			w.f.Before = append(w.f.Before, KnownTurn{Words: FingerprintOf(said), Reply: FingerprintOf("OK")})
		}
		flight := pick(r, shortWords, longWords)
		w.f.Words, w.f.FirstEver = FingerprintOf(flight), len(w.f.Before) == 0
		want := FateAbsent
		if r.IntN(2) == 0 {
			w.flight, want = len(w.words), FateUnfinished
			w.add(flight, true, "")
			if r.IntN(2) == 0 {
				w.h.Newest[w.flight].Completed, want = true, FateCompleted
			}
		}
		reply := ""
		w.h.Known, w.h.UserTurns, w.h.LastReply = true, len(w.words), &reply
		if got := w.f.Settle(w.h); got != want {
			t.Fatalf("%s, want %s: %v", got, want, w)
		}
	}
}
