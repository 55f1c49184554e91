//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A resume that is killed at any of its own writes can be resumed again, and the promises hold as before.
func TestCrashOfAResume(t *testing.T) {
	ref := newHome(t, crashing)
	want := ref.xmd(nil, "run", "doc.xmd").stdout
	for _, first := range []string{"after prompt.sent Loop1[2]/body/Prompt1", "before prompt.sent Prompt5", "after step.started exec3"} {
		list := newHome(t, crashing)
		if o := list.xmd([]string{dieVariable + "=" + first}, "run", "doc.xmd"); o.code != 137 {
			t.Fatalf("%s: %+v", first, o)
		}
		if o := list.xmd([]string{listVariable + "=" + filepath.Join(list.dir, "writes")}, "resume", "last"); o.code != 0 || o.stdout != want {
			t.Fatalf("%s: %+v", first, o)
		}
		writes := strings.Split(strings.TrimSpace(list.read("writes")), "\n")
		slices.Sort(writes)
		for _, at := range slices.Compact(writes) {
			t.Run(strings.ReplaceAll(first+", "+strings.TrimSpace(at), "/", ":"), func(t *testing.T) {
				t.Parallel()
				crashTwice(t, first, restored(strings.TrimRight(at, " ")), want)
			})
		}
	}
}

func crashTwice(t *testing.T, first, second, want string) {
	h := newHome(t, crashing)
	if o := h.xmd([]string{dieVariable + "=" + first}, "run", "doc.xmd"); o.code != 137 {
		t.Fatalf("%+v", o)
	}
	if o := h.xmd([]string{dieVariable + "=" + second}, "resume", "last"); o.code != 137 {
		t.Skipf("not killed: this write did not come up (%+v)", o)
	}
	o := h.xmd(nil, "resume", "last")
	resent := false
	if o.code == 5 {
		again := []string{"resume", "last"}
		for _, m := range stepOfResend.FindAllStringSubmatch(o.stderr, -1) {
			again = append(again, "--resend", m[1])
		}
		resent = true
		o = h.xmd(nil, again...)
	}
	if o.code == 2 && strings.HasPrefix(second, "after run.ended") {
		o = h.xmd(nil, "replay", "last")
	}
	if o.code != 0 || o.stdout != want {
		t.Fatalf("resume: code %d\n%s\nstderr %s\nwant %s", o.code, o.stdout, o.stderr, want)
	}
	for words, n := range h.prompts() {
		if n != 1 && (!resent || n > 2) {
			t.Errorf("%q was sent %d times", words, n)
		}
	}
	if r := h.xmd(nil, "replay", "last"); r.code != 0 || r.stdout != want {
		t.Errorf("replay: %+v", r)
	}
	h.check()
}

// A disk that fills up in the middle of a reply ends the run with a clear error. When there is room again the run goes on, and nothing
// that was recorded is lost or sent again. A reply that goes on is not kept in memory: its turn is ended.
func TestDiskFull(t *testing.T) {
	for _, chunks := range []int{3000, 40_000} {
		t.Run(fmt.Sprint(chunks), func(t *testing.T) { diskFull(t, chunks) })
	}
}

func diskFull(t *testing.T, chunks int) {
	h := newHome(t, fmt.Sprintf("<Prompt agent=\"sim\" session=\"s\">SAY the first answer</Prompt>\n<Prompt agent=\"sim\" session=\"s\">CHUNKS %d 1000</Prompt>\n"+
		"<Prompt agent=\"sim\" session=\"s\">SAY the last answer</Prompt>\n", chunks))
	state := filepath.Join(h.dir, "full")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", state).CombinedOutput(); err != nil {
		t.Skipf("no file system of its own can be mounted: %v, %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", state).Run() })
	env := []string{"XMD_STATE_DIR=" + filepath.Join(state, "xmd")}
	o := h.xmd(env, "run", "doc.xmd")
	if o.code != 1 || !strings.Contains(o.stderr, "no space is left") || !strings.Contains(o.stderr, "[store]") || !strings.HasPrefix(o.stdout, "the first answer\n") {
		t.Fatalf("code %d, %d bytes, stderr %s", o.code, len(o.stdout), o.stderr)
	}
	if whole := chunks * 1000; whole > 10<<20 && len(o.stdout) > whole/2 {
		t.Errorf("%d bytes of %d came after the disk was full", len(o.stdout), whole)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=300m", state).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	(&started{t: t, mark: h.mark}).gone()
	o = h.xmd(env, "resume", "last")
	if o.code == 5 {
		o = h.xmd(env, "resume", "last", "--resend", "Prompt2")
	}
	if o.code != 0 || !strings.HasPrefix(o.stdout, "the first answer\n") || !strings.HasSuffix(o.stdout, "\nthe last answer\n") || strings.Count(o.stdout, "x") != chunks*999 {
		t.Errorf("code %d, %d bytes, stderr %s", o.code, len(o.stdout), o.stderr)
	}
	if n := h.prompts()["SAY the first answer"]; n != 1 {
		t.Errorf("the first prompt was sent %d times", n)
	}
	if r := h.xmd(env, "replay", "last"); r.code != 0 || r.stdout != o.stdout {
		t.Errorf("replay: code %d, %d bytes, %s", r.code, len(r.stdout), r.stderr)
	}
}
