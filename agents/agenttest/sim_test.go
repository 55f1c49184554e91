package agenttest

import (
	"strings"
	"testing"

	"xmd/runtime"
)

// The scripted agent passes the suite, well-behaved and with the habits of real agents that are no faults.
func TestSim(t *testing.T) {
	for _, target := range []Target{
		Sim(),
		Sim("noise-chunk", "unknown-updates", "late-update=info", "junk", "permission-always-first"),
		Sim("list-page", "replay-after-answer"),
		locking(Sim("lock")),
	} {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			Run(t, target)
		})
	}
}

func locking(t Target) Target {
	t.Store.Locks = true
	return t
}

func TestSimKilled(t *testing.T) { Killed(t, Sim()) }

func TestSimContinues(t *testing.T) { Upgrade(t, Sim(), Sim("version=2.0.0"), Sim("version=later")) }

func TestSimFlights(t *testing.T) {
	for _, target := range []Target{Sim(), Sim("keeps-ends", "noise-chunk")} {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			Flights(t, target)
		})
	}
}

// A history that was summed up is known to be, and so is what is left of it.
func TestSimCompacted(t *testing.T) {
	for fault, want := range map[string]int{"compacted": 0, "compact-keep=1": 1} {
		p := newPlace(t, Sim())
		l := p.start(t)
		id := l.open("").ID
		l.good(tell)
		l.good("Say something else.")
		l.end()
		shortened := simAt(t, p.Place, fault)
		p.reach = &shortened
		l = p.start(t)
		h := l.open(id).History
		if !h.Known || !h.Compacted || h.UserTurns != want || want == 1 && h.Newest[0].Words != runtime.FingerprintOf("Say something else.") {
			t.Errorf("%s: history %+v", fault, h)
		}
		if h := l.good(ask); !strings.Contains(h.answer(), "ZEBRA") {
			t.Errorf("%s: answer %q", fault, h.answer())
		}
	}
}

func TestSimWords(t *testing.T) { Words(t, Sim(), Corpus(t, corpusFile)) }
