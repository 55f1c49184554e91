package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// settingsCase is a home and a project, and what is found there. In names and texts HOME and ROOT stand for the two folders, and
// ABOVE for the one that ROOT is in.
type settingsCase struct {
	files map[string]string
	env   []string
	want  []string // "level: what it says", a beginning
}

// checked looks at one agent in a home made for the case.
func (c settingsCase) checked(t *testing.T, agent string) []Finding {
	t.Helper()
	m := newMachine(t, "codex", "claude", "claude-agent-acp", "gemini", "copilot", "grok", "opencode")
	home, root := envValue(m.env, "HOME"), filepath.Join(t.TempDir(), "a", "b")
	place := strings.NewReplacer("HOME", home, "ROOT", root, "ABOVE", filepath.Dir(root))
	for name, text := range c.files {
		file := place.Replace(name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(place.Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, kv := range c.env {
		name, value, _ := strings.Cut(kv, "=")
		m.env = append(m.env, name+"="+place.Replace(value))
	}
	r := m.registry()
	p, _ := r.row(agent)
	l := r.listing(p)
	if l.Problem != "" {
		t.Fatal(l.Problem)
	}
	found := p.Settings(person{agent: p, home: l.Home, root: root, env: l.VersionEnv})
	for name, text := range c.files {
		if now, err := os.ReadFile(place.Replace(name)); err != nil || string(now) != place.Replace(text) {
			t.Errorf("a look changed %s: %q, %v", name, now, err)
		}
	}
	return found
}

func (c settingsCase) run(t *testing.T, agent string) {
	t.Helper()
	got := c.checked(t, agent)
	for i, f := range got {
		line := string(f.Level) + ": " + f.Says
		if i >= len(c.want) || !strings.HasPrefix(line, c.want[i]) {
			t.Errorf("finding %d: %q", i, line)
		}
		if f.About != agent || f.Level != OK && f.Do == "" {
			t.Errorf("%+v", f)
		}
	}
	if len(got) < len(c.want) {
		t.Errorf("not found: %q", c.want[len(got):])
	}
}

func TestCodexSettings(t *testing.T) {
	const none, locks = "ok: no daemon", "warning: the daemon of its own interface keeps a conversation locked"
	const binary = "HOME/.codex/packages/app-server-daemon/codex"
	for name, c := range map[string]settingsCase{
		"nothing":                    {nil, nil, []string{none}},
		"started once":               {map[string]string{binary: ""}, nil, []string{locks}},
		"started once, switched off": {map[string]string{binary: "", "HOME/.codex/config.toml": "[features]\ndaemon_auto_start = false\n"}, nil, []string{none}},
		"switched on":                {map[string]string{"HOME/.codex/config.toml": "[features]\ndaemon_auto_start = true\n"}, nil, []string{locks}},
		"other features":             {map[string]string{"HOME/.codex/config.toml": "model = \"m\"\n[features]\nother = true\n"}, nil, []string{none}},
		"another home":               {map[string]string{"HOME/mine/packages/app-server-daemon/codex": ""}, []string{"CODEX_HOME=HOME/mine"}, []string{locks}},
		"broken":                     {map[string]string{"HOME/.codex/config.toml": "[features\n"}, nil, []string{"problem: "}},
	} {
		t.Run(name, func(t *testing.T) { c.run(t, "codex") })
	}
}

func TestClaudeSettings(t *testing.T) {
	const (
		byDefault = "ok: Claude deletes conversations that were not used for 30 days"
		asksAll   = "warning: its own interface asks for a theme"
		asksTrust = "warning: its own interface asks whether to trust"
		user      = "HOME/.claude/settings.json"
		state     = "HOME/.claude.json"
		trusted   = `{"hasCompletedOnboarding":true,"projects":{"ROOT":{"hasTrustDialogAccepted":true}}}`
	)
	days := func(n string) string { return fmt.Sprintf(`{"cleanupPeriodDays": %s}`, n) }
	for name, c := range map[string]settingsCase{
		"nothing":          {nil, nil, []string{byDefault, asksAll}},
		"trusted":          {map[string]string{state: trusted}, nil, []string{byDefault}},
		"above is trusted": {map[string]string{state: strings.Replace(trusted, "ROOT", "ABOVE", 1)}, nil, []string{byDefault}},
		"not trusted":      {map[string]string{state: `{"hasCompletedOnboarding":true,"projects":{"ROOT":{}}}`}, nil, []string{byDefault, asksTrust}},
		"short":            {map[string]string{state: trusted, user: days("7")}, nil, []string{"warning: Claude deletes conversations that were not used for 7 days, those that are to be continued too"}},
		"one day":          {map[string]string{state: trusted, user: days("1")}, nil, []string{"warning: Claude deletes conversations that were not used for 1 day,"}},
		"long":             {map[string]string{state: trusted, user: days("3650")}, nil, []string{"ok: Claude keeps conversations that are not used for 3650 days"}},
		"not accepted":     {map[string]string{state: trusted, user: days("0")}, nil, []string{"warning: cleanupPeriodDays is 0 in "}},
		"no number":        {map[string]string{state: trusted, user: days(`"7"`)}, nil, []string{`warning: cleanupPeriodDays is "7" in `}},
		"nearer":           {map[string]string{state: trusted, user: days("3650"), "ROOT/.claude/settings.local.json": days("2")}, nil, []string{"warning: Claude deletes conversations that were not used for 2 days"}},
		"another home": {
			map[string]string{"HOME/mine/settings.json": days("2"), "HOME/mine/.claude.json": trusted}, []string{"CLAUDE_CONFIG_DIR=HOME/mine"},
			[]string{"warning: Claude deletes conversations that were not used for 2 days"},
		},
		"broken":       {map[string]string{user: "{"}, nil, []string{"problem: "}},
		"broken state": {map[string]string{state: "[]"}, nil, []string{byDefault, "problem: "}},
	} {
		t.Run(name, func(t *testing.T) { c.run(t, "claude") })
	}
}

func TestGeminiSettings(t *testing.T) {
	const (
		byDefault = "ok: Gemini deletes conversations that were not used for 30 days"
		untrusted = "warning: Gemini does not trust "
		user      = "HOME/.gemini/settings.json"
		rules     = "HOME/.gemini/trustedFolders.json"
		chats     = "HOME/.gemini/tmp/project/chats/session-2026-11-01T10-"
		head      = `{"sessionId":"0123456789abcdef"}` + "\n"
		turn      = `{"type":"user","content":[{"text":"hello"}]}` + "\n"
	)
	trusts := []string{"GEMINI_CLI_TRUST_WORKSPACE=true"}
	retention := func(text string) string { return `{"general":{"sessionRetention":` + text + `}}` }
	twin := map[string]string{chats + "00-01234567.jsonl": head + turn, chats + "05-01234567.jsonl": head}
	with := func(files map[string]string, name, text string) map[string]string {
		all := map[string]string{name: text}
		for k, v := range files {
			all[k] = v
		}
		return all
	}
	for name, c := range map[string]settingsCase{
		"nothing":               {nil, nil, []string{byDefault, untrusted}},
		"trusted by a variable": {nil, trusts, []string{byDefault}},
		"refused by a variable": {map[string]string{rules: `{"ROOT":"TRUST_FOLDER"}`}, []string{"GEMINI_CLI_TRUST_WORKSPACE=false"}, []string{byDefault, untrusted}},
		"trusted":               {map[string]string{rules: "{ // mine\n\"ROOT\":\"TRUST_FOLDER\",}"}, nil, []string{byDefault}},
		"above is trusted":      {map[string]string{rules: `{"` + "ROOT" + `/x":"TRUST_PARENT"}`}, nil, []string{byDefault}},
		"the nearest counts":    {map[string]string{rules: `{"/":"TRUST_FOLDER","ROOT":"DO_NOT_TRUST"}`}, nil, []string{byDefault, untrusted}},
		"trust is not asked":    {map[string]string{user: `{"security":{"folderTrust":{"enabled":false}}}`}, nil, []string{byDefault}},
		"never":                 {map[string]string{user: retention(`{"enabled":false,"maxCount":1}`)}, trusts, []string{"ok: Gemini deletes no conversations by itself"}},
		"few":                   {map[string]string{user: retention(`{"maxCount":5}`)}, trusts, []string{"warning: Gemini keeps only the last 5 conversations"}},
		"soon":                  {map[string]string{user: retention(`{"maxAge":"1w"}`)}, trusts, []string{"warning: Gemini deletes conversations that are older than 1w"}},
		"nonsense":              {map[string]string{user: retention(`{"maxAge":"soon"}`)}, trusts, []string{"warning: Gemini deletes conversations that are older than soon"}},
		"late":                  {map[string]string{user: retention(`{"maxAge":"3m"}`)}, trusts, []string{"ok: Gemini deletes conversations that are older than 3m"}},
		"the folder's own": {
			map[string]string{user: retention(`{"enabled":false}`), "ROOT/.gemini/settings.json": retention(`{"enabled":true,"maxAge":"24h"}`)}, trusts,
			[]string{"warning: Gemini deletes conversations that are older than 24h"},
		},
		"a comment":           {map[string]string{user: "// none\n" + retention(`{"enabled":false}`)}, trusts, []string{"ok: Gemini deletes no conversations by itself"}},
		"left by a load":      {twin, trusts, []string{byDefault, "warning: 1 file left behind by loads make"}},
		"left, and no matter": {with(twin, user, retention(`{"enabled":false}`)), trusts, []string{"ok: Gemini deletes no"}},
		"another home":        {map[string]string{"HOME/mine/.gemini/settings.json": retention(`{"maxCount":5}`)}, append(trusts, "GEMINI_CLI_HOME=HOME/mine"), []string{"warning: Gemini keeps only"}},
		"broken":              {map[string]string{user: "{"}, trusts, []string{"problem: "}},
		"broken rules":        {map[string]string{rules: "[]"}, nil, []string{byDefault, "problem: "}},
	} {
		t.Run(name, func(t *testing.T) { c.run(t, "gemini") })
	}
}

func TestCopilotSettings(t *testing.T) {
	const asks = "warning: its own interface asks whether to trust"
	for name, c := range map[string]settingsCase{
		"nothing":          {nil, nil, []string{asks}},
		"trusted":          {map[string]string{"HOME/.copilot/config.json": `{"trusted_folders":["/x","ROOT"]}`}, nil, nil},
		"by its new name":  {map[string]string{"HOME/.copilot/settings.json": `{"trustedFolders":["ROOT"]}`}, nil, nil},
		"above is trusted": {map[string]string{"HOME/.copilot/config.json": `{"trustedFolders":["/"]}`}, nil, nil},
		"another home":     {map[string]string{"HOME/mine/config.json": `{"trusted_folders":["ROOT"]}`}, []string{"COPILOT_HOME=HOME/mine"}, nil},
		"broken":           {map[string]string{"HOME/.copilot/config.json": `{"trusted_folders":"all"}`}, nil, []string{"problem: "}},
	} {
		t.Run(name, func(t *testing.T) { c.run(t, "copilot") })
	}
}

func TestCheckInstall(t *testing.T) {
	const tested = "0.101.0"
	adapter := func(m *machine, version string) {
		writeJSON(m.t, filepath.Join(m.bin, "package.json"), map[string]string{"name": "@agentclientprotocol/claude-agent-acp", "version": version})
	}
	for name, c := range map[string]struct {
		programs []string
		setup    func(*machine)
		agent    string
		seen     Seen
		want     []string
	}{
		"all there": {
			[]string{"claude", "claude-agent-acp"}, func(m *machine) { adapter(m, tested) }, "claude", Seen{Version: "2.1.332", Node: "v22.1.0"},
			[]string{"ok: Claude 2.1.332 over acp: BIN/claude-agent-acp", "ok: claude-agent-acp 0.101.0, the version that", "ok: node v22.1.0; claude-agent-acp asks for 22"},
		},
		"not wanted": {nil, nil, "gemini", Seen{}, []string{"ok: not installed → run `npm install -g @google/gemini-cli@0.61.0`"}},
		"wanted":     {nil, nil, "gemini", Seen{Wanted: true}, []string{"problem: Gemini is not installed: there is no \"gemini\" on PATH"}},
		"an older adapter, an older node": {
			[]string{"claude", "claude-agent-acp"}, func(m *machine) { adapter(m, "0.49.0") }, "claude", Seen{Node: "v20.20.2"},
			[]string{"ok: Claude over acp", "warning: claude-agent-acp 0.49.0 is older than", "warning: claude-agent-acp asks for Node 22 or newer, and the node on PATH is v20.20.2"},
		},
		"a newer adapter, no node": {
			[]string{"claude", "claude-agent-acp"}, func(m *machine) { adapter(m, "0.101.1") }, "claude", Seen{},
			[]string{"ok: Claude over acp", "ok: claude-agent-acp 0.101.1; this xmd was tested with 0.101.0", "problem: claude-agent-acp runs on Node"},
		},
		"an adapter of no version": {
			[]string{"claude", "claude-agent-acp"}, nil, "claude", Seen{Node: "v24.0.0"},
			[]string{"ok: Claude over acp", "warning: which version of claude-agent-acp is installed cannot be told", "ok: node"},
		},
		"an adapter from npx": {
			[]string{"claude", "npx"}, nil, "claude", Seen{Node: "v24.0.0"},
			[]string{"ok: Claude over acp", "warning: the adapter claude-agent-acp is not installed: npx downloads", "ok: node"},
		},
		"a silent program": {
			[]string{"grok"}, nil, "grok", Seen{Silent: "it did not end within 20s"},
			[]string{"warning: `BIN/grok --version` tells no version: it did not end within 20s"},
		},
		"another command": {
			[]string{"claude", "mine"}, func(m *machine) { m.cfg = map[string]Custom{"claude": {Command: "mine"}} }, "claude", Seen{},
			[]string{"ok: Claude over acp: BIN/mine"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, c.programs...)
			if c.setup != nil {
				c.setup(m)
			}
			c.seen.Root = t.TempDir()
			r := m.registry()
			p, _ := r.row(c.agent)
			got := r.Check(r.listing(p), c.seen)
			if p.Settings != nil && len(got) > len(c.want) { // what is set has tests of its own
				got = got[:len(c.want)]
			}
			for i, want := range c.want {
				if i >= len(got) {
					t.Fatalf("not found: %q", c.want[i:])
				}
				line := string(got[i].Level) + ": " + got[i].Says + " → " + got[i].Do
				if !strings.HasPrefix(line, strings.ReplaceAll(want, "BIN", m.bin)) {
					t.Errorf("finding %d: %q", i, line)
				}
			}
			if len(got) > len(c.want) {
				t.Errorf("more: %+v", got[len(c.want):])
			}
		})
	}
}

func TestOlder(t *testing.T) {
	versions := []string{"0.9.9", "0.49.0", "0.101.0", "0.101.2", "0.101.10-rc.1", "1.0", "1.0.1", "2.0.0"}
	for i, v := range versions {
		for j, w := range versions {
			if got := older(v, w); got != (i < j) && !(v == "1.0" && w == "1.0.1") {
				t.Errorf("older(%s, %s) is %v", v, w, got)
			}
		}
	}
}

// The command that prints a version is that of the program that changes; what only the configuration names is not tried.
func TestListedVersionCommand(t *testing.T) {
	m := newMachine(t, "codex", "claude", "claude-agent-acp", "gemini", "mine")
	m.cfg = map[string]Custom{"copilot": {Command: "mine"}, "own": {Command: "mine"}, "told": {Command: "mine", Version: []string{"mine", "-V"}}}
	want := map[string][]string{
		"codex": {m.at("codex"), "--version"}, "claude": {m.at("claude"), "--version"}, "gemini": {m.at("gemini"), "--version"}, "told": {"mine", "-V"},
	}
	for _, l := range m.registry().List() {
		if !slices.Equal(l.VersionArgv, want[l.Name]) {
			t.Errorf("%s: %q", l.Name, l.VersionArgv)
		}
	}
}
