package agents

import (
	"slices"
	"testing"

	"xmd/runtime"
)

// What a table says of an agent reaches those who need it; what it leaves out stays as it was.
func TestCustomTables(t *testing.T) {
	m := newMachine(t, "mine", "claude", "claude-agent-acp", "codex", "codex-acp")
	m.cfg = map[string]Custom{
		"mine": {
			Command: "mine", Home: "~/mine", Mode: "ask", Model: "m", Effort: "e", Instructions: string(runtime.ChannelDoor),
			Confirm: ConfirmList, Reject: RejectContinues, Fence: FenceAnswer, Noise: []string{"n"},
		},
		"claude": {Home: "/srv/claude", Mode: "plan", Confirm: ConfirmHistory, Reject: RejectEnds, Fence: "x"},
	}
	home := envValue(m.env, "HOME")
	look := func(name string) (runtime.AgentInfo, way) {
		t.Helper()
		a, err := m.registry().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := m.registry().row(name)
		w, err := m.registry().find(p)
		if err != nil {
			t.Fatal(err)
		}
		return a.Info(), w
	}
	mine, w := look("mine")
	if mine.Home != home+"/mine" || mine.AskMode != "ask" || mine.Defaults != (runtime.Settings{Model: "m", Effort: "e"}) || mine.Channel != runtime.ChannelDoor ||
		!mine.ConfirmList || !mine.ListOnly || mine.RejectEnds || !w.profile.Driver.NoFence || !slices.Equal(w.profile.Driver.Noise, []string{"n"}) {
		t.Errorf("%+v\n%+v", mine, w.profile.Driver)
	}
	claude, w := look("claude")
	if claude.Home != "/srv/claude" || !slices.Contains(w.env, "CLAUDE_CONFIG_DIR=/srv/claude") || claude.AskMode != "default" || claude.Defaults.Mode != "plan" ||
		claude.ConfirmList || claude.ListOnly || !claude.RejectEnds || w.profile.Driver.NoFence || w.profile.Driver.Fence != "x" {
		t.Errorf("%+v\n%+v", claude, w.profile.Driver)
	}
	m.cfg = nil
	if plain, w := look("claude"); !plain.ConfirmList || plain.RejectEnds || !w.profile.Driver.NoFence || plain.Home != home+"/.claude" {
		t.Errorf("the table of the built-in agents was changed: %+v", plain)
	}
}

// Conversations for Codex's own interface are made over app-server, whatever Codex itself is reached over; what cannot be is said to be so.
func TestWhoMakesConversations(t *testing.T) {
	for name, c := range map[string]struct {
		custom    Custom
		transport string // of the agent
		env       string // that the maker gets
	}{
		"as it is":              {Custom{}, "app-server", ""},
		"over its adapter":      {Custom{Transport: "acp", Args: []string{"--x"}, Env: map[string]string{"CODEX_HOME": "/srv/codex"}}, "acp", "/srv/codex"},
		"over something of acp": {Custom{Command: "codex-acp", Fence: FenceAnswer}, "acp", ""},
	} {
		m := newMachine(t, "codex", "codex-acp")
		m.cfg = map[string]Custom{"codex": c.custom}
		a, err := m.registry().Lookup("codex")
		if err != nil {
			t.Fatal(err)
		}
		native := a.(runtime.Launcher).Native()
		if a.Info().Transport != c.transport || native.NewID != nil || !native.Instructs || native.Begins == nil {
			t.Fatalf("%s: %s, %+v", name, a.Info().Transport, native)
		}
		info := native.Begins.Info()
		if info.Transport != "app-server" || !slices.Equal(info.Command, []string{m.at("codex"), "app-server"}) || c.env != "" && info.Home != c.env {
			t.Errorf("%s: made by %+v", name, info)
		}
	}
}
