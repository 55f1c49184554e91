//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/runtime/store"
)

// home is one in which xmd is run several times.
type home struct {
	t     *testing.T
	dir   string
	mark  string
	agent string        // whose session w is looked at
	env   []string      // further variables of every xmd
	limit time.Duration // how long an xmd may take; 0: as long as the test
}

func newHome(t *testing.T, text string) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir, mark: "MARK=" + dir, agent: "sim"}
	h.write("doc.xmd", text)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "xmd")); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *home) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(h.dir, name))
	return string(text)
}

// outcome is how one xmd ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// xmd runs it to its end; env are further variables.
func (h *home) xmd(env []string, args ...string) outcome {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	if h.limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, h.limit)
	}
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(h.dir, "xmd"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // where it hangs is on stderr then
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "GO_TEST_AS_XMD=1", quickExit, "HOME="+h.dir, "XDG_STATE_HOME="+filepath.Join(h.dir, "state"), h.mark)
	cmd.Env = append(append(cmd.Env, h.env...), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	o := outcome{stdout: out.String(), stderr: errs.String()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if o.code = exit.ExitCode(); o.code < 0 {
			o.code = 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
		}
	} else if err != nil {
		h.t.Fatal(err)
	}
	return o
}

// prompts counts the prompts that the scripted agent has in all its conversations, by their words.
func (h *home) prompts() map[string]int {
	h.t.Helper()
	if h.agent == "codex" {
		return h.codexPrompts()
	}
	counts := map[string]int{}
	files, _ := filepath.Glob(filepath.Join(h.dir, "state", "xmd-sim", "sessions", "*.jsonl"))
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			h.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var entry struct {
				Type    string `json:"type"`
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			}
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Type == "user" && len(entry.Content) > 0 {
				counts[entry.Content[0].Text]++
			}
		}
	}
	return counts
}

// aside runs something on a copy of everything that is stored and puts it back after.
func (h *home) aside(do func()) {
	h.t.Helper()
	state := filepath.Join(h.dir, "state")
	if out, err := exec.Command("cp", "-a", state, state+".kept").CombinedOutput(); err != nil {
		h.t.Fatal(err, string(out))
	}
	do()
	if err := errors.Join(os.RemoveAll(state), os.Rename(state+".kept", state)); err != nil {
		h.t.Fatal(err)
	}
}

// check looks whether the store is whole and nothing of any xmd is left.
func (h *home) check() {
	h.t.Helper()
	(&started{t: h.t, mark: h.mark}).gone()
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(h.dir, "state", "xmd")})
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Check(context.Background()); err != nil {
		h.t.Error(err)
	}
}

const crashing = `begin
<Loop max={2}>
<Prompt agent="sim" session="s">SAY round {loop.index} of the loop is answered</Prompt>
</Loop>
<Parallel>
<Prompt agent="sim" session="p">SAY the left branch says this much</Prompt>
<Prompt agent="sim">SAY the right branch says that much</Prompt>
</Parallel>
` + "```bash exec\necho ran >> ran.txt\necho out\n```" + `
<File path="written.txt">what is written</File>
<Prompt agent="sim" session="s" as="r">SAY the last word of the run</Prompt>
got {r}
`

var stepOfResend = regexp.MustCompile(`--resend (\S+)`)

// TestCrashMatrix kills xmd before and after each write of a run, and looks what the store shows to another run and what a resume makes of it:
// no result is lost or made again, no prompt is sent twice unasked, and what is printed is what an undisturbed run prints.
func TestCrashMatrix(t *testing.T) {
	ref := newHome(t, crashing)
	whole := ref.xmd([]string{listVariable + "=" + filepath.Join(ref.dir, "writes")}, "run", "doc.xmd")
	if whole.code != 0 {
		t.Fatalf("%+v", whole)
	}
	writes := strings.Split(strings.TrimSpace(ref.read("writes")), "\n")
	slices.Sort(writes)
	writes = slices.Compact(writes)
	if len(writes) < 40 {
		t.Fatalf("only %d writes: %q", len(writes), writes)
	}
	for _, at := range writes {
		t.Run(strings.ReplaceAll(strings.TrimSpace(at), "/", ":"), func(t *testing.T) {
			t.Parallel()
			crashOnce(t, strings.TrimRight(at, " "), whole.stdout)
		})
	}
}

func crashOnce(t *testing.T, at, want string) {
	h := newHome(t, crashing)
	if o := h.xmd([]string{dieVariable + "=" + restored(at)}, "run", "doc.xmd"); o.code != 137 {
		t.Skipf("not killed: this write did not come up (code %d)", o.code)
	}
	h.aside(func() { otherRun(t, h, at) })
	o := h.xmd(nil, "resume", "last")
	resent := false
	if o.code == 5 {
		again := []string{"resume", "last"}
		for _, m := range stepOfResend.FindAllStringSubmatch(o.stderr, -1) {
			again = append(again, "--resend", m[1])
		}
		before := h.prompts()
		if o := h.xmd(nil, "resume", "last"); o.code != 5 || !equalCounts(before, h.prompts()) {
			t.Errorf("an unsettled prompt was not left alone: %+v", o)
		}
		resent = true
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
	for words, n := range h.prompts() {
		if n != 1 && (!resent || n > 2) {
			t.Errorf("%q was sent %d times", words, n)
		}
	}
	checkEffects(t, h, at, o)
	if r := h.xmd(nil, "replay", "last"); r.code != 0 || r.stdout != want || r.stderr != "" {
		t.Errorf("replay: %+v", r)
	}
	h.check()
}

// restored is a write's name with the space that its empty step leaves at its end.
func restored(at string) string {
	if strings.Count(at, " ") == 1 {
		return at + " "
	}
	return at
}

// checkEffects looks at what the exec block and the file did.
func checkEffects(t *testing.T, h *home, at string, o outcome) {
	t.Helper()
	ran := strings.Count(h.read("ran.txt"), "ran\n")
	again := strings.Contains(o.stderr, "it runs again")
	if ran != 1 && (ran != 2 || !again) {
		t.Errorf("the block ran %d times; stderr %s", ran, o.stderr)
	}
	if again != (at == "after step.started exec3" || at == "before exec.output exec3" || at == "before step.ended exec3") {
		t.Errorf("killed %s, and the resume says: %s", at, o.stderr)
	}
	if got := h.read("written.txt"); got != "what is written" {
		t.Errorf("the file holds %q", got)
	}
}

// otherRun is another run on the session of the loop: it takes over what is idle, and refuses where a turn was in flight.
func otherRun(t *testing.T, h *home, at string) {
	t.Helper()
	h.write("other.xmd", "<Prompt agent=\"sim\" session=\"s\">SAY another run says this</Prompt>\n")
	before := h.prompts()
	o := h.xmd(nil, "run", "other.xmd", "--wait", "20s")
	phase, rest, _ := strings.Cut(at, " ")
	kind, step, _ := strings.Cut(rest, " ")
	inFlight := (kind == "prompt.sent" && phase == "after" || kind == "prompt.accepted" || kind == "message" || kind == "prompt.ended" && phase == "before") &&
		(strings.HasPrefix(step, "Loop1") || step == "Prompt5")
	switch {
	case inFlight && (o.code != 5 || !strings.Contains(o.stderr, "xmd sessions recover sim:s") || !equalCounts(before, h.prompts())):
		t.Errorf("killed %s, another run: %+v", at, o)
	case !inFlight && (o.code != 0 || o.stdout != "another run says this\n"):
		t.Errorf("killed %s, another run: %+v", at, o)
	}
}

func equalCounts(a, b map[string]int) bool {
	if len(a) != len(b) {
		return false
	}
	for k, n := range a {
		if b[k] != n {
			return false
		}
	}
	return true
}
