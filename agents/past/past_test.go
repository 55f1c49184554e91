package past

import (
	"fmt"
	"strings"
	"testing"

	"xmd/runtime"
)

var shown = Forms{
	Synthetic: []Frame{{"[Request interrupted by user", "]"}, {"<context>", "</context>"}, {"[Function Response", ""}},
	Summary:   "This session is being continued",
	Wrappers:  []Frame{{"<query>", "</query>"}},
	ErrorText: []string{"API Error: "},
}

func TestCollectorIsBounded(t *testing.T) {
	h := New(&shown)
	for i := range 100 {
		h.User(fmt.Sprint(i), fmt.Sprint("turn ", i))
		h.Agent("done")
	}
	piece := strings.Repeat("x", 1<<20)
	for range runtime.MaxAdopted >> 20 {
		h.Agent(piece)
	}
	if n := cap(h.reply.b); n > 2*runtime.MaxAdopted {
		t.Errorf("%d bytes are kept", n)
	}
	got := h.History(true)
	if got.UserTurns != 100 || len(got.Newest) != MaxTurns || got.Newest[0].Words != runtime.FingerprintOf("turn 36") {
		t.Errorf("%d turns, %d kept", got.UserTurns, len(got.Newest))
	}
	if got.LastReply != nil || got.Newest[MaxTurns-1].Reply != (runtime.Fingerprint{}) || got.Newest[0].Reply.Digest == "" {
		t.Error("of a reply that is too long something is kept, or of the others nothing")
	}
	h = New(&shown)
	for range maxWords>>20 + 1 {
		h.User("1", piece)
	}
	if got := h.History(true); got.UserTurns != 1 || got.Newest[0].Words != (runtime.Fingerprint{}) {
		t.Errorf("%+v, want one turn that cannot be recognised", got)
	}
}

func TestRecognises(t *testing.T) {
	for words, want := range map[string]bool{
		"Review it.": true, "1": true, "": true, "see /etc/hosts": true,
		"/compact": false, "  /review this": false, "/etc/hosts is what?": false,
		"[Request interrupted by user]": false, "[Request interrupted by user] go on": true,
		"\n<context>x</context>\n": false, "<context>x</context> y": true, "[Function Response: x] why?": false,
		"This session is being continued": false, "Is this session is being continued?": true,
	} {
		if got := shown.Recognises(words); got != want {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
}
