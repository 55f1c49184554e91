package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// ending is one way for a run to end.
type ending struct {
	name, doc string
	env, args []string
	signal    syscall.Signal // sent when the program prints "ready"; 0: none
	closed    bool           // stdout is closed then
	outcome   string         // in run.ended
	kind      string         // of its first error
}

// rules make the prompt "late" ask for something after a while, and end at the refusal.
var rules = []string{"XMD_SIM_FAULT=reject-ends", "XMD_SIM_SCRIPT=rules.script"}

const rulesScript = "<WhenPrompt template=\"late\"><Wait ms={700}/><ToolCall kind=\"execute\" title=\"x\" ask/>done</WhenPrompt>\n"

// endings are all exit codes of the table in specs/cli.md.
var endings = map[string][]ending{
	"0": {{name: "done", doc: "hello\n", outcome: "done"}},
	"1": {
		{name: "a step failed", doc: "```sh exec\nexit 3\n```\n", outcome: "failed", kind: "failed"},
		{name: "an author's timeout", doc: "```sh exec timeout=50ms\nsleep 60\n```\n", outcome: "failed", kind: "timeout"},
		{name: "a fault of xmd", doc: "a\n```sh exec\necho b\n```\n", env: []string{panicVariable + "=before step.started exec1"}, outcome: "failed", kind: "internal"},
		{name: "a fault in a branch", doc: "<Parallel>\n```sh exec\nsleep 60\n```\n```sh exec\necho b\n```\n</Parallel>\n", env: []string{panicVariable + "=before step.started Parallel1/branch2/exec1"}, outcome: "failed", kind: "internal"},
		{name: "the first in document order", doc: "<Parallel>\n<Prompt agent=\"sim\">SLEEP 500</Prompt>\n<Prompt agent=\"sim\">FAIL -32603 broken</Prompt>\n<Prompt agent=\"sim\">late</Prompt>\n</Parallel>\n", env: rules, outcome: "failed", kind: "failed"},
	},
	"2": {
		{name: "an invalid document", doc: "<Prompt>\n", outcome: "invalid", kind: "invalid"},
		{name: "usage", doc: "a\n", args: []string{"--timeout", "soon"}, outcome: "invalid", kind: "usage"},
	},
	"3": {{name: "waiting", doc: "<Elicit as=\"x\">which?</Elicit>\n", outcome: "waiting", kind: "waiting"}},
	"4": {{name: "an agent is missing", doc: "<Prompt agent=\"grok\">hi</Prompt>\n", env: []string{"PATH=/nowhere"}, outcome: "failed", kind: "agent-unavailable"}},
	"5": {{name: "a session cannot be continued", doc: "<Prompt agent=\"sim\" session=\"w\">hi</Prompt>\n", env: []string{"XMD_SIM_FAULT=load-missing"}, outcome: "failed", kind: "conversation-missing"}},
	"6": {{name: "a limit", doc: "<Prompt agent=\"sim\">SLEEP 60000</Prompt>\n", args: []string{"--timeout-prompt", "100ms"}, outcome: "failed", kind: "limit"}},
	"7": {
		{name: "refused", doc: "<Prompt agent=\"sim\">PERM execute</Prompt>\n", env: rules[:1], outcome: "failed", kind: "refused"},
		{name: "the first in document order, though it came last", doc: "<Parallel>\n<Prompt agent=\"sim\">late</Prompt>\n<Prompt agent=\"sim\">FAIL -32603 broken</Prompt>\n</Parallel>\n", env: rules, outcome: "failed", kind: "refused"},
	},
	"130": {
		{name: "SIGINT in a program", doc: "```sh exec\necho ready; sleep 60\n```\n", signal: syscall.SIGINT, outcome: "cancelled", kind: "cancelled"},
		{name: "SIGINT in a turn", doc: "ready\n<Prompt agent=\"sim\">SLEEP 60000</Prompt>\n", signal: syscall.SIGINT, outcome: "cancelled"},
		{name: "SIGINT after a failure", doc: "<Prompt agent=\"sim\">FAIL -32603 broken</Prompt>\n```sh exec\necho ready; sleep 60\n```\n", signal: syscall.SIGINT, outcome: "cancelled", kind: "failed"},
	},
	"143": {{name: "SIGTERM", doc: "```sh exec\necho ready; sleep 60\n```\n", signal: syscall.SIGTERM, outcome: "cancelled", kind: "cancelled"}},
	"141": {{name: "stdout was closed", doc: "```sh exec\necho ready; sleep 1; yes ready | head -c 3000000; sleep 60\n```\n", closed: true}},
}

// Every code of the table has a run that ends with it, whose machine form is whole.
func TestExitCodes(t *testing.T) {
	page, err := os.ReadFile("../../specs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)\| code \| meaning \|(.*?)\n\n`).FindString(string(page))
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([0-9 /]+) \|`).FindAllStringSubmatch(table, -1) {
		for code := range strings.SplitSeq(row[1], " / ") {
			listed[code] = true
		}
	}
	if len(listed) != len(endings) {
		t.Errorf("the table lists %v", listed)
	}
	for code, list := range endings {
		if !listed[code] {
			t.Errorf("the table does not list %s", code)
		}
		for _, e := range list {
			t.Run(code+" "+e.name, func(t *testing.T) { e.check(t, code) })
		}
	}
}

func (e ending) check(t *testing.T, code string) {
	h := newHome(t, e.doc)
	h.remembers()
	h.write("rules.script", rulesScript)
	cmd := exec.Command(filepath.Join(h.dir, "xmd"), append([]string{"run", "doc.xmd", "--format", "ndjson"}, e.args...)...)
	cmd.Dir, cmd.Env = h.dir, h.environ(e.env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	buf := make([]byte, 64<<10)
	for sent := false; ; {
		n, err := out.Read(buf)
		text.Write(buf[:n])
		if !sent && strings.Contains(text.String(), "ready") && strings.Contains(text.String(), "step.started") {
			if sent = true; e.signal != 0 {
				_ = cmd.Process.Signal(e.signal)
			}
			if e.closed {
				_ = out.Close()
			}
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != code {
		t.Errorf("exit code %s, want %s; stderr %q", got, code, errs.String())
	}
	if e.closed {
		if errs.Len() > 0 {
			t.Errorf("not silent: %q", errs.String())
		}
		h.check()
		return
	}
	checkEvents(t, text.String())
	end := text.String()[strings.LastIndex(strings.TrimSpace(text.String()), "\n")+1:]
	if !strings.Contains(end, `"outcome":"`+e.outcome+`"`) || !strings.Contains(end, `"exitCode":`+code) {
		t.Errorf("the end is %s", end)
	}
	if first := regexp.MustCompile(`"errors":\[\{"code":\d+,"kind":"([a-z-]+)"`).FindStringSubmatch(end); e.kind != "" && (first == nil || first[1] != e.kind) {
		t.Errorf("the first error is %v, want %s: %s", first, e.kind, end)
	}
	if strings.Contains(errs.String(), "goroutine ") {
		t.Errorf("a stack: %q", errs.String())
	}
	h.check()
}

// A fault of xmd ends a run as a failure does: the rest of it can be done later, and nothing is sent twice.
func TestRunGoesOnAfterAFault(t *testing.T) {
	for _, at := range []string{"before step.started exec2", "after prompt.sent Prompt1", "before session.attached Prompt1", "before step.ended Prompt1"} {
		t.Run(at, func(t *testing.T) {
			h := newHome(t, "begin\n<Prompt agent=\"sim\" session=\"w\">SAY once</Prompt>\n```sh exec\necho b\n```\n")
			o := h.plain([]string{panicVariable + "=" + at, "HIDDEN=hunter22"}, "run", "doc.xmd", "--secret", "HIDDEN")
			path := regexp.MustCompile(`xmd met a fault of its own: made by a test, \*\*\*; please report it with (.*) \[internal\]\ngo on with: xmd resume [0-9A-Z]{26}\n$`).FindStringSubmatch(o.stderr)
			if o.code != 1 || path == nil {
				t.Fatalf("%+v", o)
			}
			report, err := os.ReadFile(path[1])
			if err != nil || !strings.Contains(string(report), "goroutine ") || strings.Contains(string(report), "hunter22") {
				t.Errorf("the report: %v %q", err, report)
			}
			if s := h.plain(nil, "show", "last"); !strings.Contains(s.stdout, "failed") {
				t.Errorf("shown: %+v", s)
			}
			o = h.plain([]string{"HIDDEN=hunter22"}, "resume", "last")
			if o.code != 0 || o.stdout != "begin\nonce\nb\n" {
				t.Errorf("resumed: %+v", o)
			}
			if n := h.prompts()["SAY once"]; n != 1 {
				t.Errorf("sent %d times", n)
			}
			h.check()
		})
	}
}
