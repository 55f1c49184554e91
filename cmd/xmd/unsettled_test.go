//go:build linux

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"xmd/runtime/store"
)

// inFlight is a home whose run died while a prompt was being answered, with a part of the answer on record.
func inFlight(t *testing.T, attributes string) *home {
	t.Helper()
	h := newHome(t, "begin\n<Prompt agent=\"sim\" session=\"s\" as=\"r\" "+attributes+">the question that was in flight</Prompt>\n[{r}]\n"+
		"<Prompt agent=\"sim\" session=\"s\">and the one after it</Prompt>\n")
	h.write("script.xmd", "<WhenPrompt template=\"the question that was in flight\" times={1}>\n<Say>half of the answer</Say>\n<Exit code={9}/>\n</WhenPrompt>\n")
	if o := h.xmd([]string{dieVariable + "=after prompt.accepted Prompt1", "XMD_SIM_SCRIPT=" + filepath.Join(h.dir, "script.xmd")}, "run", "doc.xmd"); o.code != 137 {
		t.Fatalf("%+v", o)
	}
	return h
}

// What cannot be settled by itself is left alone until somebody says what to do, and each word does what it says.
func TestUnsettledPrompt(t *testing.T) {
	const words = "the question that was in flight"
	for _, c := range []struct {
		name, attributes string
		flags            []string
		out              string
		sent             int
		says             string
	}{
		{"resend", "", []string{"--resend", "Prompt1"}, "begin\n[turn 2: the question that was in flight]\nturn 3: and the one after it\n", 2, "a second time"},
		{"resend by position", "", []string{"--resend", "doc.xmd:2"}, "begin\n[turn 2: the question that was in flight]\nturn 3: and the one after it\n", 2, "a second time"},
		{"the author's word", `resend="auto"`, nil, "begin\n[turn 2: the question that was in flight]\nturn 3: and the one after it\n", 2, "a second time"},
		{"skip", "", []string{"--skip", "Prompt1"}, "begin\n[]\nturn 2: and the one after it\n", 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := inFlight(t, c.attributes)
			if c.flags != nil {
				o := h.xmd(nil, "resume", "last")
				for _, want := range []string{"doc.xmd:2:1: this prompt was in flight when its run died", "--resend Prompt1", "--adopt Prompt1", "--skip Prompt1", "[unsettled]"} {
					if !strings.Contains(o.stderr, want) {
						t.Errorf("stderr lacks %q: %s", want, o.stderr)
					}
				}
				if o.code != 5 || o.stdout != "begin\n" || h.prompts()[words] != 1 {
					t.Errorf("%+v, sent %v", o, h.prompts())
				}
			}
			o := h.xmd(nil, append([]string{"resume", "last"}, c.flags...)...)
			if o.code != 0 || o.stdout != c.out || h.prompts()[words] != c.sent || !strings.Contains(o.stderr, c.says) {
				t.Errorf("%+v, sent %v", o, h.prompts())
			}
			if r := h.xmd(nil, "replay", "last"); r.code != 0 || r.stdout != c.out {
				t.Errorf("replay: %+v", r)
			}
			h.check()
		})
	}
}

// What stands in the conversation is taken as the reply when somebody says so.
func TestAdoptedPrompt(t *testing.T) {
	h := inFlight(t, "")
	o := h.xmd(nil, "resume", "last", "--adopt", "Prompt1")
	if o.code != 0 || !regexp.MustCompile(`^begin\n\[(half of the answer)?\]\nturn 2: and the one after it\n$`).MatchString(o.stdout) ||
		!strings.Contains(o.stderr, "is taken from its conversation") {
		t.Errorf("%+v", o)
	}
	if r := h.xmd(nil, "replay", "last"); r.stdout != o.stdout {
		t.Errorf("replay: %+v", r)
	}
}

// A recovery of the session between the crash and the resume changes nothing of what the resume may do, and lets others on.
func TestRecoverThenResume(t *testing.T) {
	h := inFlight(t, "")
	h.write("other.xmd", "<Prompt agent=\"sim\" session=\"s\">SAY another run says this</Prompt>\n")
	if o := h.xmd(nil, "run", "other.xmd", "--wait", "20s"); o.code != 5 || !strings.Contains(o.stderr, "[recovery-required]") {
		t.Fatalf("%+v", o)
	}
	if o := h.xmd(nil, "sessions", "recover", "s"); o.code != 0 || !strings.Contains(o.stdout, "nothing was sent") {
		t.Fatalf("%+v", o)
	}
	if o := h.xmd(nil, "run", "other.xmd"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	runs := regexp.MustCompile(`\b[0-9A-Z]{26}\b`).FindAllString(h.xmd(nil, "runs").stdout, -1)
	if len(runs) < 3 {
		t.Fatalf("runs: %q", runs)
	}
	first := runs[len(runs)-1]
	if o := h.xmd(nil, "resume", first); o.code != 5 || h.prompts()["the question that was in flight"] != 1 {
		t.Fatalf("%+v", o)
	}
	if o := h.xmd(nil, "resume", first, "--resend", "Prompt1"); o.code != 0 || h.prompts()["the question that was in flight"] != 2 {
		t.Errorf("%+v", o)
	}
}

// A block that was running runs again, and stderr says so; marked once, it asks.
func TestBlockInFlight(t *testing.T) {
	text := "```bash exec once as=\"r\"\necho ran >> ran.txt\necho out\n```\n[{r}]\n"
	for _, c := range []struct {
		word, out string
		ran       int
	}{{"--resend", `[{`, 2}, {"--skip", "[]\n", 1}} {
		h := newHome(t, text)
		if o := h.xmd([]string{dieVariable + "=before step.ended exec1"}, "run", "doc.xmd"); o.code != 137 {
			t.Fatalf("%+v", o)
		}
		if o := h.xmd(nil, "resume", "last"); o.code != 5 || !strings.Contains(o.stderr, "is marked once. Nothing was run") || strings.Count(h.read("ran.txt"), "ran") != 1 {
			t.Fatalf("%+v", o)
		}
		if o := h.xmd(nil, "resume", "last", c.word, "exec1"); o.code != 0 || !strings.HasPrefix(o.stdout, c.out) || strings.Count(h.read("ran.txt"), "ran") != c.ran {
			t.Errorf("%s: %+v, %s", c.word, o, h.read("ran.txt"))
		}
	}
}

// Two processes on one run: the second is refused at once, naming the first; after a kill it waits for what is left.
func TestTwoProcessesOnOneRun(t *testing.T) {
	x := startXMD(t, "", sleeping)
	x.await("begun")
	x.awaitTurn()
	h := &home{t: t, dir: x.home, mark: x.mark}
	if o := h.xmd(nil, "resume", "last"); o.code != 5 || !strings.Contains(o.stderr, "the run is going on by process") {
		t.Errorf("%+v", o)
	}
	if o := h.xmd(nil, "replay", "last"); o.code != 2 || !strings.Contains(o.stderr, "has not ended") {
		t.Errorf("%+v", o)
	}
	x.signal(syscall.SIGKILL)
	_ = x.code()
	if o := h.xmd(nil, "resume", "last"); o.code != 5 || !strings.Contains(o.stderr, "[unsettled]") {
		t.Errorf("%+v", o)
	}
	x.gone()
}

// A behaviour of a later build is refused before anything is read or run.
func TestUnknownBehaviour(t *testing.T) {
	h := newHome(t, "hello\n")
	if o := h.xmd(nil, "run", "doc.xmd"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(h.dir, "state", "xmd")})
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.FindRun(context.Background(), "last")
	if err == nil {
		_, err = s.Append(context.Background(), run.ID, store.Record{Kind: "behaviour", Data: json.RawMessage(`{"at":{},"body":{"number":7}}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	for _, verb := range []string{"replay", "resume"} {
		if o := h.xmd(nil, verb, "last"); o.code != 2 || o.stdout != "" || !strings.Contains(o.stderr, "uses behaviour 7 of a later xmd") {
			t.Errorf("%s: %+v", verb, o)
		}
	}
}

// A session that was begun anew after the crash has another conversation than the prompt in flight went to: it is not sent there unasked.
func TestRestartThenResume(t *testing.T) {
	const words = "the question that was in flight"
	h := inFlight(t, "")
	if o := h.xmd(nil, "sessions", "restart", "s"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	if o := h.xmd(nil, "resume", "last"); o.code != 5 || h.prompts()[words] != 1 || !strings.Contains(o.stderr, "[unsettled]") {
		t.Fatalf("%+v, sent %v", o, h.prompts())
	}
	if o := h.xmd(nil, "resume", "last", "--resend", "Prompt1"); o.code != 0 || o.stdout != "begin\n[turn 1: the question that was in flight]\nturn 2: and the one after it\n" {
		t.Errorf("%+v", o)
	}
	if o := h.xmd(nil, "sessions", "show", "s@1"); o.code != 0 {
		t.Errorf("%+v", o)
	}
}

// What a session was told after a step goes with the step, also when the step's own turn was not accepted and its conversation was made anew
// for what came after it.
func TestRetryOfWhatNeverBegan(t *testing.T) {
	for name, session := range map[string]string{"named": ` session="s"`, "unnamed": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, "<Prompt agent=\"sim\""+session+">Remember that the codeword is ZEBRA.</Prompt>\n<Prompt agent=\"sim\""+session+">What is the codeword?</Prompt>\n")
			o := h.xmd([]string{"XMD_SIM_FAULT=crash=prompt,crash-turn=1"}, "run", "doc.xmd")
			if o.code == 0 {
				t.Fatalf("%+v", o)
			}
			if o = h.xmd(nil, "resume", "last", "--retry", "Prompt2", "--yes"); !strings.HasSuffix(o.stdout, "I know no codeword.\n") {
				t.Fatalf("%+v", o)
			}
			o = h.xmd(nil, "resume", "last", "--retry", "Prompt1", "--yes")
			if o.code != 0 || !strings.HasSuffix(o.stdout, "\nThe codeword is ZEBRA.\n") {
				t.Errorf("%+v", o)
			}
			h.check()
		})
	}
}

// A TempDir whose name was not on record when xmd was killed is gone after a resume, and one whose name was keeps it and is gone at the end.
func TestTempDirsOfAKilledRun(t *testing.T) {
	for _, at := range []string{"before step.ended TempDir1", "after step.started TempDir1/body/exec1", "before step.ended TempDir1/body/exec1"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, "<TempDir as=\"dir\">\n```sh exec with=\"dir\"\necho x > \"$dir/x\"\n```\n</TempDir>\ndone\n")
			tmp := filepath.Join(h.dir, "tmp")
			if err := os.Mkdir(tmp, 0o700); err != nil {
				t.Fatal(err)
			}
			h.env = []string{"TMPDIR=" + tmp}
			if o := h.xmd([]string{dieVariable + "=" + at}, "run", "doc.xmd"); o.code != 137 {
				t.Fatalf("%+v", o)
			}
			h.check()
			if o := h.xmd(nil, "resume", "last"); o.code != 0 || o.stdout != "done\n" {
				t.Errorf("%+v", o)
			}
			if left, _ := os.ReadDir(tmp); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
