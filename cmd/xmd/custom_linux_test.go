package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// customBase is a table that suffices.
var customBase = map[string]string{"command": `"./xmd"`, "args": `["sim"]`}

// customKey is one key of an agent's table: what a run shows with it, and what without it.
type customKey struct {
	key, value    string
	faults        string // of the agent
	first, doc    string // a run before, under the same table without faults; the run that is looked at
	between       func(h *home)
	with, without func(o outcome, took time.Duration) bool
}

func ended(code int, parts ...string) func(outcome, time.Duration) bool {
	return func(o outcome, _ time.Duration) bool {
		all := o.stdout + o.stderr
		return o.code == code && !slices.ContainsFunc(parts, func(p string) bool {
			if not, ok := strings.CutPrefix(p, "!"); ok {
				return strings.Contains(all, not)
			}
			return !strings.Contains(all, p)
		})
	}
}

const (
	customPrompt  = `<Prompt agent="mine" text="SETTINGS"/>`
	customAction  = `<Prompt agent="mine" text="PERM execute"/>`
	customSession = `<Prompt agent="mine" session="s">words that are long enough to be found</Prompt>`
)

func customKeys() []customKey {
	return []customKey{
		{key: "command", value: `"./xmd"`, doc: customPrompt, with: ended(0, "mode ask"), without: ended(2, "has no command")},
		{key: "args", value: `["sim"]`, doc: customPrompt, with: ended(0, "mode ask"), without: ended(4, "does not speak the Agent Client Protocol")},
		{key: "env", value: `{ XMD_SIM_FAULT = "new-error=-32603:from the table" }`, doc: customPrompt, with: ended(4, "from the table"), without: ended(0)},
		{key: "executable", value: `"./build"`, first: customSession, doc: customSession, between: func(h *home) { h.write("build", "two") },
			with: ended(0, "is a different build"), without: ended(0, "!different build")},
		{key: "version", value: `["/bin/sh", "./version"]`, first: customSession, doc: customSession, between: func(h *home) { h.write("version", "echo 2.0") },
			with: ended(0, "has changed from 1.5 to 2.0"), without: ended(0, "!has changed")},
		{key: "home", value: `"/the/home/of/mine"`, faults: "load-missing", first: customSession, doc: customSession,
			with: ended(5, "looked for in /the/home/of/mine"), without: ended(5, "!/the/home/of/mine")},
		{key: "model", value: `"large"`, doc: customPrompt, with: ended(0, "model large"), without: ended(0, "model small")},
		{key: "effort", value: `"high"`, doc: customPrompt, with: ended(0, "effort high"), without: ended(0, "effort low")},
		{key: "mode", value: `"ask"`, faults: "mode-auto", doc: customPrompt, with: ended(0, "mode ask"), without: ended(0, "mode auto")},
		{key: "confirm", value: `"list"`, faults: "list-omits", first: customSession, doc: customSession,
			with: ended(5, "[identity-unasserted]"), without: ended(0)},
		{key: "confirm", value: `"history"`, faults: "compacted", first: customSession, doc: customSession,
			with: ended(5, "[identity-unasserted]"), without: ended(0, "None of the recorded turns")},
		{key: "reject", value: `"continues"`, doc: customAction, with: ended(0, "permission: reject_once"), without: ended(7, "[refused]")},
		{key: "noise", value: `["[boot] "]`, faults: `noise-chunk=[boot] loading`, doc: customPrompt, with: ended(0, "mode ask", "![boot]"), without: ended(0, "[boot]")},
		{key: "fence", value: `"available_commands_update"`, first: customSession, doc: customSession,
			with:    func(o outcome, took time.Duration) bool { return o.code == 0 && took < 1900*time.Millisecond },
			without: func(o outcome, took time.Duration) bool { return o.code == 0 && took >= 2*time.Second }},
		{key: "fence", value: `"answer"`, faults: "no-commands", first: customSession, doc: customSession,
			with:    func(o outcome, took time.Duration) bool { return o.code == 0 && took < 1900*time.Millisecond },
			without: func(o outcome, took time.Duration) bool { return o.code == 0 && took >= 2*time.Second }},
		{key: "transport", value: `"app-server"`, doc: customPrompt, with: ended(2, "there is no transport"), without: ended(0)},
		{key: "instructions", value: `"nowhere"`, doc: customPrompt, with: ended(2, `write "lead" or "start" or "every" or "door"`), without: ended(0)},
	}
}

// Each key of an agent's table does something: a run with it and one without it differ.
func TestCustomAgentKeys(t *testing.T) {
	for _, k := range customKeys() {
		t.Run(k.key+" "+k.value, func(t *testing.T) {
			for _, given := range []bool{true, false} {
				o, took := k.run(t, given)
				judge, name := k.with, "with"
				if !given {
					judge, name = k.without, "without"
				}
				if !judge(o, took) {
					t.Errorf("%s it, after %s: %+v", name, took, o)
				}
			}
		})
	}
}

// run makes the runs of a key in a home of their own, and returns the one that is looked at.
func (k customKey) run(t *testing.T, given bool) (outcome, time.Duration) {
	h := newHome(t, "")
	h.write("build", "one")
	h.write("version", "echo 1.5")
	if err := os.Chmod(filepath.Join(h.dir, "build"), 0o755); err != nil {
		t.Fatal(err)
	}
	table := func(faults string) {
		keys := map[string]string{"env": fmt.Sprintf("{ XMD_SIM_HOME = %q, XMD_SIM_FAULT = %q }", filepath.Join(h.dir, "mine"), faults)}
		for key, value := range customBase {
			keys[key] = value
		}
		delete(keys, k.key)
		if given {
			keys[k.key] = k.value
		}
		var b strings.Builder
		b.WriteString("[agents.mine]\n")
		for key, value := range keys {
			fmt.Fprintf(&b, "%s = %s\n", key, value)
		}
		h.write("xmd.toml", b.String())
	}
	if k.first != "" {
		table("")
		h.write("doc.xmd", k.first)
		if o := h.xmd(nil, "run", "doc.xmd"); o.code != 0 {
			t.Fatalf("the first run: %+v", o)
		}
	}
	if k.between != nil {
		k.between(h)
	}
	table(k.faults)
	h.write("doc.xmd", k.doc)
	began := time.Now()
	return h.xmd(nil, "run", "doc.xmd"), time.Since(began)
}
