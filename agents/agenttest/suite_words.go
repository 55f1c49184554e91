package agenttest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"xmd/runtime"
)

// Prompt is one of the corpus of prompts that are hard to recognise in a history.
type Prompt struct {
	Name  string
	Words string
}

// Corpus reads the prompts of a file of runtime/testdata/history.
func Corpus(t testing.TB, file string) []Prompt {
	t.Helper()
	var all struct {
		Prompts []struct {
			Name  string
			Words json.RawMessage
		}
	}
	if err := json.Unmarshal(read(t, file), &all); err != nil {
		t.Fatal(err)
	}
	var prompts []Prompt
	for _, p := range all.Prompts {
		var words string
		var long struct {
			Repeat string
			Times  int
		}
		if json.Unmarshal(p.Words, &words) != nil {
			if err := json.Unmarshal(p.Words, &long); err != nil {
				t.Fatal(err)
			}
			words = strings.Repeat(long.Repeat, long.Times)
		}
		prompts = append(prompts, Prompt{p.Name, words})
	}
	return prompts
}

// Words sends each prompt in one conversation and looks for them after a load: each that was accepted must be there with its reply,
// and none that was refused. Those that the agent's history cannot show as they are, by the connection's own word, are left out. At
// most 60 fit.
func Words(t *testing.T, target Target, prompts []Prompt) {
	p := newPlace(t, target)
	l := p.start(t)
	id := l.open("").ID
	if r, ok := l.Connection.(runtime.Recogniser); ok {
		prompts = slices.DeleteFunc(slices.Clone(prompts), func(one Prompt) bool { return !r.Recognises(one.Words) })
	}
	said := make([]*heard, len(prompts))
	turns := 0
	for i, one := range prompts {
		said[i] = l.prompt(one.Words, allow)
		if said[i].accepted {
			turns++
		} else {
			t.Logf("%s was refused: %s", one.Name, tailOf(said[i].Failure, 300))
		}
	}
	l.end()
	o := p.start(t).open(id)
	if o.History.UserTurns != turns {
		t.Errorf("%d user turns, want %d", o.History.UserTurns, turns)
	}
	for i, one := range prompts {
		want := runtime.PastTurn{Words: runtime.FingerprintOf(one.Words), Reply: runtime.FingerprintOf(said[i].answer())}
		there := slices.ContainsFunc(o.History.Newest, func(turn runtime.PastTurn) bool {
			return turn.Words == want.Words && turn.Reply == want.Reply
		})
		if there != said[i].accepted {
			asked := slices.ContainsFunc(o.History.Newest, func(turn runtime.PastTurn) bool { return turn.Words == want.Words })
			t.Errorf("%s is in the history: %v (its words: %v), was accepted: %v (answer %.80q)", one.Name, there, asked, said[i].accepted, said[i].answer())
		}
	}
}
