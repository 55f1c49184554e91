package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/runtime"
)

func TestTreeText(t *testing.T) {
	many := "## main...origin/main [ahead 1]\n" + strings.Repeat(" M a.go\n", 14)
	for status, want := range map[string]string{
		"## main\n":                              "on main, nothing is changed",
		"## No commits yet on main\n?? a b.go\n": "on No commits yet on main, 1 file is changed:\n?? a b.go",
		many:                                     "on main, 14 files are changed:" + strings.Repeat("\n M a.go", 12) + "\nand 2 more",
		"fatal: not a git repository":            "", "": "",
	} {
		if got := treeText(status); got != want {
			t.Errorf("%q gave %q, want %q", status, got, want)
		}
	}
}

// Where there is no working tree nothing is said of one.
func TestNoTree(t *testing.T) {
	p := &program{env: environment{"PATH=" + os.Getenv("PATH"), "GIT_CEILING_DIRECTORIES=" + filepath.Dir(t.TempDir())}}
	if got := p.tree()(context.Background(), t.TempDir()); got != "" {
		t.Errorf("%q", got)
	}
}

func TestDeleting(t *testing.T) {
	const id = "01a2b3c4-5d6e"
	for agent, want := range map[string]string{
		"codex":    "delete it with: rm -r /home/me/.codex/sessions/*/*/*/rollout-*-01a2b3c4-5d6e.jsonl",
		"gemini":   "delete it with: rm -r /home/me/.gemini/tmp/*/chats/session-*-01a2b3c4.json*",
		"opencode": "delete it with: opencode session delete 01a2b3c4-5d6e",
		"mine":     "delete it by the agent's own means",
	} {
		if got := deleting(runtime.AgentInfo{Name: agent, Home: "/home/me/." + agent}, id); got != want {
			t.Errorf("%s: %q", agent, got)
		}
	}
	if got := deleting(runtime.AgentInfo{Name: "claude"}, id); got != "delete it where the agent keeps it: projects/*/01a2b3c4-5d6e.jsonl in its home" {
		t.Error(got)
	}
}
