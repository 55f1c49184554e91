package agenttest

import (
	"fmt"
	"sync"
	"testing"

	"xmd/agents/agenttest/model"
	"xmd/runtime"
)

// The agents whose turns are cut off: what they keep of a prompt differs by agent, not by build.
var flying = []struct {
	agent, over, version string
	target               func(string) Target
}{
	{"Codex", overCodex, "0.153.2", Codex},
	{"Codex", overCodex, "0.171.0", Codex},
	{"Claude", overClaude, "2.1.332", Claude},
}

// eachFlying runs a test for each of them and records it.
func eachFlying(t *testing.T, shown string, test func(t *testing.T, target Target)) {
	t.Helper()
	Wanted(t)
	for _, c := range flying {
		t.Run(c.agent+"/"+c.version, func(t *testing.T) {
			Record(t, Evidence{Agent: c.agent, Versions: c.version, Over: c.over, Shown: shown})
			ready(t, c.target(c.version))
			test(t, c.target(c.version))
		})
	}
}

func TestRealFlights(t *testing.T) {
	eachFlying(t, "what a load shows of a prompt that was in flight when everything was killed", Flights)
}

const corpusFile = "../../runtime/testdata/history/prompts.json"

func TestRealWords(t *testing.T) {
	eachFlying(t, "hostile prompts are found again in the history", func(t *testing.T, target Target) {
		Words(t, target, Corpus(t, corpusFile))
	})
}

// When the first update counts as acceptance the provider's file has the words, or gets them a moment later.
func TestRealAcceptance(t *testing.T) {
	eachFlying(t, "the provider's file has the words when they count as accepted, Claude's a moment later", acceptance)
}

func acceptance(t *testing.T, target Target) {
	looked(t, target)
	p := newPlace(t, target)
	l := p.start(t)
	id := l.open("").ID
	late := 0
	for i := range 10 {
		words := fmt.Sprintf("This is prompt number %d of ten.", i)
		holds := func() bool { return p.inFile(id, words) > 0 }
		var once sync.Once
		held := false
		ctx, stop := limit(t)
		_, err := l.Prompt(ctx, runtime.Turn{Words: words, Ask: allow, Sink: func(u runtime.Update) {
			if u.Accepts {
				once.Do(func() { held = holds() })
			}
		}})
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if !held {
			late++
		}
		within(t, "the words in the file", holds)
	}
	if late > 0 && !target.Store.Late {
		t.Errorf("of 10 prompts %d were not in the file when they were accepted", late)
	}
	t.Logf("of 10 prompts %d were not in the file when they were accepted", late)
}

// The model was asked and has said nothing: nothing is accepted. The history shows the words exactly if the file has them.
func TestRealModelReached(t *testing.T) {
	eachFlying(t, "what a load shows of a prompt whose model was asked when everything was killed", func(t *testing.T, target Target) {
		server, err := model.Start()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		target.Model = func(testing.TB) string { return server.URL() }
		want := []runtime.Fate{runtime.FateUnfinished}
		if target.Store.Late {
			want = append(want, runtime.FateAbsent)
		}
		inFlight(t, target, func(f *flight) { f.asked(server) }, want...)
	})
}

// asked kills when the model has got the words.
func (f *flight) asked(server *model.Server) {
	f.t.Helper()
	before := len(server.Requests())
	done := f.send("Please say nothing at all now.\nHANG", func(runtime.Update) {})
	ctx, stop := limit(f.t)
	defer stop()
	if _, err := server.Await(ctx, before+1); err != nil {
		f.t.Fatal(err)
	}
	f.kill()
	f.t.Logf("the file has the words: %v", f.holds())
	<-done
}

// A conversation that Claude summed up shows none of our turns, and is not empty: it goes on, knowing what the summary tells.
func TestRealClaudeCompacted(t *testing.T) {
	Wanted(t)
	const version = "2.1.332" // the older one does not sum up a history this short
	t.Run(version, func(t *testing.T) {
		Record(t, Evidence{Agent: "Claude", Versions: version, Over: overClaude, Shown: "a compacted conversation goes on, its history not confirmed"})
		ready(t, Claude(version))
		compacted(t, Claude(version))
	})
}

func compacted(t *testing.T, target Target) {
	p := newPlace(t, target)
	f := &flight{line: p.start(t)}
	f.id = f.open("").ID
	for _, words := range []string{tell, "Say something long about the sea.", ask} {
		f.told(words)
	}
	if h := f.prompt("/compact\nSAY The codeword is ZEBRA, they told me.", allow); h.compacts == 0 || h.Failure != "" {
		t.Fatalf("not compacted: %q", h.Failure)
	}
	f.end()
	l := p.start(t)
	o := l.open(f.id)
	l.confirms(o, f.id)
	if h := o.History; !h.Known || !h.Compacted || h.UserTurns != 0 || h.LastReply != nil {
		t.Errorf("history %+v, want a known one that was summed up", h)
	}
	if got := (runtime.Flight{Words: runtime.FingerprintOf(ask), Before: f.known}).Settle(o.History); got != runtime.FateUnknown {
		t.Errorf("a prompt in flight would be %s", got)
	}
	if h := l.good(ask); h.answer() != target.Script.Knows {
		t.Errorf("answer %q, want %q", h.answer(), target.Script.Knows)
	}
	l.end()
	o = p.start(t).open(f.id)
	if o.History.UserTurns != 1 || !o.History.Compacted || o.History.Newest[0].Words != runtime.FingerprintOf(ask) {
		t.Errorf("a turn later: history %+v", o.History)
	}
}
