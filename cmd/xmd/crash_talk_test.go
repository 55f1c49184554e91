//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const talking = `<Instructions>
Keep it short.
</Instructions>
<Conversation name="task" onLost="restart">
<Prompt agent="sim">SAY the first of us has begun it</Prompt>
<Prompt agent="two">SAY the second of us goes on with it</Prompt>
<Prompt agent="sim">SAY the first of us has the last word</Prompt>
</Conversation>
`

func newTalkHome(t *testing.T) *home {
	h := newHome(t, talking)
	h.write("xmd.toml", "[agents.two]\ncommand = \""+h.dir+"/xmd\"\nargs = [\"sim\"]\n")
	return h
}

// words counts the prompts that the scripted agents have by their own words, without what was put in front of them.
func (h *home) words() map[string]int {
	counts := map[string]int{}
	for text, n := range h.prompts() {
		at := strings.LastIndex(text, "SAY ")
		counts[text[at:]] += n
	}
	return counts
}

// TestCrashInConversation kills xmd before and after each write of a Conversation: whatever is resumed, nothing is sent or answered twice
// unasked, every turn is in the log once, and what agents are told is what an undisturbed run tells them.
func TestCrashInConversation(t *testing.T) {
	ref := newTalkHome(t)
	whole := ref.xmd([]string{listVariable + "=" + ref.dir + "/writes"}, "run", "doc.xmd")
	if whole.code != 0 {
		t.Fatalf("%+v", whole)
	}
	writes := strings.Split(strings.TrimSpace(ref.read("writes")), "\n")
	slices.Sort(writes)
	writes = slices.Compact(writes)
	if len(writes) < 40 {
		t.Fatalf("only %d writes: %q", len(writes), writes)
	}
	want := ref.xmd(nil, "handoff", "conversation:task", "--to", "claude").stdout
	for _, at := range writes {
		t.Run(strings.ReplaceAll(strings.TrimSpace(at), "/", ":"), func(t *testing.T) {
			t.Parallel()
			crashTalk(t, restored(strings.TrimRight(at, " ")), whole.stdout, want)
		})
	}
}

func crashTalk(t *testing.T, at, want, log string) {
	h := newTalkHome(t)
	if o := h.xmd([]string{dieVariable + "=" + at}, "run", "doc.xmd"); o.code != 137 {
		t.Skipf("not killed: this write did not come up (code %d)", o.code)
	}
	o := h.xmd(nil, "resume", "last")
	resent := ""
	if o.code == 5 {
		again := []string{"resume", "last"}
		for _, m := range stepOfResend.FindAllStringSubmatch(o.stderr, -1) {
			again, resent = append(again, "--resend", m[1]), m[1]
		}
		before := h.prompts()
		if o := h.xmd(nil, "resume", "last"); o.code != 5 || !equalCounts(before, h.prompts()) {
			t.Errorf("an unsettled prompt was not left alone: %+v", o)
		}
		o = h.xmd(nil, again...)
	}
	switch {
	case o.code == 2 && strings.HasPrefix(at, "after run.ended"):
		o = h.xmd(nil, "replay", "last")
	case o.code == 2 && strings.HasPrefix(at, "before run.started"):
		return // nothing of it is on record but its name
	}
	if o.code != 0 || o.stdout != want {
		t.Fatalf("resume: code %d\n%s\nstderr %s\nwant %s", o.code, o.stdout, o.stderr, want)
	}
	for words, n := range h.words() {
		if n != 1 && (resent == "" || n > 2) {
			t.Errorf("%q was sent %d times", words, n)
		}
	}
	got := h.xmd(nil, "handoff", "conversation:task", "--to", "claude").stdout
	if resent == "" && got != log {
		t.Errorf("the log is\n%s\nwant\n%s", got, log)
	}
	if n := strings.Count(got, "\nasked\n"); resent != "" && n != 4 {
		t.Errorf("%d turns in the log, with a prompt that was sent again:\n%s", n, got)
	}
	if r := h.xmd(nil, "replay", "last"); r.code != 0 || r.stdout != want || r.stderr != "" {
		t.Errorf("replay: %+v", r)
	}
	h.check()
}

// What becomes of a prompt in flight by a person's word is in the log too: adopted with its reply, skipped without one.
func TestSettleInConversation(t *testing.T) {
	for word, reply := range map[string]string{"--adopt": "answered\n| the second", "--skip": ""} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			h := newTalkHome(t)
			const step = "Conversation2/body/Prompt2"
			if o := h.xmd([]string{dieVariable + "=before prompt.ended " + step}, "run", "doc.xmd"); o.code != 137 {
				t.Fatalf("%+v", o)
			}
			o := h.xmd(nil, "resume", "last", word, step)
			if o.code != 0 || !strings.HasSuffix(o.stdout, "\nthe first of us has the last word\n") {
				t.Fatalf("%+v", o)
			}
			if want := fmt.Sprintf("%q, told 1 turn that it has not seen (missed)", "task"); !strings.Contains(o.stderr, want) {
				t.Errorf("stderr is %s", o.stderr)
			}
			got := h.xmd(nil, "handoff", "conversation:task", "--to", "claude").stdout
			if strings.Count(got, "\nasked\n") != 3 || strings.Count(got, "SAY the second") != 1 || !strings.Contains(got, reply) {
				t.Errorf("the log is\n%s", got)
			}
			if word == "--skip" && !strings.Contains(got, "outcome: unknown") {
				t.Errorf("the log is\n%s", got)
			}
			h.check()
		})
	}
}

// A generation that is begun anew is current only with its first accepted turn, wherever xmd is killed before; then it has been told
// everything, once.
func TestCrashWhileStartingOver(t *testing.T) {
	for _, at := range []string{
		"before session.opened", "after session.opened", "after prompt.sent", "before prompt.accepted", "after prompt.accepted", "before prompt.ended", "after prompt.ended",
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			h := newTalkHome(t)
			if o := h.xmd(nil, "run", "doc.xmd"); o.code != 0 {
				t.Fatalf("%+v", o)
			}
			old := nativeID(t, h, "conversation:task/sim")
			h.loseSessions()
			h.write("doc.xmd", "<Conversation name=\"task\" onLost=\"restart\">\n<Prompt agent=\"sim\" resend=\"auto\">SAY once more</Prompt>\n</Conversation>\n")
			if o := h.xmd([]string{dieVariable + "=" + at + " Conversation1/body/Prompt1"}, "run", "doc.xmd"); o.code != 137 {
				t.Fatalf("%+v", o)
			}
			accepted := at == "after prompt.accepted" || strings.Contains(at, "ended")
			if current := nativeID(t, h, "conversation:task/sim"); (current != old) != accepted {
				t.Errorf("the conversation is %s, was %s", current, old)
			}
			o := h.xmd(nil, "resume", "last")
			if o.code != 0 || o.stdout != "once more\n" {
				t.Fatalf("%+v", o)
			}
			told := 0
			for text, n := range h.prompts() {
				if strings.Contains(text, "your earlier session is lost") && strings.Contains(text, "SAY the second") {
					told += n
				}
			}
			if told != 1 {
				t.Errorf("it was told everything %d times: %v", told, h.prompts())
			}
			there := accepted || at == "before prompt.accepted" // the agent had begun to answer
			if n := h.words()["SAY once more"]; n != 1 && !(there && n == 2) {
				t.Errorf("sent %d times: %s", n, o.stderr)
			}
			h.check()
		})
	}
}

// loseSessions makes the scripted agents lose all their conversations.
func (h *home) loseSessions() {
	h.t.Helper()
	if err := os.RemoveAll(filepath.Join(h.dir, "state", "xmd-sim", "sessions")); err != nil {
		h.t.Fatal(err)
	}
}

// Another run goes on in a Conversation whose last run died in a turn only after that turn is recovered, and knows of it then.
func TestRecoverInConversation(t *testing.T) {
	for _, at := range []string{"after prompt.sent", "after prompt.accepted", "before prompt.ended"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			h := newTalkHome(t)
			if o := h.xmd([]string{dieVariable + "=" + at + " Conversation2/body/Prompt2"}, "run", "doc.xmd"); o.code != 137 {
				t.Fatalf("%+v", o)
			}
			h.write("other.xmd", "<Conversation name=\"task\">\n<Prompt agent=\"two\">SAY another run</Prompt>\n</Conversation>\n")
			before := h.prompts()
			if o := h.xmd(nil, "run", "other.xmd", "--wait", "20s"); o.code != 5 || !strings.Contains(o.stderr, "xmd sessions recover conversation:task/two") || !equalCounts(before, h.prompts()) {
				t.Fatalf("%+v", o)
			}
			if o := h.xmd(nil, "sessions", "recover", "conversation:task/two"); o.code != 0 || !strings.Contains(o.stdout, "nothing was sent") {
				t.Fatalf("%+v", o)
			}
			if o := h.xmd(nil, "run", "other.xmd"); o.code != 0 || o.stdout != "another run\n" {
				t.Fatalf("%+v", o)
			}
			there := h.words()["SAY the second of us goes on with it"]
			log := h.xmd(nil, "handoff", "conversation:task", "--to", "claude").stdout
			if n := strings.Count(log, "\nasked\n"); n != 2+there || strings.Count(log, "SAY the second") != there {
				t.Errorf("it was there %d times, and the log is\n%s", there, log)
			}
			h.check()
		})
	}
}

// One without a name is gone on with by the resume of its run, and by nothing else.
func TestCrashInUnnamedConversation(t *testing.T) {
	for _, at := range []string{"before handoff", "after prompt.sent", "before prompt.accepted", "after prompt.accepted", "before prompt.ended", "after prompt.ended"} {
		for _, step := range []string{"Prompt2", "Prompt3"} {
			t.Run(at+" "+step, func(t *testing.T) {
				t.Parallel()
				h := newTalkHome(t)
				h.write("doc.xmd", strings.Replace(strings.Replace(talking, " name=\"task\"", "", 1), "<Prompt", "<Prompt resend=\"auto\"", 3))
				if o := h.xmd([]string{dieVariable + "=" + at + " Conversation2/body/" + step}, "run", "doc.xmd"); o.code != 137 {
					t.Fatalf("%+v", o)
				}
				o := h.xmd(nil, "resume", "last")
				if o.code != 0 || !strings.HasSuffix(o.stdout, "begun it\nthe second of us goes on with it\nthe first of us has the last word\n") {
					t.Fatalf("%+v", o)
				}
				for words, n := range h.words() {
					if n != 1 && !(n == 2 && strings.Contains(o.stderr, "a second time")) {
						t.Errorf("%q was sent %d times; %s", words, n, o.stderr)
					}
				}
				h.check()
			})
		}
	}
}
