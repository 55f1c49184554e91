package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// walSync is a wait for the disk; leaves is what cannot be taken back: a prompt on its way to an agent, or a block's script.
var (
	walSync = regexp.MustCompile(`\bf(data)?sync\(\d+<[^>]*/xmd\.db-wal>`)
	goesOut = regexp.MustCompile(`\bwrite\(\d+<pipe:[^>]*>, "[^\n]*session/prompt|\bexecve\("[^"]*/bash", \["bash", `)
)

// Before a prompt or a block's script leaves, its record is on the disk, and so is the end of what came before: a wait for each.
func TestNothingLeavesBeforeItIsDurable(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	h := newHome(t, "<Prompt agent=\"sim\" session=\"s\">one</Prompt>\n<Prompt agent=\"sim\" session=\"s\">two</Prompt>\n<Prompt agent=\"sim\">three</Prompt>\n"+
		"<Prompt agent=\"sim\">four</Prompt>\n```bash exec\necho five\n```\n<Prompt agent=\"sim\" session=\"s\">six</Prompt>\n")
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(strace, "-f", "-y", "-qq", "-s", "300", "-o", trace, "-e", "trace=fsync,fdatasync,write,execve", filepath.Join(h.dir, "xmd"), "run", "doc.xmd")
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "GO_TEST_AS_XMD=1", quickExit, "HOME="+h.dir, "XDG_STATE_HOME="+filepath.Join(h.dir, "state"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	calls, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	left, syncs := 0, 1 // nothing ends before the first
	for line := range strings.Lines(string(calls)) {
		switch {
		case walSync.MatchString(line):
			syncs++
		case goesOut.MatchString(line):
			if left++; syncs < 2 {
				t.Errorf("number %d left after %d waits: %s", left, syncs, line)
			}
			syncs = 0
		}
	}
	if left != 6 {
		t.Errorf("%d things left, want 6", left)
	}
}
