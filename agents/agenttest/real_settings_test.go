package agenttest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/agents/agenttest/model"
	"xmd/runtime"
)

// ownModel makes the person's model one of Codex's catalogue: it takes back no other.
func ownModel(t *testing.T, p Place, name string) {
	t.Helper()
	file := filepath.Join(p.Home, ".codex", "config.toml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(data, []byte("gpt-5-codex"), []byte(name), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The model that is chosen is the one that is asked, what is chosen is taken back, and what an agent does not offer is refused by name.
func TestRealSettings(t *testing.T) {
	Wanted(t)
	for _, c := range []struct {
		agent, over, version string
		target               func(string) Target
		want                 runtime.Settings
		asked, own           string // the model as it is asked for: chosen, and without a choice
	}{
		{"Codex", overCodex, "0.153.2", Codex, runtime.Settings{Model: "gpt-5.6-terra", Effort: "high", Mode: "workspace-write"}, "gpt-5.6-terra", "gpt-5.6-sol"},
		{"Codex", overCodex, "0.171.0", Codex, runtime.Settings{Model: "gpt-6.2-sol", Effort: "high", Mode: "workspace-write"}, "gpt-6.2-sol", "gpt-6.2-astra"},
		{"Codex", overServer, "0.153.2", CodexServer, runtime.Settings{Model: "gpt-5.6-terra", Effort: "high", Mode: "workspace-write"}, "gpt-5.6-terra", "gpt-5.6-sol"},
		{"Codex", overServer, "0.171.0", CodexServer, runtime.Settings{Model: "gpt-6.2-sol", Effort: "high", Mode: "workspace-write"}, "gpt-6.2-sol", "gpt-6.2-astra"},
		{"Claude", overClaude, "2.1.210", Claude, runtime.Settings{Model: "haiku", Mode: "acceptEdits"}, "haiku", "opus"},
		{"Claude", overClaude, "2.1.332", Claude, runtime.Settings{Model: "haiku", Mode: "acceptEdits"}, "haiku", "opus"},
	} {
		t.Run(c.agent+"/"+c.version, func(t *testing.T) {
			Record(t, Evidence{Agent: c.agent, Versions: c.version, Over: c.over, Shown: "model, effort and mode can be chosen and taken back"})
			s, err := model.Start()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			p := Place{Home: t.TempDir(), Root: t.TempDir(), Model: s.URL()}
			reach := c.target(c.version).At(t, p)
			if c.agent == "Codex" {
				ownModel(t, p, c.own)
			}
			conn, err := reach.Agent.Start(t.Context(), runtime.StartOptions{Root: p.Root, Env: reach.Env, Trace: func(d string, f []byte) {
				if strings.Contains(string(f), "configOptions") || strings.Contains(string(f), "set_") {
					t.Log(d, string(f))
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close(t.Context()) }()
			if _, err := conn.Open(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			configure := conn.(runtime.Configurer).Configure
			for _, bad := range []runtime.Settings{{Model: "nonsense"}, {Mode: "nonsense"}} {
				if err := configure(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "it offers") {
					t.Errorf("%+v: %v", bad, err)
				}
			}
			for _, step := range []struct {
				want  runtime.Settings
				model string
			}{{c.want, c.asked}, {runtime.Settings{}, c.own}} {
				if err := configure(t.Context(), step.want); err != nil {
					t.Fatal(err)
				}
				if _, err := conn.Prompt(t.Context(), runtime.Turn{Words: "SAY done"}); err != nil {
					t.Fatal(err)
				}
				all := s.Requests()
				if got := all[len(all)-1].Model; !strings.Contains(got, step.model) {
					t.Errorf("with %+v the model %q was asked, want %s", step.want, got, step.model)
				}
			}
		})
	}
}
