package agenttest

import (
	"strings"
	"testing"
	"time"

	"xmd/runtime"
)

// told makes a conversation with the codeword and ends its process.
func (p *place) told(t testing.TB) string {
	t.Helper()
	l := p.start(t)
	id := l.open("").ID
	l.good(p.target.Script.Tell)
	l.end()
	p.none(t)
	return id
}

// continuity loads in a new process, twice: the second one must also find what the first one added.
func continuity(t *testing.T, target Target) {
	claim(t, target, colLoad)
	p := newPlace(t, target)
	id := p.told(t)
	for turns := 1; turns <= 2; turns++ {
		p.continues(t, id, turns)
	}
}

// continues is one further process of a conversation with so many turns.
func (p *place) continues(t testing.TB, id string, turns int) {
	t.Helper()
	s := p.target.Script
	l := p.start(t)
	o := l.open(id)
	l.confirms(o, id)
	if !o.History.Known || o.History.UserTurns != turns {
		t.Errorf("history known: %v, %d user turns; want %d", o.History.Known, o.History.UserTurns, turns)
	}
	l.finds(o, s.Tell, s.Told)
	h := l.good(s.Ask)
	if !strings.Contains(h.answer(), s.Knows) {
		t.Errorf("answer %q, want %q", h.answer(), s.Knows)
	}
	if h.SessionID != "" && h.SessionID != id {
		t.Errorf("the provider states the id %q in the turn, want %q", h.SessionID, id)
	}
	l.end()
	p.none(t)
}

// confirms checks that something other than an echo says which conversation was loaded.
func (l *line) confirms(o runtime.Opened, id string) {
	l.t.Helper()
	if o.ID != id {
		l.t.Errorf("opened %q, want %q", o.ID, id)
	}
	if o.Asserted != "" && o.Asserted != id {
		l.t.Errorf("the provider asserts %q, want %q", o.Asserted, id)
	}
	listed := l.info.ConfirmList && o.Listed == runtime.ListNames
	if o.Asserted == "" && !listed && !l.info.ConfirmLoad {
		l.t.Errorf("nothing confirms the id: %+v", o)
	}
}

// finds looks for a turn of ours in a history.
func (l *line) finds(o runtime.Opened, words, reply string) {
	l.t.Helper()
	for _, turn := range o.History.Newest {
		if turn.Words != runtime.FingerprintOf(words) {
			continue
		}
		if turn.Reply != runtime.FingerprintOf(reply) {
			l.t.Errorf("the turn %.40q is there without the reply %.40q", words, reply)
		}
		return
	}
	l.t.Errorf("the turn %.40q is not among the %d newest of the history", words, len(o.History.Newest))
}

// missing is a conversation that never was, and one that had no turn.
func missing(t *testing.T, target Target) {
	claim(t, target, colMissing)
	p := newPlace(t, target)
	l := p.start(t)
	id := l.open("").ID
	if target.Store.Unknown != "" {
		p.start(t).openError(target.Store.Unknown, runtime.KindMissing)
	}
	l.end()
	if !target.Store.Durable {
		p.start(t).openError(id, runtime.KindMissing)
	}
}

func removed(t *testing.T, target Target) {
	claim(t, target, colMissing)
	if target.Store.Remove == nil {
		NotRun(t, "the target's store cannot be changed")
	}
	p := newPlace(t, target)
	id := p.told(t)
	target.Store.Remove(t, p.Place, id)
	p.start(t).openError(id, runtime.KindMissing)
}

// emptied is the trap that the whole proof is about: the id is right and the model knows nothing.
func emptied(t *testing.T, target Target) {
	claim(t, target, colDamaged)
	if target.Store.Empty == nil {
		NotRun(t, "the target's store cannot be emptied")
	}
	p, s := newPlace(t, target), target.Script
	id := p.told(t)
	p.reach = target.Store.Empty(t, p.Place, id)
	l := p.start(t)
	o := l.open(id)
	if !o.History.Known || o.History.UserTurns != 0 || o.History.Compacted {
		t.Errorf("history %+v, want a known one without turns", o.History)
	}
	differs(t, "an emptied conversation loads, and is seen to be empty")
	// What the runtime must never do, to see that the codeword is no accident.
	if h := l.good(s.Ask); strings.Contains(h.answer(), s.Knows) {
		t.Errorf("the emptied conversation answers %q: the codeword proves nothing", h.answer())
	}
}

func swapped(t *testing.T, target Target) {
	claim(t, target, colDamaged)
	if target.Store.Swap == nil {
		NotRun(t, "the target's store cannot be changed")
	}
	p := newPlace(t, target)
	id := p.told(t)
	p.reach = target.Store.Swap(t, p.Place, id)
	l := p.start(t)
	ctx, stop := limit(t)
	defer stop()
	o, err := l.Open(ctx, id)
	switch target.Store.Swapped {
	case SwapListed:
		if err != nil || o.Listed != runtime.ListNames {
			t.Errorf("opened %+v, %v; want one that the list names", o, err)
		}
		differs(t, "it goes by the file's name: another id inside is loaded")
	case SwapOmitted:
		if err != nil || o.Asserted != "" || o.Listed != runtime.ListOmits {
			t.Errorf("opened %+v, %v; want one that the list does not name", o, err)
		}
		if !l.showed(`"result"`, `"_meta"`, `"sessionId":"`+id+`"`) {
			t.Error("its answer to the load does not repeat the id: it would be evidence")
		}
		differs(t, "another id in the files is loaded, and only its list names the other one")
	default:
		if err == nil && (o.Asserted == "" || o.Asserted == id) {
			t.Errorf("opened %+v; want a failure or the other id asserted", o)
		}
		if err != nil && runtime.KindOf(err) == runtime.KindMissing {
			t.Errorf("%v: a swapped conversation is not missing", err)
		}
	}
}

// busyLimit is how long the suite waits for a conversation that it holds itself; a driver may wait for it longer.
const busyLimit = 5 * time.Second

func busy(t *testing.T, target Target) {
	if !target.Store.Locks {
		t.Skip("the provider locks nothing")
	}
	p := newPlace(t, target)
	l := p.start(t)
	id := l.open("").ID
	l.good(target.Script.Tell)
	other := p.start(t)
	other.openErrorWithin(busyLimit, id, runtime.KindBusy)
	l.end()
	if h := p.loaded(t, id).good(target.Script.Ask); !strings.Contains(h.answer(), target.Script.Knows) {
		t.Errorf("after the lock: %q, want %q", h.answer(), target.Script.Knows)
	}
}

func (p *place) loaded(t testing.TB, id string) *line {
	t.Helper()
	l := p.start(t)
	l.open(id)
	return l
}
