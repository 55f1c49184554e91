//go:build linux

package main

import (
	"strings"
	"testing"
)

// A restart that is killed before its first accepted turn leaves the old conversation current; after it the new one is. Nothing of the old
// one is lost either way.
func TestCrashAfterRestart(t *testing.T) {
	const text = "<Prompt agent=\"sim\" session=\"s\">SAY once more</Prompt>\n"
	for _, c := range []struct {
		at    string
		newer bool // the new conversation is current then
	}{
		{"before session.opened Prompt1", false}, {"after session.opened Prompt1", false}, {"after prompt.sent Prompt1", false},
		{"before prompt.accepted Prompt1", false}, {"after prompt.accepted Prompt1", true}, {"before run.ended ", true},
	} {
		t.Run(strings.TrimSpace(c.at), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, text)
			if o := h.xmd(nil, "run", "doc.xmd"); o.code != 0 {
				t.Fatalf("%+v", o)
			}
			old := nativeID(t, h, "s")
			if o := h.xmd(nil, "sessions", "restart", "s"); o.code != 0 {
				t.Fatalf("%+v", o)
			}
			if o := h.xmd([]string{dieVariable + "=" + c.at}, "run", "doc.xmd"); o.code != 137 {
				t.Fatalf("%+v", o)
			}
			if current := nativeID(t, h, "s"); (current != old) != c.newer {
				t.Errorf("the conversation is %s, was %s", current, old)
			}
			if got := nativeID(t, h, "s@1"); got != old {
				t.Errorf("the first generation is %s, was %s", got, old)
			}
			o := h.xmd(nil, "resume", "last")
			if o.code == 5 {
				o = h.xmd(nil, "resume", "last", "--resend", "Prompt1")
			}
			if o.code != 0 || o.stdout != "once more\n" {
				t.Errorf("%+v", o)
			}
			if got := nativeID(t, h, "s"); got == old || nativeID(t, h, "s@1") != old {
				t.Errorf("after the resume the conversation is %s, was %s", got, old)
			}
			h.check()
		})
	}
}

// nativeID is the conversation of a session as a person sees it.
func nativeID(t *testing.T, h *home, session string) string {
	t.Helper()
	o := h.xmd(nil, "sessions", "show", session)
	for line := range strings.Lines(o.stdout) {
		if id, ok := strings.CutPrefix(line, "conversation "); ok {
			return strings.TrimSpace(id)
		}
	}
	t.Fatalf("no conversation is shown: %+v", o)
	return ""
}
