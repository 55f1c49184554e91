//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"xmd/agents/agenttest"
	"xmd/agents/agenttest/model"
	"xmd/runtime/store"
)

// These tests run xmd itself, as a process, against real programs with a scripted model. make real installs the programs.

const codewordQuestion = "Which codeword did I give you at the start?"

// realAgent is one real agent in the versions the tests go through.
type realAgent struct {
	name, shown, over string
	versions          []string
	environ           func(agenttest.Place, string) ([]string, error)
	cli               string // the person's command
}

var realAgents = []realAgent{
	{"codex", "Codex", "app-server", []string{"0.153.2", "0.162.1", "0.171.0"}, agenttest.CodexEnv, "codex"},
	{"codex", "Codex", "codex-acp 2.6.0", []string{"0.153.2", "0.171.0"}, codexOverACP, "codex"},
	{"claude", "Claude", "claude-agent-acp 0.101.0", []string{"2.1.210", "2.1.332"}, agenttest.ClaudeEnv, "claude"},
}

// codexOverACP is Codex in a project that wants it reached over its adapter.
func codexOverACP(p agenttest.Place, version string) ([]string, error) {
	env, err := agenttest.CodexEnv(p, version)
	if err != nil {
		return nil, err
	}
	return env, os.WriteFile(filepath.Join(p.Root, "xmd.toml"), []byte("[agents.codex]\ntransport = \"acp\"\n"), 0o644)
}

// person is somebody with a home, a project and an installed agent, whose model is scripted.
type person struct {
	t       *testing.T
	a       realAgent
	place   agenttest.Place
	version string
	model   *model.Server
	bin     string   // a folder before all others on PATH
	env     []string // added to every run
}

func newPerson(t *testing.T, a realAgent) *person {
	t.Helper()
	s, err := model.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, a: a, model: s, version: a.versions[0], bin: filepath.Join(base, "bin")}
	p.place = agenttest.Place{Home: filepath.Join(base, "home"), Root: filepath.Join(base, "project"), Model: s.URL()}
	for _, dir := range []string{p.place.Home, p.place.Root, p.bin} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// said is how one run of xmd went.
type said struct {
	code           int
	stdout, stderr string
}

// command is xmd with args in the person's project; the agent is of the person's current version.
func (p *person) command(args ...string) *exec.Cmd {
	p.t.Helper()
	env, err := p.a.environ(p.place, p.version)
	if err != nil {
		agenttest.NotRun(p.t, err.Error())
	}
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	for i, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			env[i] = "PATH=" + p.bin + ":" + path
		}
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = p.place.Root
	cmd.Env = append(append(env, "GO_TEST_AS_XMD=1", quickExit, "XDG_STATE_HOME="+filepath.Join(p.place.Home, "state")), p.env...)
	return cmd
}

// xmd runs xmd to its end.
func (p *person) xmd(stdin string, args ...string) said {
	p.t.Helper()
	cmd := p.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	code := 0
	if err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			p.t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return said{code, stdout.String(), stderr.String()}
}

// doc writes a document into the project.
func (p *person) doc(text string) string {
	p.t.Helper()
	path := filepath.Join(p.place.Root, "doc.xmd")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return "doc.xmd"
}

// want checks a run whole: exit 0, this on stdout, exactly these lines on stderr.
func (p *person) want(s said, stdout string, stderr ...string) {
	p.t.Helper()
	want := ""
	for _, line := range stderr {
		want += line + "\n"
	}
	if s.code != 0 || s.stdout != stdout || s.stderr != want {
		p.t.Fatalf("exit %d\nstdout %q\n  want %q\nstderr %q\n  want %q", s.code, s.stdout, stdout, s.stderr, want)
	}
}

func (p *person) changed(from, to string) string {
	return fmt.Sprintf("%s has changed from %s to %s since this session was established. Continuing the existing conversation.", p.a.shown, from, to)
}

func forRealAgents(t *testing.T, shown string, fn func(t *testing.T, p *person)) {
	agenttest.Wanted(t)
	runRealAgents(t, realAgents, shown, fn)
}

func runRealAgents(t *testing.T, agents []realAgent, shown string, fn func(t *testing.T, p *person)) {
	for _, a := range agents {
		t.Run(a.name+" over "+a.over, func(t *testing.T) {
			agenttest.Record(t, agenttest.Evidence{Agent: a.shown, Versions: strings.Join(a.versions, " → "), Over: a.over, Shown: shown})
			fn(t, newPerson(t, a))
		})
	}
}

// The main promise: the same document in a new process after an upgrade, one warning, the same conversation.
func TestRealContinueAcrossUpgrade(t *testing.T) {
	forRealAgents(t, continuesShown, continuesAcrossUpgrade)
}

const continuesShown = "xmd run continues across an upgrade, one warning"

func continuesAcrossUpgrade(t *testing.T, p *person) {
	example, err := filepath.Abs("../../examples/continue.xmd")
	if err != nil {
		t.Fatal(err)
	}
	first := p.xmd("", "run", "--agent", p.a.name, example)
	if first.code != 0 || first.stderr != "" || !strings.Contains(first.stdout, "OK") {
		t.Fatalf("first run: %+v", first)
	}
	again := p.xmd("", "run", "--agent", p.a.name, example, "--props-message", codewordQuestion)
	p.want(again, "CODEWORD=PELICAN\n")
	for _, v := range p.a.versions[1:] {
		p.version = v
		p.want(p.xmd("", "run", "--agent", p.a.name, example, "--props-message", codewordQuestion), "CODEWORD=PELICAN\n", p.changed(p.a.versions[0], v))
	}
	nd := p.xmd("", "run", "--agent", p.a.name, example, "--props-message", codewordQuestion, "--format", "ndjson")
	if nd.code != 0 || nd.stderr != p.changed(p.a.versions[0], p.version)+"\n" {
		t.Fatalf("ndjson: %+v", nd)
	}
	checkEvents(t, nd.stdout)
	if !strings.Contains(nd.stdout, `"type":"warning"`) || !strings.Contains(nd.stdout, "CODEWORD=PELICAN") {
		t.Errorf("ndjson: %s", nd.stdout)
	}
	if id := p.conversations(); len(id) != 1 {
		t.Errorf("conversations recorded: %v", id)
	}
}

// conversations are the native ids of the person's routes.
func (p *person) conversations() []string {
	p.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(p.place.Home, "state", "xmd")})
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var ids []string
	err = s.View(context.Background(), func(tx *store.Tx) error {
		routes, err := tx.Routes(store.Filter{All: true})
		for _, r := range routes {
			ids = append(ids, r.NativeSessionID)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return ids
}

// Two sessions warn once each, two prompts of one session once; the REPL shows it too and goes on after a mistake.
func TestRealWarnings(t *testing.T) { forRealAgents(t, warnsOnceShown, warnsOnce) }

const warnsOnceShown = "a warning per session and invocation, in the REPL too"

func warnsOnce(t *testing.T, p *person) {
	set := p.doc(fmt.Sprintf("<Agent name=%q>\n<Prompt session=\"one\" as=\"a\">Please remember: the codeword is HERON. Answer with OK.</Prompt>\n"+
		"<Prompt session=\"two\" as=\"b\">Please remember: the codeword is STORK. Answer with OK.</Prompt>\n</Agent>\n", p.a.name))
	p.want(p.xmd("", "run", set), "")
	from := p.version
	p.version = p.a.versions[len(p.a.versions)-1]
	ask := fmt.Sprintf("<Agent name=%q>\n<Prompt session=\"one\">%s</Prompt>\n<Prompt session=\"two\">%s</Prompt>\n<Prompt session=\"one\">%s</Prompt>\n</Agent>\n",
		p.a.name, codewordQuestion, codewordQuestion, codewordQuestion)
	warning := p.changed(from, p.version)
	p.want(p.xmd("", "run", p.doc(ask)), "CODEWORD=HERON\nCODEWORD=STORK\nCODEWORD=HERON\n", warning, warning)
	entries := "<Session agent=\"codex\" />\n" +
		fmt.Sprintf("<Prompt agent=%q session=\"one\">\n%s\n</Prompt>\n", p.a.name, codewordQuestion) +
		fmt.Sprintf("<Prompt agent=%q session=\"one\" text=%q/>\n", p.a.name, codewordQuestion)
	repl := p.xmd(entries, "repl")
	if repl.stdout != "CODEWORD=HERON\nCODEWORD=HERON\n" || strings.Count(repl.stderr, warning+"\n") != 1 || !strings.Contains(repl.stderr, "repl[1]:1:10:") {
		t.Errorf("REPL: %+v", repl)
	}
	if repl.code != 2 {
		t.Errorf("the REPL's exit code is %d, want that of the last failure, 2", repl.code)
	}
}

// A version string nobody has seen is shown as it is, one that is none is said to be unknown; both deliver.
func TestRealUnfamiliarVersions(t *testing.T) {
	forRealAgents(t, "unfamiliar and unobtainable versions deliver", func(t *testing.T, p *person) {
		doc := p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\">Please remember: the codeword is HERON. Answer with OK.</Prompt>\n", p.a.name))
		first := p.xmd("", "run", doc)
		if first.code != 0 || first.stderr != "" {
			t.Fatalf("first run: %+v", first)
		}
		doc = p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\">%s</Prompt>\n", p.a.name, codewordQuestion))
		p.wrap("99.7.1-nightly.20301231+x9")
		p.want(p.xmd("", "run", doc), "CODEWORD=HERON\n", p.changed(p.version, "99.7.1-nightly.20301231"))
		p.wrap("built from a branch")
		p.want(p.xmd("", "run", doc), "CODEWORD=HERON\n", "The version of "+p.a.shown+" could not be determined. Continuing.")
	})
}

// wrap puts a command before the real one that prints another version and is the real one in everything else.
func (p *person) wrap(version string) {
	p.t.Helper()
	env, err := p.a.environ(p.place, p.version)
	if err != nil {
		agenttest.NotRun(p.t, err.Error())
	}
	real := ""
	for _, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			for _, dir := range filepath.SplitList(path) {
				if info, err := os.Stat(filepath.Join(dir, p.a.cli)); err == nil && !info.IsDir() {
					real = filepath.Join(dir, p.a.cli)
					break
				}
			}
		}
	}
	script := fmt.Sprintf(`#!/bin/sh
if [ "$1" = --version ]; then echo '%[1]s'; exit 0; fi
if [ "$1" = app-server ]; then '%[2]s' "$@" | sed -u 's|"userAgent":"xmd/[^ ]*|"userAgent":"xmd/%[1]s|'; exit; fi
exec '%[2]s' "$@"
`, version, real)
	if err := os.WriteFile(filepath.Join(p.bin, p.a.cli), []byte(script), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// A session that is only pinned is created by its first prompt; noise of the adapter is in neither stdout nor a capture.
func TestRealPinnedSessionAndNoise(t *testing.T) {
	forRealAgents(t, pinsWithoutNoiseShown, pinsWithoutNoise)
}

const pinsWithoutNoiseShown = "a pinned session, and no noise in stdout or captures"

func pinsWithoutNoise(t *testing.T, p *person) {
	doc := p.doc(fmt.Sprintf("<Agent name=%q><Session name=\"s\"><Prompt text=\"SAY hello\"/></Session>\n<Prompt as=\"a\" text=\"SAY captured\"/>\n[{a}]\n</Agent>\n", p.a.name))
	p.want(p.xmd("", "run", doc), "hello\n[captured]\n")
}

// A failure of the model is a failed prompt with the agent's message, however the adapter reports it.
func TestRealModelFailure(t *testing.T) {
	forRealAgents(t, "a failed model is a failed prompt", func(t *testing.T, p *person) {
		doc := p.doc(fmt.Sprintf("<Agent name=%q>\n<Prompt session=\"s\" text=\"HTTP 500\"/>\nafter\n<Prompt session=\"s\" text=\"SAY still usable\"/>\n</Agent>\n", p.a.name))
		s := p.xmd("", "run", doc)
		if s.code != 1 || s.stdout != "after\nstill usable\n" || !strings.Contains(s.stderr, "doc.xmd:2:1: "+p.a.shown+": ") || !strings.Contains(s.stderr, "[failed") {
			t.Errorf("%+v", s)
		}
	})
}

// An emptied conversation fails as such: the id is right, the home the same, and nothing of it is left.
func TestRealEmptiedRollout(t *testing.T) {
	agenttest.Wanted(t)
	// Claude says itself that an emptied conversation does not exist; the conformance suite has that.
	runRealAgents(t, realAgents[:2], "an emptied conversation is not continued", func(t *testing.T, p *person) {
		p.remember()
		agenttest.CutRollout(t, p.place, p.conversations()[0])
		asked := len(p.model.Requests())
		s := p.xmd("", "run", p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\">%s</Prompt>\n", p.a.name, codewordQuestion)))
		if s.code != 5 || s.stdout != "" || !strings.Contains(s.stderr, "[conversation-empty]") {
			t.Errorf("%+v", s)
		}
		if n := len(p.model.Requests()); n != asked {
			t.Errorf("%d requests reached the model", n-asked)
		}
	})
}

func (p *person) remember() {
	p.t.Helper()
	doc := p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\" as=\"a\">Please remember: the codeword is HERON. Answer with OK.</Prompt>\n", p.a.name))
	p.want(p.xmd("", "run", doc), "")
}

// A structured reply is judged by xmd on real agents, in a new session and in a resumed one; a wrong answer is asked for again in the
// same conversation, and what stays wrong is a failure that says what.
func TestRealStructuredReply(t *testing.T) { forRealAgents(t, repliesInFormShown, repliesInForm) }

const repliesInFormShown = "structured replies, new and resumed"

func repliesInForm(t *testing.T, p *person) {
	const schema = `schema={{"type": "object", "properties": {"passed": {"type": "boolean"}}, "required": ["passed"]}}`
	doc := fmt.Sprintf("<Prompt agent=%q session=\"s\" as=\"v\" %s>\nSAY {\"passed\": true}\n</Prompt>\n[{v.passed}]\n", p.a.name, schema)
	p.want(p.xmd("", "run", p.doc(doc)), "[true]\n")
	p.want(p.xmd("", "run", "doc.xmd"), "[true]\n")
	asked := len(p.model.Requests())
	bad := fmt.Sprintf("<Prompt agent=%q session=\"s\" as=\"v\" retries={1} %s>\nSAY {\"passed\": \"yes\"}\n</Prompt>\n[{v.passed}]\n", p.a.name, schema)
	s := p.xmd("", "run", p.doc(bad))
	if s.code != 1 || s.stdout != "" || !strings.Contains(s.stderr, "does not fit the schema after 2 turns") {
		t.Errorf("%+v", s)
	}
	if n := len(p.model.Requests()) - asked; n != 2 {
		t.Errorf("%d requests reached the model, want 2", n)
	}
}
