//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/runtime/store"
)

// journalOf makes records of lines "kind step {body}".
func journalOf(t *testing.T, lines ...string) (list []store.Record) {
	t.Helper()
	for i, line := range lines {
		words := append(strings.SplitN(line, " ", 3), "", "{}")
		if words[2] == "" {
			words[2] = "{}"
		}
		data := fmt.Sprintf(`{"at":{"step":%q,"position":"doc1.xmd:5:1"},"body":%s}`, words[1], words[2])
		if !json.Valid([]byte(data)) {
			t.Fatal(data)
		}
		list = append(list, store.Record{Seq: int64(i + 1), Kind: words[0], Step: words[1], Time: time.Unix(int64(i), 0), Data: json.RawMessage(data)})
	}
	return list
}

// whole is the journal of a prompt that was sent and answered and of a block that ran.
var whole = []string{
	`step.started Prompt1 {"kind":"prompt"}`, `prompt.sent Prompt1 {"words":"slow q1.L1.d1"}`, `prompt.ended Prompt1 {"outcome":"done"}`,
	`step.ended Prompt1 {"kind":"prompt","outcome":"done"}`, `step.started exec2 {"kind":"exec"}`, `step.ended exec2 {"kind":"exec","outcome":"done"}`,
}

// A record that is gone, or was changed in any part, is found; one that was added behind is none.
func TestLost(t *testing.T) {
	before := journalOf(t, whole...)
	if what := lost(before, append(journalOf(t, whole...), store.Record{Seq: 7})); what != "" {
		t.Error(what)
	}
	if lost(before, before[:5]) == "" || lost(before, nil) == "" || lost(before, before[1:]) == "" {
		t.Error("a lost record was not found")
	}
	for name, change := range map[string]func(r *store.Record){
		"data": func(r *store.Record) { r.Data = json.RawMessage(`{}`) }, "kind": func(r *store.Record) { r.Kind = "x" },
		"step": func(r *store.Record) { r.Step = "x" }, "time": func(r *store.Record) { r.Time = r.Time.Add(1) }, "seq": func(r *store.Record) { r.Seq++ },
	} {
		now := journalOf(t, whole...)
		change(&now[3])
		if lost(before, now) == "" {
			t.Errorf("a changed %s was not found", name)
		}
	}
}

// A result that is made again is found, one that failed or was asked for is none.
func TestAgain(t *testing.T) {
	resend := `prompt.discarded Prompt1 {"reason":"resend"}`
	byItself := `prompt.discarded Prompt1 {"reason":"resume"}`
	sent := `prompt.sent Prompt1 {"words":"slow q1.L1.d1"}`
	for _, c := range []struct {
		name  string
		more  []string
		asked map[string]int
		bad   int
	}{
		{"as it should be", nil, nil, 0},
		{"sent again", []string{sent}, nil, 1},
		{"sent again when asked", []string{resend, sent}, map[string]int{"Prompt1": 1}, 0},
		{"thrown away unasked", []string{byItself, sent}, nil, 1},
		{"the block again", []string{`step.started exec2 {"kind":"exec"}`}, nil, 1},
		{"a block that failed", []string{`step.ended exec2 {"kind":"exec","outcome":"failed"}`, `step.started exec2 {"kind":"exec"}`}, nil, 0},
		{"a decision", []string{`step.ended If3 {"kind":"if","outcome":"done"}`, `step.discarded If3 {"reason":"resume"}`}, nil, 0},
	} {
		if bad := again(journalOf(t, append(slices.Clone(whole), c.more...)...), c.asked); len(bad) != c.bad {
			t.Errorf("%s: %q", c.name, bad)
		}
	}
}

// A prompt that an agent has twice is found, unless its first turn failed or somebody asked for a second.
func TestTwice(t *testing.T) {
	sent := `prompt.sent Prompt1 {"words":"slow q1.L1.d1"}`
	for _, c := range []struct {
		name  string
		lines []string
		there int
		asked map[string]int
		bad   int
	}{
		{"once", whole, 1, nil, 0},
		{"never", whole, 0, nil, 0},
		{"twice", whole, 2, nil, 1},
		{"sent after a crash and there before", []string{sent, sent}, 2, nil, 1},
		{"sent after a crash and not there before", []string{sent, sent}, 1, nil, 0},
		{"after a failure", []string{sent, `prompt.ended Prompt1 {"outcome":"failed"}`, sent}, 2, nil, 0},
		{"after a failure, once too often", []string{sent, `prompt.ended Prompt1 {"outcome":"failed"}`, sent}, 3, nil, 1},
		{"asked for", []string{sent, `prompt.discarded Prompt1 {"reason":"resend"}`, sent}, 2, map[string]int{"Prompt1": 1}, 0},
		{"nobody asked", []string{sent, `prompt.discarded Prompt1 {"reason":"resend"}`, sent}, 2, nil, 1},
	} {
		if bad := twice(journalOf(t, c.lines...), map[string]int{"q1.L1.d1": c.there, "q9.L9.d1": 7}, c.asked); len(bad) != c.bad {
			t.Errorf("%s: %q", c.name, bad)
		}
	}
}

// Prompts are counted in the agents' files by the last token in each: a handoff in front of the words holds those of others.
func TestDelivered(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	user := `{"type":"user","content":[{"type":"text","text":"they said q1.L1.d1"},{"type":"text","text":"slow q2.L1.d1.a"}]}` + "\n"
	text := `{"type":"session"}` + "\n" + user + `{"type":"agent","text":"done q3.L1.d1"}` + "\n" + user + `{"type":"user","content":[{"type":"te`
	if err := os.WriteFile(filepath.Join(home, "sessions", "a.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := delivered(home, filepath.Join(home, "none"))
	if err != nil || len(got) != 1 || got["q2.L1.d1.a"] != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestRanTwice(t *testing.T) {
	execs := map[string]int{"e1.L1.d1": 5}
	for ran, bad := range map[string]int{"e1.L1.d1\n": 0, "e1.L1.d1\ne1.L1.d1\n": 1, "": 1, "e11.L1.d1\n": 1} {
		if got := ranTwice(journalOf(t, whole...), execs, ran); len(got) != bad {
			t.Errorf("%q: %q", ran, got)
		}
	}
}

func TestInOrder(t *testing.T) {
	want := []string{"done q1.L1.d1", "the end"}
	if bad := inOrder(want, "begin\ndone q1.L1.d1\nthe end\n"); bad != nil {
		t.Error(bad)
	}
	for _, text := range []string{"begin\nthe end\n", "the end\ndone q1.L1.d1\n", ""} {
		if inOrder(want, text) == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestBadEnd(t *testing.T) {
	for name, c := range map[string]call{
		"hung": {hung: true}, "held": {held: true}, "a fault": {code: 1, stderr: "x [internal]"}, "a panic": {code: 2, stderr: "panic: x\n\ngoroutine 1 [running]:"},
		"the store": {code: 1, stderr: "x [store]"}, "a divergence": {code: 1, stderr: "x [divergence]"}, "killed by others": {code: 137},
	} {
		if badEnd(c) == "" {
			t.Errorf("%s was taken", name)
		}
	}
	for _, c := range []call{{}, {code: 5, stderr: "x [unsettled]"}, {code: 137, struck: true}, {code: 130}} {
		if what := badEnd(c); what != "" {
			t.Errorf("%+v: %s", c, what)
		}
	}
}

// A process, a file, a lock and a stranger in the state folder are found.
func TestWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	mark := "TMPDIR=" + dir
	cmd := exec.Command("sleep", "60")
	cmd.Env = []string{mark}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := marked(mark)
	for len(found) == 0 || !strings.HasPrefix(found[0].line, "sleep") { // until it has become sleep
		found = marked(mark)
	}
	if found[0].pid != cmd.Process.Pid || found[0].role != killGrandchild || len(marked(mark+"x")) != 0 || len(marked("TMPDIR="+filepath.Dir(dir))) != 0 {
		t.Errorf("%+v", found)
	}
	if len(gone(mark, time.Millisecond)) != 1 || len(below(found, os.Getpid())) != 1 {
		t.Error("it was not found")
	}
	l := &life{w: &world{counts: map[string]int{}, out: io.Discard}, mark: mark}
	l.left(time.Millisecond)
	_ = cmd.Wait()
	if !l.failed || len(l.w.findings) != 1 || len(gone(mark, 0)) != 0 {
		t.Errorf("%+v", l.w.findings)
	}
	locks := filepath.Join(dir, "locks")
	held := filepath.Join(locks, "run-1.lock")
	for _, path := range []string{"xmd.db", "xmd.db-wal", "new", "locks/run-1.lock", "locks/x.tmp", "faults/1.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := strangers(dir); len(got) != 3 {
		t.Errorf("%q", got)
	}
	if got := unexpected(dir, "xmd.db", "xmd.db-wal", "locks", "faults"); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if got := heldLocks(dir); got != nil {
		t.Errorf("%q", got)
	}
	f, err := os.Open(held)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if got := heldLocks(dir); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// The same seed chooses the same documents and kills, another one others.
func TestSeed(t *testing.T) {
	choose := func(seed uint64) string {
		var all []any
		for n := range 20 {
			w := &world{o: options{seed: seed, xmd: "xmd"}, dir: t.TempDir()}
			l, err := w.newLife(n)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range l.docs {
				all = append(all, d.text, strikes(l.rng))
			}
		}
		return fmt.Sprint(all...)
	}
	if once, twice := choose(1), choose(1); once != twice || once == choose(2) {
		t.Error("a seed is not a choice")
	}
}

func TestRole(t *testing.T) {
	for line, want := range map[string]string{
		"xmd __guardian  2s": "guardian", "/x/xmd sim --home /y": "agent", "/x/xmd run doc.xmd": "xmd", "/x/xmd door-shim": "grandchild", "sleep 600": "grandchild", "": "grandchild",
	} {
		if got := role(line); got != want {
			t.Errorf("%q is a %s, want %s", line, got, want)
		}
	}
}

// A finding ends a soak with code 1, names what repeats it and keeps the folder; without one nothing is kept.
func TestSum(t *testing.T) {
	var out strings.Builder
	w := &world{dir: t.TempDir(), counts: map[string]int{"kill: xmd": 3}, out: io.Discard, o: options{seed: 42, xmd: "/x/xmd"}}
	w.find(finding{"L7", "01RUN", "it was lost"})
	if code := w.sum(&out); code != 1 {
		t.Errorf("code %d", code)
	}
	for _, part := range []string{"kill: xmd", "-seed 42", "L7", "01RUN", "it was lost", w.dir} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is missing in %s", part, out.String())
		}
	}
	if _, err := os.Stat(w.dir); err != nil {
		t.Error(err)
	}
	w.findings = nil
	if code := w.sum(&out); code != 0 {
		t.Errorf("code %d", code)
	}
	if _, err := os.Stat(w.dir); err == nil {
		t.Error("the folder is kept")
	}
}
