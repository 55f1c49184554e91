package agents

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/runtime"
)

// An agent that speaks ACP itself is what is started, what is observed and what a person types; npx fetches none.
func TestSpeakingAgents(t *testing.T) {
	for _, c := range []struct {
		agent   string
		args    []string
		install string
		resume  []string
		home    []string // below the person's, and what names another
	}{
		{"copilot", []string{"--acp", "--allow-all-mcp-server-instructions"}, "npm install -g @github/copilot@", []string{"--resume", "ID"}, []string{".copilot", "COPILOT_HOME"}},
		{"grok", []string{"agent", "--no-leader", "stdio"}, "npm install -g @xai-official/grok@", []string{"--resume", "ID"}, []string{".grok", "GROK_HOME"}},
	} {
		t.Run(c.agent, func(t *testing.T) {
			m := newMachine(t, c.agent, "npx")
			native := func(agent, command string) string { return agent + " in " + command }
			a, err := New(Options{Env: m.env, Self: "/opt/xmd", Native: native}).Lookup(c.agent)
			if err != nil {
				t.Fatal(err)
			}
			info, command := a.Info(), m.at(c.agent)
			if !slices.Equal(info.Command, append([]string{command}, c.args...)) || info.Executable != c.agent+" in "+command || info.VersionArgv != nil {
				t.Errorf("%+v", info)
			}
			if !info.RejectEnds || !info.ConfirmList || info.ConfirmLoad {
				t.Errorf("what is known of it: %+v", info)
			}
			p, err := a.(runtime.Launcher).Window(runtime.WindowRequest{ID: "ID", Root: "/work", Env: m.env})
			if err != nil || !slices.Equal(p.Argv, append([]string{command}, c.resume...)) {
				t.Errorf("window %q, %v", p.Argv, err)
			}
			if info := a.(runtime.Launcher).Native(); info.NewID != nil || info.Instructs {
				t.Errorf("native %+v", info)
			}

			if filepath.Base(info.Home) != c.home[0] {
				t.Errorf("home %q", info.Home)
			}
			away := append(slices.Clone(m.env), c.home[1]+"=/away")
			if a, err := New(Options{Env: away}).Lookup(c.agent); err != nil || a.Info().Home != "/away" {
				t.Errorf("%v, home not /away", err)
			}

			_, err = newMachine(t, "npx").registry().Lookup(c.agent)
			if runtime.KindOf(err) != runtime.KindUnavailable || !strings.Contains(err.Error(), c.install) {
				t.Errorf("not installed: %v", err)
			}

			own := m.program(m.at("own-" + c.agent))
			m.cfg = map[string]Custom{c.agent: {Command: own, Args: []string{"serve"}}}
			a, err = New(Options{Env: m.env, Config: m.cfg, Native: native}).Lookup(c.agent)
			if err != nil {
				t.Fatal(err)
			}
			if info = a.Info(); !slices.Equal(info.Command, []string{own, "serve"}) || info.Executable != c.agent+" in "+own {
				t.Errorf("configured: %+v", info)
			}
		})
	}
}
