package agents

import (
	"strings"
	"testing"

	"xmd/runtime"
)

// Where an agent takes instructions: by the table, and as the configuration says.
func TestChannels(t *testing.T) {
	for name, c := range map[string]struct {
		agent string
		cfg   Custom
		want  runtime.Channel
		tools bool
	}{
		"codex":                  {"codex", Custom{}, runtime.ChannelStart, true},
		"codex over ACP":         {"codex", Custom{Transport: "acp"}, runtime.ChannelStart, false},
		"claude":                 {"claude", Custom{}, runtime.ChannelEvery, false},
		"grok":                   {"grok", Custom{}, runtime.ChannelStart, false},
		"copilot":                {"copilot", Custom{}, runtime.ChannelDoor, false},
		"gemini":                 {"gemini", Custom{}, runtime.ChannelDoor, false},
		"opencode":               {"opencode", Custom{}, runtime.ChannelDoor, false},
		"a custom one":           {"mine", Custom{Command: "claude"}, runtime.ChannelLead, false},
		"a custom one, start":    {"mine", Custom{Command: "claude", Instructions: "start"}, runtime.ChannelStart, false},
		"a custom one, door":     {"mine", Custom{Command: "claude", Instructions: "door"}, runtime.ChannelDoor, false},
		"claude, told otherwise": {"claude", Custom{Instructions: "lead"}, runtime.ChannelLead, false},
		"codex, told otherwise":  {"codex", Custom{Instructions: "lead"}, runtime.ChannelLead, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, "codex", "codex-acp", "claude", "claude-agent-acp", "grok", "copilot", "gemini", "opencode")
			r := New(Options{Env: m.env, Config: map[string]Custom{c.agent: c.cfg}})
			a, err := r.Lookup(c.agent)
			if err != nil {
				t.Fatal(err)
			}
			if info := a.Info(); info.Channel != c.want || info.OwnTools != c.tools {
				t.Errorf("channel %q, tools of its own %v", info.Channel, info.OwnTools)
			}
			p, _ := r.row(c.agent)
			own := p.instructedBy("every").Driver.Instructions
			if p.Transport == "acp" && (own.Channel != runtime.ChannelEvery || own.Member == "" || !strings.Contains(own.Form, "{text}")) {
				t.Errorf("with every load it is given %+v", own)
			}
		})
	}
}

// What makes OpenCode wait for a tool gives way to what the person has there.
func TestWeakEnvironment(t *testing.T) {
	const name = "OPENCODE_CONFIG_CONTENT="
	for own, want := range map[string]int{"": 1, "{}": 0} {
		m := newMachine(t, "opencode")
		if own != "" {
			m.env = append(m.env, name+own)
		}
		r := New(Options{Env: m.env})
		p, _ := r.row("opencode")
		w, err := r.find(p)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(strings.Join(w.env, "\n"), name); n != want {
			t.Errorf("with %q of the person's it is set %d times", own, n)
		}
	}
}

func TestNoSuchChannel(t *testing.T) {
	m := newMachine(t, "codex", "claude", "claude-agent-acp")
	for agent, words := range map[string][2]string{"claude": {"often", `"lead" or "start" or "every" or "door"`}, "codex": {"door", `write "lead" or "start"`}} {
		_, err := New(Options{Env: m.env, Config: map[string]Custom{agent: {Instructions: words[0]}}}).Lookup(agent)
		if runtime.KindOf(err) != runtime.KindInvalid || !strings.Contains(err.Error(), words[1]) {
			t.Errorf("%s: %v", agent, err)
		}
	}
}
