package agenttest

import (
	"strings"
	"testing"

	"xmd/runtime"
)

// What agents that speak the protocol themselves sent, played as in recorded_test.go.
var spoken = []struct{ agent, version string }{
	{"copilot", "1.0.89"}, {"copilot", "1.0.102"},
	{"grok", "1.0.5"}, {"grok", "1.0.41"},
}

func eachSpoken(t *testing.T, agent string, test func(t *testing.T, r *recording)) {
	for _, c := range spoken {
		if agent != "" && agent != c.agent {
			continue
		}
		t.Run(c.agent+" "+c.version, func(t *testing.T) {
			t.Parallel()
			test(t, newRecording(t, c.agent, c.version))
		})
	}
}

func TestSpokenFirst(t *testing.T) {
	eachSpoken(t, "", func(t *testing.T, r *recording) {
		l := r.playing(t, "first")
		if o := l.open(""); o.ID != r.id {
			t.Errorf("opened %q, want %q", o.ID, r.id)
		}
		if v := l.Connection.(runtime.HandshakeVersioner).HandshakeVersion(); v != r.version {
			t.Errorf("version %q", v)
		}
		h := l.good(tell)
		if h.answer() != "OK, I will remember." || !h.accepted {
			t.Errorf("answer %q, accepted: %v", h.answer(), h.accepted)
		}
		if h.Usage == nil || h.Usage.InputTokens == nil || *h.Usage.InputTokens == 0 {
			t.Errorf("usage %+v", h.Usage)
		}
	})
}

// No answer to a load states an id of its own: the list confirms it. Only Grok records how a turn ended.
func TestSpokenLoad(t *testing.T) {
	eachSpoken(t, "", func(t *testing.T, r *recording) {
		l := r.playing(t, "load")
		o := l.open(r.id)
		l.confirms(o, r.id)
		l.finds(o, tell, "OK, I will remember.")
		if o.Asserted != "" || o.Listed != runtime.ListNames || o.History.UserTurns != 1 || o.History.Newest[0].Completed != (r.agent == "grok") {
			t.Errorf("opened %+v", o)
		}
		if h := l.good(ask); h.answer() != "CODEWORD=ZEBRA" {
			t.Errorf("answer %q", h.answer())
		}
	})
}

func TestSpokenTools(t *testing.T) {
	eachSpoken(t, "", func(t *testing.T, r *recording) {
		l := r.playing(t, "tools")
		l.open(r.id)
		h := l.good("run")
		if h.thoughts.String() != "a thought" || !strings.HasPrefix(h.answer(), "I will run it now.Tool said: ") {
			t.Errorf("thought %q, answer %q", h.thoughts.String(), h.answer())
		}
		command := "touch made.txt && echo MADE"
		if r.agent == "grok" {
			command = "echo MADE > made.txt && echo MADE"
		}
		r.sawTool(t, h, "execute", command, "MADE")
		if len(h.asked) != 1 || h.asked[0].Request.Command != command {
			t.Errorf("asked %+v", h.asked)
		}
		r.sawTool(t, l.good("read"), "read", "", "")
		h = l.good("edit")
		r.sawTool(t, h, "edit", "", "")
		if len(h.asked) != 1 || !strings.HasSuffix(strings.Join(h.asked[0].Request.Paths, " "), "b.txt") {
			t.Errorf("asked %+v", h.asked)
		}
		// Copilot says the name of a new file as if its model did.
		if h = l.good("write"); !strings.HasPrefix(h.answer(), "Tool said: ") {
			t.Errorf("answer %q", h.answer())
		}
		h = l.prompt("no", refuse)
		if h.Refused != 1 || h.Failure != "" || h.answer() != "before" || !l.info.RejectEnds {
			t.Errorf("refused %d, ended as %q, failure %q, answer %q", h.Refused, h.Stop, h.Failure, h.answer())
		}
		r.target.Script.Permit = func(string) string { return "never" }
		l.cancelledAsking(r.file("never.txt"))
		// Of the process or of the turn: the figures are the turn's.
		if h = l.good("still there?"); h.answer() != "still there" || h.Usage == nil || *h.Usage.OutputTokens != 3 {
			t.Errorf("answer %q, usage %+v", h.answer(), h.Usage)
		}
	})
}

func TestSpokenFailures(t *testing.T) {
	eachSpoken(t, "", func(t *testing.T, r *recording) {
		l := r.playing(t, "failures")
		l.open(r.id)
		fails := func(words, says, answer string) {
			t.Helper()
			h := l.prompt(words, allow)
			if !strings.Contains(h.Failure, says) || h.answer() != answer {
				t.Errorf("%s: ended as %q, failure %q, answer %q", words, h.Stop, h.Failure, h.answer())
			}
			if r.agent == "copilot" && !h.accepted {
				t.Errorf("%s: Copilot keeps the words of a turn that fails", words)
			}
		}
		fails("the first", "400", "")
		if h := l.good("fine"); h.answer() != "fine" {
			t.Errorf("answer %q", h.answer())
		}
		fails("a later one", "400", "")
		fails("after a tool", "400", "I begin.")
		if h := l.good("an answer that looks like it"); h.answer() != "Error: this is the model" {
			t.Errorf("answer %q", h.answer())
		}
		fails("401", "401", "")
		fails("429", "429", "")
		if r.agent == "copilot" { // Grok would try again for minutes
			if h := l.prompt("cut", allow); !strings.Contains(h.Failure, "Failed to get response") || strings.ReplaceAll(h.answer(), "partial", "") != "" {
				t.Errorf("cut: failure %q, answer %q", h.Failure, h.answer())
			}
		}
		l.cancelledStream(t)
		if h := l.good("still there?"); h.answer() != "still there" {
			t.Errorf("afterwards: %q", h.answer())
		}
	})
}

// The replay of all that: turns that failed, that were refused and that were cancelled are turns, and came to no normal end.
func TestSpokenReplay(t *testing.T) {
	eachSpoken(t, "", func(t *testing.T, r *recording) {
		h := r.playing(t, "replay").open(r.id).History
		if h.LastReply == nil || *h.LastReply != "still there" || h.Unread || h.Compacted {
			t.Errorf("history %+v", h)
		}
		ends := map[string]bool{ // of those that ended otherwise; the words say how
			"HTTP 400": false, "HTTP 401": false, "HTTP 429": false, "ASK echo no > never.txt": false,
			"SAY before\nASK echo no > never.txt\nSAY after the no": false, "SLOW 200\nSTREAM 50": false, "SAY partial\nCUT": false,
			"SAY fine": true, "SAY still there": true, "SAY Error: this is the model": true,
		}
		for words, well := range ends {
			for _, turn := range h.Newest {
				if turn.Words == runtime.FingerprintOf(words) && turn.Completed != (well && r.agent == "grok") {
					t.Errorf("%q is completed: %v", words, turn.Completed)
				}
				if turn.Words == runtime.FingerprintOf("HTTP 400") && turn.Reply != runtime.FingerprintOf("") {
					t.Error("the text of an error is a reply")
				}
			}
		}
	})
}

func TestSpokenMissing(t *testing.T) {
	eachSpoken(t, "", func(t *testing.T, r *recording) {
		r.playing(t, "missing").openError("01a22d05-0000-4582-8c37-a1c080809b60", runtime.KindMissing)
	})
}

// Grok answers as for a missing conversation where it is one of another folder. Its list knows better.
func TestSpokenElsewhere(t *testing.T) {
	eachSpoken(t, "grok", func(t *testing.T, r *recording) {
		r.playing(t, "elsewhere").openError(r.id, runtime.KindCouldNot)
	})
}

// Its answer to a load names the id that was asked for, though every file of the conversation names another.
func TestSpokenSwapped(t *testing.T) {
	eachSpoken(t, "grok", func(t *testing.T, r *recording) {
		if o := r.playing(t, "swapped").open(r.id); o.Asserted != "" || o.Listed != runtime.ListOmits {
			t.Errorf("opened %+v", o)
		}
	})
}

// Copilot was started with --allow-all: it answers the change of its option as if nothing was wrong, and goes on without asking.
func TestSpokenAllowAll(t *testing.T) {
	eachSpoken(t, "copilot", func(t *testing.T, r *recording) {
		r.playing(t, "allowed").openError("", runtime.KindUnsupported)
	})
}

// Grok without a key and without a sign-in makes no conversation.
func TestSpokenSignIn(t *testing.T) {
	eachSpoken(t, "grok", func(t *testing.T, r *recording) {
		l := r.playing(t, "signin")
		_, err := l.Open(t.Context(), "")
		if runtime.KindOf(err) != runtime.KindNotSignedIn || !strings.Contains(err.Error(), "XAI_API_KEY") {
			t.Error(err)
		}
	})
}
