package agenttest

import (
	"slices"
	"strings"
	"testing"

	"xmd/runtime"
)

// speaking are the agents that speak the protocol themselves.
var speaking = slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return k.Over != overItself })

// eachSpeaking runs a test for every version of each of them and records it.
func eachSpeaking(t *testing.T, shown string, test func(t *testing.T, target Target)) {
	t.Helper()
	Wanted(t)
	for _, c := range speaking {
		for _, v := range c.versions {
			t.Run(c.Agent+"/"+v, func(t *testing.T) {
				Record(t, Evidence{Agent: c.Agent, Versions: v, Over: c.Over, Shown: shown})
				ready(t, c.target(v))
				test(t, c.target(v))
			})
		}
	}
}

func TestRealSpeaking(t *testing.T) {
	eachSpeaking(t, "conformance", conforms)
}

func TestRealSpeakingKilled(t *testing.T) {
	eachSpeaking(t, "nothing stays when its owner is killed in a turn", func(t *testing.T, target Target) { Killed(t, target) })
}

func TestRealSpeakingFlights(t *testing.T) {
	eachSpeaking(t, "what a load shows of a prompt that was in flight when everything was killed", Flights)
}

func TestRealSpeakingWords(t *testing.T) {
	eachSpeaking(t, "hostile prompts are found again in the history", func(t *testing.T, target Target) {
		Words(t, target, Corpus(t, corpusFile))
	})
}

func TestRealSpeakingAcceptance(t *testing.T) {
	eachSpeaking(t, "the provider's file has the words when they count as accepted", acceptance)
}

// Grok replays one file and gives its model another: the id is right, the list names it, every turn is there with its reply, and the
// model knows nothing. What xmd says then is true and no more: the history is confirmed.
func TestRealGrokForgets(t *testing.T) {
	Wanted(t)
	for _, v := range []string{"1.0.5", "1.0.41"} {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Grok", Versions: v, Over: overItself, Shown: "a replay that confirms the history does not prove what the model is given"})
			target := Grok(v)
			ready(t, target)
			p := newPlace(t, target)
			id := p.told(t)
			ForgetGrok(t, p.Place, id)
			l := p.start(t)
			o := l.open(id)
			l.confirms(o, id)
			l.finds(o, target.Script.Tell, target.Script.Told)
			if o.Listed != runtime.ListNames || o.History.UserTurns != 1 {
				t.Errorf("opened %+v", o)
			}
			if h := l.good(target.Script.Ask); h.answer() != "CODEWORD=UNKNOWN" {
				t.Errorf("answer %q: the replay would prove more than is thought", h.answer())
			}
		})
	}
}

// Where no model is listed Grok takes one of its own and speaks the Responses API to it, with calls of its own account that have the
// whole conversation. A conversation goes on over both.
func TestRealGrokResponses(t *testing.T) {
	Wanted(t)
	for _, v := range []string{"1.0.5", "1.0.41"} {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Grok", Versions: v, Over: overItself, Shown: "a conversation goes on over the Responses API"})
			target := Grok(v)
			ready(t, target)
			at := target.At
			target.At = func(t testing.TB, p Place) Reach {
				t.Helper()
				r := at(t, p)
				for i, kv := range r.Env {
					if base, ok := strings.CutSuffix(kv, "/xai/v1"); ok {
						r.Env[i] = base + "/v1"
					}
				}
				return r
			}
			p := newPlace(t, target)
			p.continues(t, p.told(t), 1)
		})
	}
}
