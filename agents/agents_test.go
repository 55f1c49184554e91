package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/runtime"
)

// machine is a PATH and a home made for one test.
type machine struct {
	t   *testing.T
	bin string
	env []string
	cfg map[string]Custom

	native string // the program behind every launcher; "": what is on PATH is the program
}

func newMachine(t *testing.T, programs ...string) *machine {
	m := &machine{t: t, bin: t.TempDir()}
	m.env = []string{"PATH=" + m.bin + ":relative:", "HOME=" + t.TempDir()}
	for _, p := range programs {
		m.program(filepath.Join(m.bin, p))
	}
	return m
}

func (m *machine) program(file string) string {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
		m.t.Fatal(err)
	}
	return file
}

func (m *machine) at(name string) string { return filepath.Join(m.bin, name) }

func (m *machine) registry() *Registry {
	return New(Options{Env: m.env, Config: m.cfg, Self: "/opt/xmd", Native: func(_, command string) string {
		if m.native != "" {
			return m.native
		}
		return command
	}})
}

type lookupCase struct {
	programs []string
	setup    func(*machine)
	agent    string
	argv     []string // BIN/ is the folder of the programs
	env      []string
	version  []string
	fetches  string
}

var lookupCases = map[string]lookupCase{
	"codex itself": {
		[]string{"codex", "codex-acp", "npx"}, nil, "codex",
		[]string{"BIN/codex", "app-server"}, nil, nil, "",
	},
	"codex behind a launcher": {
		[]string{"codex", "program"}, func(m *machine) { m.native = m.at("program") }, "codex",
		[]string{"BIN/program", "app-server"}, nil, nil, "",
	},
	"codex itself, named by the configuration": {
		[]string{"codex", "other/codex"}, func(m *machine) {
			m.cfg = map[string]Custom{"codex": {Transport: "app-server", Executable: m.at("other/codex"), Args: []string{"-c", "x=1"}, Version: []string{"v"}}}
		}, "codex",
		[]string{"BIN/other/codex", "app-server", "-c", "x=1"}, nil, []string{"v"}, "",
	},
	"codex, a command of the configuration": {
		[]string{"codex", "mine"}, func(m *machine) { m.cfg = map[string]Custom{"codex": {Command: "mine"}} }, "codex",
		[]string{"BIN/mine"}, []string{"CODEX_PATH=BIN/codex"}, []string{"BIN/codex", "--version"}, "",
	},
	"codex, all on PATH": {
		[]string{"codex", "codex-acp", "npx"}, func(m *machine) { m.cfg = map[string]Custom{"codex": {Transport: "acp"}} }, "codex",
		[]string{"BIN/codex-acp"}, []string{"INITIAL_AGENT_MODE=read-only", "CODEX_PATH=BIN/codex"}, []string{"BIN/codex", "--version"}, "",
	},
	"codex, adapter by npx": {
		[]string{"codex", "npx"}, func(m *machine) { m.cfg = map[string]Custom{"codex": {Transport: "acp"}} }, "codex",
		[]string{"BIN/npx", "--yes", "@agentclientprotocol/codex-acp@2.6.0"}, []string{"CODEX_PATH=BIN/codex"}, []string{"BIN/codex", "--version"}, "@agentclientprotocol/codex-acp@2.6.0",
	},
	"codex named by the environment": {
		[]string{"codex", "codex-acp", "other/codex"}, func(m *machine) {
			m.env = append(m.env, "CODEX_PATH="+m.at("other/codex"))
			m.cfg = map[string]Custom{"codex": {Transport: "acp"}}
		}, "codex",
		[]string{"BIN/codex-acp"}, []string{"CODEX_PATH=BIN/other/codex"}, []string{"BIN/other/codex", "--version"}, "",
	},
	"codex named by the configuration": {
		[]string{"codex", "codex-acp", "other/codex"}, func(m *machine) {
			m.env = append(m.env, "CODEX_PATH=/nowhere")
			m.cfg = map[string]Custom{"codex": {Transport: "acp", Executable: m.at("other/codex"), Env: map[string]string{"CODEX_HOME": "/my/home"}, Args: []string{"--more"}}}
		}, "codex",
		[]string{"BIN/codex-acp", "--more"}, []string{"CODEX_PATH=BIN/other/codex", "CODEX_HOME=/my/home"}, []string{"BIN/other/codex", "--version"}, "",
	},
	"claude named by the configuration's environment": {
		[]string{"claude", "claude-agent-acp", "other/claude"}, func(m *machine) {
			m.cfg = map[string]Custom{"claude": {Env: map[string]string{"CLAUDE_CODE_EXECUTABLE": m.at("other/claude")}}}
		}, "claude",
		[]string{"BIN/claude-agent-acp"}, []string{"CLAUDE_CODE_EXECUTABLE=BIN/other/claude"}, []string{"BIN/other/claude", "--version"}, "",
	},
	"claude, another adapter": {
		[]string{"claude", "my-acp"}, func(m *machine) { m.cfg = map[string]Custom{"claude": {Command: "my-acp"}} }, "claude",
		[]string{"BIN/my-acp"}, []string{"CLAUDE_CODE_EXECUTABLE=BIN/claude"}, []string{"BIN/claude", "--version"}, "",
	},
	"npx has it already": {
		[]string{"claude", "npx"}, func(m *machine) {
			dir := filepath.Join(envValue(m.env, "HOME"), ".npm/_npx/abc/node_modules/@agentclientprotocol/claude-agent-acp")
			writeJSON(m.t, filepath.Join(dir, "package.json"), map[string]string{"name": "@agentclientprotocol/claude-agent-acp", "version": "0.101.0"})
		}, "claude",
		[]string{"BIN/npx", "--yes", "@agentclientprotocol/claude-agent-acp@0.101.0"}, nil, []string{"BIN/claude", "--version"}, "",
	},
	"npx has another version": {
		[]string{"claude", "npx"}, func(m *machine) {
			dir := filepath.Join(m.bin, "cache/_npx/abc/node_modules/@agentclientprotocol/claude-agent-acp")
			writeJSON(m.t, filepath.Join(dir, "package.json"), map[string]string{"name": "@agentclientprotocol/claude-agent-acp", "version": "0.49.0"})
			m.env = append(m.env, "npm_config_cache="+m.at("cache"))
		}, "claude",
		[]string{"BIN/npx", "--yes", "@agentclientprotocol/claude-agent-acp@0.101.0"}, nil, []string{"BIN/claude", "--version"}, "@agentclientprotocol/claude-agent-acp@0.101.0",
	},
	"sim": {
		nil, func(m *machine) { m.env = append(m.env, "XMD_SIM_SCRIPT=/s.xmd", "XMD_AGENT=codex") }, "sim",
		[]string{"/opt/xmd", "sim"}, []string{"XMD_SIM_SCRIPT=/s.xmd"}, nil, "",
	},
	"an agent of the configuration": {
		[]string{"mine"}, func(m *machine) {
			m.cfg = map[string]Custom{"mine": {Command: "mine", Args: []string{"--acp"}, Env: map[string]string{"B": "2", "A": "1"}, Version: []string{"mine", "-V"}}}
		}, "mine",
		[]string{"BIN/mine", "--acp"}, []string{"A=1", "B=2"}, []string{"mine", "-V"}, "",
	},
}

func TestLookup(t *testing.T) {
	for name, c := range lookupCases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, c.programs...)
			if c.setup != nil {
				c.setup(m)
			}
			r := m.registry()
			p, _ := r.row(c.agent)
			w, err := r.find(p)
			if err != nil {
				t.Fatal(err)
			}
			here := func(words []string) []string {
				out := slices.Clone(words)
				for i := range out {
					out[i] = strings.Replace(out[i], "BIN/", m.bin+"/", 1)
				}
				return out
			}
			if !slices.Equal(w.argv, here(c.argv)) {
				t.Errorf("argv %q", w.argv)
			}
			for _, kv := range here(c.env) {
				if !slices.Contains(w.env, kv) {
					t.Errorf("the environment lacks %s: %q", kv, w.env)
				}
			}
			if slices.Contains(w.env, "XMD_AGENT=codex") {
				t.Error("XMD_AGENT reaches the agent")
			}
			if !slices.Equal(w.version, here(c.version)) {
				t.Errorf("version %q", w.version)
			}
			if w.fetches != c.fetches {
				t.Errorf("fetches %q", w.fetches)
			}
			agent, err := r.Lookup(c.agent)
			if err != nil {
				t.Fatal(err)
			}
			if info := agent.Info(); info.Name != c.agent || !slices.Equal(info.Command, w.argv) || info.Transport != p.Transport || p.Serves != nil && info.Transport != "app-server" {
				t.Errorf("info %+v", info)
			}
		})
	}
}

func writeJSON(t *testing.T, file string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestLookupFails(t *testing.T) {
	for name, c := range map[string]struct {
		programs []string
		env      string
		cfg      map[string]Custom
		agent    string
		kind     runtime.Kind
		say      []string
	}{
		"no codex":              {[]string{"codex-acp"}, "", nil, "codex", runtime.KindUnavailable, []string{"Codex is not installed", "npm install -g @openai/codex", "[agents.codex]"}},
		"no claude":             {[]string{"claude-agent-acp", "npx"}, "", nil, "claude", runtime.KindUnavailable, []string{"npm install -g @anthropic-ai/claude-code"}},
		"no adapter, no npx":    {[]string{"codex"}, "", map[string]Custom{"codex": {Transport: "acp"}}, "codex", runtime.KindUnavailable, []string{"npm install -g @agentclientprotocol/codex-acp@2.6.0"}},
		"CODEX_PATH is wrong":   {[]string{"codex", "codex-acp"}, "CODEX_PATH=/nowhere/codex", nil, "codex", runtime.KindUnavailable, []string{"CODEX_PATH", "/nowhere/codex"}},
		"executable is wrong":   {[]string{"codex", "codex-acp"}, "", map[string]Custom{"codex": {Executable: "/nowhere"}}, "codex", runtime.KindUnavailable, []string{"/nowhere", "[agents.codex]"}},
		"command is wrong":      {nil, "", map[string]Custom{"mine": {Command: "nothing"}}, "mine", runtime.KindUnavailable, []string{"nothing", "[agents.mine]"}},
		"no command":            {nil, "", map[string]Custom{"mine": {}}, "mine", runtime.KindInvalid, []string{"command =", "[agents.mine]"}},
		"a transport not built": {[]string{"codex", "codex-acp"}, "", map[string]Custom{"codex": {Transport: "http"}}, "codex", runtime.KindInvalid, []string{`"http"`, `"app-server" or "acp"`}},
		"a misspelt name":       {nil, "", map[string]Custom{"mine": {Command: "x"}}, "codx", runtime.KindInvalid, []string{`"codx"`, `did you mean "codex"`, "claude, codex, copilot, gemini, grok, mine, opencode, sim"}},
		"another name":          {nil, "", nil, "aider", runtime.KindInvalid, []string{`"aider"; known are claude, codex, copilot, gemini, grok, opencode, sim`}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, c.programs...)
			m.env, m.cfg = append(m.env, c.env), c.cfg
			_, err := m.registry().Lookup(c.agent)
			if err == nil {
				t.Fatal("no error")
			}
			if runtime.KindOf(err) != c.kind {
				t.Errorf("kind %s: %v", runtime.KindOf(err), err)
			}
			for _, part := range c.say {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if e := err.(*runtime.Error); e.Agent != c.agent {
				t.Errorf("agent %q", e.Agent)
			}
		})
	}
}

func TestHomeIsThatOfTheAgent(t *testing.T) {
	m := newMachine(t, "codex", "codex-acp", "claude", "claude-agent-acp")
	home := envValue(m.env, "HOME")
	info := func(name string) runtime.AgentInfo {
		a, err := m.registry().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		return a.Info()
	}
	if got := info("codex").Home; got != filepath.Join(home, ".codex") {
		t.Errorf("codex: %s", got)
	}
	if got := info("claude").Home; got != filepath.Join(home, ".claude") {
		t.Errorf("claude: %s", got)
	}
	m.env = append(m.env, "CODEX_HOME=/a", "CLAUDE_CONFIG_DIR=/b")
	m.cfg = map[string]Custom{"codex": {Env: map[string]string{"CODEX_HOME": "/c"}}}
	if got := info("codex").Home; got != "/c" {
		t.Errorf("codex by configuration: %s", got)
	}
	if got := info("claude").Home; got != "/b" {
		t.Errorf("claude by environment: %s", got)
	}
}

func TestNativeExecutable(t *testing.T) {
	m := newMachine(t, "codex", "codex-acp", "mine")
	m.cfg = map[string]Custom{"mine": {Command: "mine", Executable: m.at("mine")}, "plain": {Command: "mine"}}
	r := New(Options{Env: m.env, Config: m.cfg, Native: func(agent, command string) string { return agent + ":" + command }})
	for name, want := range map[string]string{"codex": "codex:" + m.at("codex"), "mine": m.at("mine"), "plain": ""} {
		a, err := r.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Info().Executable; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestList(t *testing.T) {
	m := newMachine(t, "codex", "npx")
	real := filepath.Join(m.bin, "lib/node_modules/@agentclientprotocol/claude-agent-acp")
	m.program(filepath.Join(real, "dist/index.js"))
	writeJSON(t, filepath.Join(real, "package.json"), map[string]string{"name": "@agentclientprotocol/claude-agent-acp", "version": "0.99.0"})
	if err := os.Symlink(filepath.Join(real, "dist/index.js"), m.at("claude-agent-acp")); err != nil {
		t.Fatal(err)
	}
	m.program(m.at("claude"))
	m.cfg = map[string]Custom{"mine": {Command: "gone"}, "codex": {Transport: "acp"}}
	got := map[string]Listing{}
	var names []string
	for _, l := range m.registry().List() {
		got[l.Name] = l
		names = append(names, l.Name)
		if l.Unasked == "" {
			t.Errorf("%s: nothing is said of what it does unasked", l.Name)
		}
	}
	if !slices.Equal(names, []string{"claude", "codex", "copilot", "gemini", "grok", "mine", "opencode", "sim"}) {
		t.Errorf("names %q", names)
	}
	if l := got["claude"]; l.Found != "PATH" || l.AdapterVersion != "0.99.0" || l.TestedVersion != "0.101.0" || l.CLI != m.at("claude") || l.Problem != "" {
		t.Errorf("claude: %+v", l)
	}
	if l := got["codex"]; l.Found != "npx" || l.AdapterVersion != "2.6.0" || l.Fetches == "" {
		t.Errorf("codex: %+v", l)
	}
	m.cfg = nil
	for _, l := range m.registry().List() {
		if l.Name == "codex" && (l.Found != "PATH" || l.Transport != "app-server" || l.AdapterVersion != "" || l.TestedVersion != "" || l.CLI != m.at("codex")) {
			t.Errorf("codex itself: %+v", l)
		}
	}
	if l := got["mine"]; l.Problem == "" || l.Command != nil {
		t.Errorf("mine: %+v", l)
	}
	if l := got["sim"]; l.Found != "built in" || l.Problem != "" {
		t.Errorf("sim: %+v", l)
	}
}

// Every row has what its lookup and its driver need.
func TestTable(t *testing.T) {
	for _, p := range profiles {
		d := p.Driver
		if p.Serves != nil {
			if p.Shown == "" || p.Unasked == "" || p.AskMode == "" || p.Points == "" || p.CLI.Package == "" || p.Native.Version == nil {
				t.Errorf("%s over %s lacks something: %+v", p.Name, p.Transport, p)
			}
			continue
		}
		if p.Name == "" || p.Shown == "" || p.Transport == "" || p.Unasked == "" || d.StartLimit == 0 || len(d.Missing) == 0 {
			t.Errorf("%s lacks something: %+v", p.Name, p)
		}
		if p.CLI.Command != "" && (p.Points == "" || p.CLI.Package == "" || p.Version == nil || d.SignIn == "" || p.Adapter.Tested == "") {
			t.Errorf("%s is behind an adapter and lacks something: %+v", p.Name, p)
		}
		if d.NoticeWithoutID && len(d.Harmless) == 0 {
			t.Errorf("%s: every notice would fail its turn", p.Name)
		}
		if d.Meta != nil && !json.Valid(d.Meta) {
			t.Errorf("%s: _meta is no JSON", p.Name)
		}
		if !d.NoFence && d.Fence == "" {
			t.Errorf("%s: every load would wait for silence", p.Name)
		}
	}
}
