//go:build linux

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const crashingTool = `<Tool name="note">
` + "```sh exec\necho ran >> ran.txt\n```" + `
<Prompt agent="sim" session="inner">SAY the inner session is asked by the tool</Prompt>
</Tool>
<Prompt agent="sim" session="outer" as="r">CALL note</Prompt>
got {r}
<Prompt agent="sim" session="outer">SAY the last word of the run</Prompt>
`

// TestToolCrashMatrix kills xmd before and after each write of a run in which an agent calls a tool. A resume runs no body of a turn that has
// ended; while it is not known what became of the turn it runs none at all; and where a person has the prompt sent again, the body runs again
// and that is said.
func TestToolCrashMatrix(t *testing.T) {
	ref := newHome(t, crashingTool)
	whole := ref.xmd([]string{listVariable + "=" + filepath.Join(ref.dir, "writes")}, "run", "doc.xmd")
	if whole.code != 0 || whole.stdout != "got the inner session is asked by the tool\nthe last word of the run\n" {
		t.Fatalf("%+v", whole)
	}
	writes := strings.Split(strings.TrimSpace(ref.read("writes")), "\n")
	slices.Sort(writes)
	writes = slices.Compact(writes)
	if !slices.Contains(writes, "after step.started Prompt2/call/note#1") || !slices.Contains(writes, "before step.ended Prompt2/call/note#1") {
		t.Fatalf("the call is not on record: %q", writes)
	}
	for _, at := range writes {
		t.Run(strings.ReplaceAll(strings.TrimSpace(at), "/", ":"), func(t *testing.T) {
			t.Parallel()
			crashInTool(t, strings.TrimRight(at, " "), whole.stdout)
		})
	}
}

func crashInTool(t *testing.T, at, want string) {
	h := newHome(t, crashingTool)
	if o := h.xmd([]string{dieVariable + "=" + restored(at)}, "run", "doc.xmd"); o.code != 137 {
		t.Skipf("not killed: this write did not come up (code %d)", o.code)
	}
	began := h.read("ran.txt")
	o := h.xmd(nil, "resume", "last")
	resent := o.code == 5
	if resent {
		before := h.prompts()
		if o := h.xmd(nil, "resume", "last"); o.code != 5 || !equalCounts(before, h.prompts()) || h.read("ran.txt") != began {
			t.Errorf("what is unsettled was not left alone: %+v", o)
		}
		if m := stepOfResend.FindAllStringSubmatch(o.stderr, -1); len(m) != 1 || strings.Contains(m[0][1], "/") {
			t.Errorf("asked about %q; stderr %s", m, o.stderr)
		}
		o = h.xmd(nil, "resume", "last", "--resend", stepOfResend.FindStringSubmatch(o.stderr)[1])
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
	ran := strings.Count(h.read("ran.txt"), "ran\n")
	if most := 1 + strings.Count(began, "ran\n"); ran != 1 && (!resent || ran != most) {
		t.Errorf("the body ran %d times", ran)
	}
	inCall := strings.Contains(at, "/call/note#1") && at != "before step.started Prompt2/call/note#1"
	if said := strings.Contains(o.stderr, "run again"); resent && inCall && !said || said && !resent {
		t.Errorf("killed %s, and the resume says: %s", at, o.stderr)
	}
	for words, n := range h.prompts() {
		if n != 1 && (!resent || n > 2) {
			t.Errorf("%q was sent %d times", words, n)
		}
	}
	after := h.read("ran.txt")
	if r := h.xmd(nil, "replay", "last"); r.code != 0 || r.stdout != want || r.stderr != "" || h.read("ran.txt") != after {
		t.Errorf("replay: %+v", r)
	}
	h.check()
}
