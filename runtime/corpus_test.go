package runtime

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusText is a text of the corpus: a string, or one that is repeated.
type corpusText string

func (c *corpusText) UnmarshalJSON(b []byte) error {
	var many struct {
		Repeat string
		Times  int
	}
	if err := json.Unmarshal(b, (*string)(c)); err == nil {
		return nil
	}
	if err := json.Unmarshal(b, &many); err != nil {
		return err
	}
	*c = corpusText(strings.Repeat(many.Repeat, many.Times))
	return nil
}

func corpus(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "history", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// hostile is a prompt that is hard to recognise, with texts as which a history may show it and others that are not it.
type hostile struct {
	Name        string
	Words       corpusText
	Same, Other []corpusText
}

func TestFingerprintCorpus(t *testing.T) {
	var all struct{ Prompts, Nothing []hostile }
	corpus(t, "prompts.json", &all)
	for _, p := range all.Prompts {
		t.Run(p.Name, func(t *testing.T) {
			want := FingerprintOf(string(p.Words))
			if want.Digest == "" {
				t.Fatal("there is nothing to recognise")
			}
			for i, s := range p.Same {
				if FingerprintOf(string(s)) != want {
					t.Errorf("the same %d is another text: %.80q", i, s)
				}
			}
			for i, s := range p.Other {
				if FingerprintOf(string(s)).Digest == want.Digest {
					t.Errorf("the other %d is the same text: %.80q", i, s)
				}
			}
		})
	}
	for _, p := range all.Nothing {
		if got := FingerprintOf(string(p.Words)); got != (Fingerprint{}) {
			t.Errorf("%s: %+v, want nothing", p.Name, got)
		}
	}
}

// Bytes that are no text come back from any agent as replacement characters, one each.
func TestFingerprintOfBytes(t *testing.T) {
	if FingerprintOf("caf\xff\xfe au lait") != FingerprintOf("caf\ufffd\ufffd au lait") {
		t.Error("invalid bytes are not what JSON makes of them")
	}
	if got := FingerprintOf("Größe 12"); got.Letters != 7 {
		t.Errorf("%d letters and digits, want 7", got.Letters)
	}
	if FingerprintOf("é").Letters != FingerprintOf("e\u0301").Letters {
		t.Error("letters depend on the form")
	}
}

// However often something strips the spans before us, the rest is the same.
func TestFingerprintOfStrippedText(t *testing.T) {
	var all struct{ Prompts []hostile }
	corpus(t, "prompts.json", &all)
	for _, p := range all.Prompts {
		words := string(p.Words)
		want := FingerprintOf(words)
		for range 3 {
			words = withoutSpans(words)
			if FingerprintOf(words) != want {
				t.Errorf("%s: stripped to %.80q it is another text", p.Name, words)
			}
		}
	}
	if text := strings.Repeat("<system-reminder><command-name>", 1<<16) + "</"; FingerprintOf(text).Letters < 1<<16 {
		t.Error("tags that are never closed are no text")
	}
	deep := strings.Repeat("<system-", 1<<17) + "<system-reminder>x</system-reminder>" + strings.Repeat("reminder>x</system-reminder>", 1<<17)
	if FingerprintOf(deep).Digest == "" {
		t.Error("nothing is left of a text that is nested too deep")
	}
}

// recogniser is a connection whose agent obeys commands.
type recogniser struct{ Connection }

func (recogniser) Recognises(words string) bool { return !strings.HasPrefix(words, "/") }

func TestFlightWords(t *testing.T) {
	if got := flightWords(recogniser{}, "/compact"); got != (Fingerprint{}) {
		t.Errorf("a command: %+v", got)
	}
	for _, c := range []Connection{recogniser{}, struct{ Connection }{}} {
		if got := flightWords(c, "Review it."); got != FingerprintOf("Review it.") {
			t.Errorf("words: %+v", got)
		}
	}
	if got := flightWords(struct{ Connection }{}, "/compact"); got != FingerprintOf("/compact") {
		t.Errorf("an agent without commands: %+v", got)
	}
}

// corpusCase is what we know of a session, what a load showed, and what must be made of it.
type corpusCase struct {
	Name    string
	Known   []corpusTurn
	History struct {
		Turns                               []corpusTurn
		Older                               int  // turns before these that were not kept
		Compacted, Unread, Unknown, NoReply bool // NoReply: the newest reply is too long to be kept
	}
	Flight corpusText
	First  bool // no turn of ours was ever accepted in it
	// Accepted: the agent had begun to answer the prompt in flight.
	Accepted bool
	Want     struct {
		History string
		Fate    Fate
	}
}

type corpusTurn struct {
	Words, Reply corpusText
	Completed    bool
}

func (c *corpusCase) known() []KnownTurn {
	var known []KnownTurn
	for _, k := range c.Known {
		known = append(known, KnownTurn{Words: FingerprintOf(string(k.Words)), Reply: FingerprintOf(string(k.Reply))})
	}
	return known
}

func (c *corpusCase) history() History {
	h := History{
		Known: !c.History.Unknown, Compacted: c.History.Compacted, Unread: c.History.Unread,
		UserTurns: c.History.Older + len(c.History.Turns),
	}
	for i, p := range c.History.Turns {
		reply := string(p.Reply)
		h.Newest = append(h.Newest, PastTurn{Words: FingerprintOf(string(p.Words)), Reply: FingerprintOf(reply), Completed: p.Completed})
		if i == len(c.History.Turns)-1 && !c.History.NoReply {
			h.LastReply = &reply
		}
	}
	return h
}

func TestHistoryCorpus(t *testing.T) {
	var all struct{ Cases []corpusCase }
	corpus(t, "cases.json", &all)
	for _, c := range all.Cases {
		t.Run(c.Name, func(t *testing.T) {
			h, known := c.history(), c.known()
			c.judged(t, h, known)
			if c.Flight == "" {
				return
			}
			f := Flight{Words: FingerprintOf(string(c.Flight)), Before: known, FirstEver: c.First, Accepted: c.Accepted}
			if got := f.Settle(h); got != c.Want.Fate {
				t.Errorf("fate %q, want %q", got, c.Want.Fate)
			}
		})
	}
}

// judged checks what an attach makes of it, where the provider's list names the id and where nothing but the history does.
func (c *corpusCase) judged(t *testing.T, h History, known []KnownTurn) {
	t.Helper()
	listed := Opened{ID: "id", Listed: ListNames, History: h}
	identity, state, err := judge(AgentInfo{ConfirmList: true}, "id", listed, known)
	if c.Want.History == "empty" {
		if err == nil || err.Kind != KindEmpty {
			t.Errorf("judged %q, %v; want it empty", state, err)
		}
		return
	}
	if err != nil || identity != IdentityListed || string(state) != c.Want.History {
		t.Errorf("history %q, identity %q, %v; want history %q", state, identity, err, c.Want.History)
	}
	identity, _, err = judge(AgentInfo{}, "id", Opened{ID: "id", History: h}, known)
	if c.Want.History == string(HistoryConfirmed) {
		if err != nil || identity != IdentityHistory {
			t.Errorf("identity %q, %v; want it by the history", identity, err)
		}
	} else if err == nil || err.Kind != KindUnasserted {
		t.Errorf("identity %q, %v; want none", identity, err)
	}
}
