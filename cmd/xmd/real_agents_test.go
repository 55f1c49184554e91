//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/agents/agenttest"
)

// installedAgents are all agents in the newest version of the tests, each as its person has it.
var installedAgents = []realAgent{
	{"claude", "Claude", "claude-agent-acp 0.101.0", []string{"2.1.332"}, agenttest.ClaudeEnv, "claude"},
	{"codex", "Codex", "app-server", []string{"0.171.0"}, agenttest.CodexEnv, "codex"},
	{"copilot", "Copilot", "its own ACP", []string{"1.0.102"}, agenttest.CopilotEnv, "copilot"},
	{"gemini", "Gemini", "its own ACP", []string{"0.61.0"}, agenttest.GeminiEnv, "gemini"},
	{"grok", "Grok", "its own ACP", []string{"1.0.41"}, agenttest.GrokEnv, "grok"},
	{"opencode", "OpenCode", "its own ACP", []string{"1.18.33"}, agenttest.OpenCodeEnv, "opencode"},
}

// withAll is somebody who has all of them installed.
func withAll(t *testing.T) *person { return having(t, installedAgents) }

// having is somebody who has these agents installed, each in its newest version, and one model for all of them.
func having(t *testing.T, agents []realAgent) *person {
	all := func(p agenttest.Place, _ string) ([]string, error) {
		var path []string
		var env []string
		for _, a := range agents {
			own, err := a.environ(p, a.versions[len(a.versions)-1])
			if err != nil {
				return nil, err
			}
			for _, kv := range own {
				if dirs, ok := strings.CutPrefix(kv, "PATH="); ok {
					path = append(path, strings.TrimSuffix(dirs, ":"+os.Getenv("PATH")))
				} else {
					env = append(env, kv)
				}
			}
		}
		return append(env, "PATH="+strings.Join(append(path, os.Getenv("PATH")), ":")), nil
	}
	return newPerson(t, realAgent{"all", "all", "", []string{""}, all, ""})
}

// conversationFiles are where the agents keep conversations, below a home.
var conversationFiles = []string{
	".codex/sessions", ".claude/projects", ".gemini/tmp/*/chats/*", ".copilot/session-state/*", ".grok/sessions/*/*", ".local/share/opencode/storage/session/*",
}

// noConversations checks that nobody began a conversation or asked the model anything.
func (p *person) noConversations() {
	p.t.Helper()
	for _, pattern := range conversationFiles {
		found, err := filepath.Glob(filepath.Join(p.place.Home, pattern))
		if err != nil {
			p.t.Fatal(err)
		}
		for _, dir := range found {
			_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					p.t.Errorf("%s was made", path)
				}
				return err
			})
		}
	}
	if left, _ := filepath.Glob(filepath.Join(p.place.Home, ".gemini", "*")); len(left) != 1 {
		p.t.Errorf("beside its settings Gemini has %q", left)
	}
	databases, err := filepath.Glob(filepath.Join(p.place.Home, ".local/share/opencode/opencode.db*"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, file := range databases {
		if data, err := os.ReadFile(file); err != nil || bytes.Contains(data, []byte("ses_")) {
			p.t.Errorf("%s holds a conversation (%v)", file, err)
		}
	}
	if asked := len(p.model.Requests()) + len(p.model.Hidden()); asked != 0 {
		p.t.Errorf("%d requests to a model", asked)
	}
}

func TestRealAgentsProbe(t *testing.T) {
	if os.Getenv("XMD_REAL") != "1" {
		t.Skip("real programs run with XMD_REAL=1 only: make real")
	}
	p := withAll(t)
	p.env = append(p.env, "AGENTTEST_MARK="+t.Name())
	s := p.xmd("", "agents", "--probe", "--format", "json")
	if left := agenttest.Marked(t.Name()); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
	if s.code != 0 || s.stderr != "" {
		t.Fatalf("%+v", s)
	}
	if p.noConversations(); t.Failed() {
		return // nothing is shown of any of them
	}
	var list struct{ Agents []agentLine }
	if err := json.Unmarshal([]byte(s.stdout), &list); err != nil {
		t.Fatal(err)
	}
	for _, a := range installedAgents {
		t.Run(a.name, func(t *testing.T) {
			agenttest.Record(t, agenttest.Evidence{Agent: a.shown, Versions: a.versions[0], Over: a.over, Shown: probedShown})
			i := slices.IndexFunc(list.Agents, func(l agentLine) bool { return l.Name == a.name })
			l := list.Agents[i]
			if l.Version != a.versions[0] {
				t.Errorf("version %q, %s", l.Version, l.Silent)
			}
			if l.Probe == nil || l.Probe.Capabilities == nil || !l.Probe.Load || l.Probe.List != (a.name != "gemini") || l.Probe.SignedOut {
				t.Errorf("probe %+v", l.Probe)
			}
		})
	}
}

const probedShown = "xmd agents --probe shows what it can, makes no conversation and asks no model"

func TestRealDoctor(t *testing.T) {
	if os.Getenv("XMD_REAL") != "1" {
		t.Skip("real programs run with XMD_REAL=1 only: make real")
	}
	p := withAll(t)
	s := p.xmd("", "doctor")
	if s.code != 0 || s.stderr != "" {
		t.Errorf("%+v", s)
	}
	p.noConversations()
	for _, a := range installedAgents {
		if !strings.Contains(s.stdout, a.shown+" "+a.versions[0]+" over ") {
			t.Errorf("no line says that %s %s is installed", a.shown, a.versions[0])
		}
	}
}
