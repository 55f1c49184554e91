//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/agents/agenttest"
	"xmd/agents/agenttest/pty"
	"xmd/runtime/store"
)

// These tests sit somebody at a terminal in front of the real agents' own interfaces.

// atTerminal are the agents with an interface that xmd opens, in a home where they have nothing to ask before they show a conversation.
var atTerminal = []realAgent{
	{"codex", "Codex", "codex resume", []string{"0.153.2", "0.171.0"}, trusting, "codex"},
	{"claude", "Claude", "claude --resume, --session-id", []string{"2.1.210", "2.1.332"}, welcomed, "claude"},
}

// leaves is how an agent's interface is left.
var leaves = map[string]string{"codex": "/quit", "claude": "/exit"}

// trusting is Codex in a home that trusts the project.
func trusting(p agenttest.Place, version string) ([]string, error) {
	env, err := agenttest.CodexEnv(p, version)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(p.Home, ".codex", "config.toml"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(f, "\n[projects.%q]\ntrust_level = \"trusted\"\n", p.Root)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return append(env, "TERM=xterm-256color"), err
}

// welcomed is Claude in a home that has been through its first start and trusts the project.
func welcomed(p agenttest.Place, version string) ([]string, error) {
	env, err := agenttest.ClaudeEnv(p, version)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(p.Home, ".claude.json")
	if _, serr := os.Stat(file); os.IsNotExist(serr) { // Claude writes into it later
		err = os.WriteFile(file, fmt.Appendf(nil, `{"hasCompletedOnboarding": true, "theme": "dark", "fullscreenUpsellSeenCount": 9,
"customApiKeyResponses": {"approved": ["sk-scripted"]},
"projects": {%q: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}`, p.Root), 0o600)
	}
	return append(env, "TERM=xterm-256color"), err
}

// seat is the person at a terminal.
type seat struct {
	*pty.Screen
	p   *person
	cmd *exec.Cmd
}

// sit starts a program in front of the person.
func (p *person) sit(cmd *exec.Cmd) *seat {
	p.t.Helper()
	s := &seat{pty.New(p.t), p, cmd}
	s.Start(cmd)
	p.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return s
}

// until does something again and again until it has worked: a full-screen program sends no notice of when it takes a key.
func (s *seat) until(what string, do func(), worked func() bool) {
	s.p.t.Helper()
	for end := time.Now().Add(pty.Limit); ; {
		do()
		for again := time.Now().Add(2 * time.Second); time.Now().Before(again); time.Sleep(20 * time.Millisecond) {
			if worked() {
				return
			}
		}
		if time.Now().After(end) {
			s.p.t.Fatalf("never came: %s", what)
		}
	}
}

// says types a prompt, and waits for its answer: on the screen, and in the agent's own record of the conversation. Who reads an answer leaves
// later than a test does, and one of these programs was seen to lose a turn that was left within the instant in which it ended.
func (s *seat) says(words, answer string) {
	s.p.t.Helper()
	before := len(s.p.model.Requests())
	s.Type(words)
	s.AwaitLetters(words)
	s.until("the prompt reaches the model", func() { s.Type("\r") }, func() bool { return len(s.p.model.Requests()) > before })
	s.AwaitLetters(answer)
	s.until("the agent has recorded its answer", func() {}, func() bool { return s.p.recorded(strconv.Quote(answer)) })
}

// recorded says whether a file that an agent keeps in the home holds the text.
func (p *person) recorded(text string) (found bool) {
	_ = filepath.WalkDir(p.place.Home, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || found: // files come and go
			return nil
		case d.IsDir() && path == filepath.Join(p.place.Home, "state"):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(path, ".jsonl"):
			data, _ := os.ReadFile(path)
			found = bytes.Contains(data, []byte(text))
		}
		return nil
	})
	return found
}

// leaves types what leaves the interface, and waits until done says that it was left.
func (s *seat) leaves(done func() bool) {
	s.p.t.Helper()
	word := leaves[s.p.a.name]
	s.Type(word)
	s.AwaitLetters(word)
	s.until("the interface is left", func() { s.Type("\r") }, done)
}

// exits leaves the interface, and checks xmd's exit code.
func (s *seat) exits(code int) {
	s.p.t.Helper()
	done := make(chan struct{})
	go func() { _ = s.cmd.Wait(); close(done) }()
	s.leaves(func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.p.t.Fatalf("exit code %d, want %d", got, code)
	}
}

// marked lets processes be found again, and checks at the end that none is left, a daemon neither.
func (p *person) marked() (mark string) {
	mark = rand.Text()
	p.env = append(p.env, "AGENTTEST_MARK="+mark)
	return mark
}

func (p *person) nothingLeft(mark string) {
	p.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := agenttest.Marked(mark)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("still there: %q", left)
		}
	}
}

const firstTurn = "SAY good morning to everybody in this house"

// begun gives the session s a first turn that tells no codeword.
func (p *person) begun() {
	p.t.Helper()
	p.want(p.xmd("", "run", p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\" text=%q/>\n", p.a.name, firstTurn))), "good morning to everybody in this house\n")
}

func forAgentsAtTerminal(t *testing.T, agents []realAgent, shown string, fn func(t *testing.T, p *person)) {
	agenttest.Wanted(t)
	runRealAgents(t, agents, shown, fn)
}

// A codeword that was told in the agent's own interface is known to the next prompt, in each version, and after an upgrade that is told
// before the window.
func TestRealOpen(t *testing.T) {
	forAgentsAtTerminal(t, atTerminal, "xmd open, then a prompt knows what was typed there", func(t *testing.T, p *person) {
		mark := p.marked()
		p.begun()
		s := p.sit(p.command("open", "s"))
		if said := s.AwaitLetters("good morning"); strings.Contains(said, "changed") {
			t.Errorf("before the window: %q", said)
		}
		s.says("Please remember: the codeword is STORK. Answer with OK.", "OK, I will remember.")
		s.exits(0)
		ask := p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\">%s</Prompt>\n", p.a.name, codewordQuestion))
		p.want(p.xmd("", "run", ask), "CODEWORD=STORK\n")
		p.nothingLeft(mark)

		from := p.version
		p.version = p.a.versions[len(p.a.versions)-1]
		s = p.sit(p.command("open", "s"))
		s.Await(p.changed(from, p.version) + "\r\n")
		s.AwaitLetters("CODEWORD=STORK")
		s.says("SAY typed after the upgrade", "typed after the upgrade")
		s.exits(0)
		p.want(p.xmd("", "run", ask), "CODEWORD=STORK\n", p.changed(from, p.version))
		if ids := p.conversations(); len(ids) != 1 {
			t.Errorf("conversations %v", ids)
		}
		p.nothingLeft(mark)
	})
}

// A conversation that is open in Codex outside of xmd is waited for, as its writer lock says, and not disturbed by the asking.
func TestRealOpenWaits(t *testing.T) {
	for _, version := range atTerminal[0].versions {
		a := atTerminal[0]
		a.versions = []string{version}
		forAgentsAtTerminal(t, []realAgent{a}, "xmd open waits while the conversation is open elsewhere", func(t *testing.T, p *person) {
			mark := p.marked()
			p.begun()
			elsewhere := p.command()
			elsewhere = &exec.Cmd{Path: "/usr/bin/env", Dir: elsewhere.Dir, Env: elsewhere.Env,
				Args: []string{"env", "codex", "resume", "-c", "features.daemon_auto_start=false", p.conversations()[0]}}
			other := p.sit(elsewhere)
			other.AwaitLetters("good morning")
			s := p.sit(p.command("open", "s"))
			s.Await("Codex has this conversation open in another program; waiting up to 1m30s until it is free.")
			other.says("Please remember: the codeword is STORK. Answer with OK.", "OK, I will remember.")
			other.exits(0)
			s.AwaitLetters("the codeword is STORK")
			s.exits(0)
			p.nothingLeft(mark)
		})
	}
}

// A new conversation is begun in the interface with the layer as the agent's own instructions, and the next prompt goes on in it.
func TestRealLaunch(t *testing.T) {
	for _, a := range eachAtTerminal() {
		version := a.versions[0]
		forAgentsAtTerminal(t, []realAgent{a}, "Session.Launch begins a conversation with its instructions", func(t *testing.T, p *person) {
			mark := p.marked()
			doc := p.doc(fmt.Sprintf("<Session.Launch agent=%[1]q session=\"s\">\nThe house style is WOMBAT.\n</Session.Launch>\n"+
				"<Prompt agent=%[1]q session=\"s\">%[2]s</Prompt>\n", p.a.name, codewordQuestion))
			s := p.sit(p.command("run", doc))
			s.AwaitLetters(version)
			s.says("Please remember: the codeword is STORK. Answer with OK.", "OK, I will remember.")
			s.leaves(func() bool { return len(p.model.Requests()) > 1 }) // the document's own prompt
			s.AwaitLetters("CODEWORD=STORK")
			if err := s.cmd.Wait(); err != nil {
				t.Errorf("%v", err)
			}
			p.instructed(0, "WOMBAT", true)
			p.nothingLeft(mark)

			// The same body is given again: no version may forget it.
			before := len(p.model.Requests())
			s = p.sit(p.command("run", doc))
			s.AwaitLetters("CODEWORD=STORK")
			s.says("SAY typed the second time", "typed the second time")
			p.instructed(before, "WOMBAT", true)
			s.leaves(func() bool { return len(p.model.Requests()) > before+1 })
			if err := s.cmd.Wait(); err != nil {
				t.Errorf("%v", err)
			}
			p.nothingLeft(mark)
			p.nativeRoute()
		})
	}
}

// eachAtTerminal are the agents at a terminal with one version each.
func eachAtTerminal() (each []realAgent) {
	for _, a := range atTerminal {
		for _, version := range a.versions {
			one := a
			one.versions = []string{version}
			each = append(each, one)
		}
	}
	return each
}

// instructed says whether request n had word among its instructions, and that no user turn has it.
func (p *person) instructed(n int, word string, want bool) {
	p.t.Helper()
	r := p.model.Requests()[n]
	if got := strings.Contains(strings.Join(r.Instructions, "\n"), word); got != want {
		p.t.Errorf("request %d: instructions with %s: %v, want %v", n, word, got, want)
	}
	if strings.Contains(strings.Join(r.UserTexts(), "\n"), word) {
		p.t.Errorf("request %d: %s is in %q", n, word, r.UserTexts())
	}
}

// nativeRoute checks how the session s says it was constructed.
func (p *person) nativeRoute() {
	p.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(p.place.Home, "state", "xmd")})
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	err = s.View(context.Background(), func(tx *store.Tx) error {
		r, found, err := tx.Current(store.SessionKey{Agent: p.a.name, Session: "s", Root: p.place.Root})
		transport, provenance := store.TransportNative, store.ClientAllocated
		if p.a.name == "codex" {
			transport, provenance = store.TransportAppServer, store.ProviderAsserted
		}
		if !found || r.Transport != transport || r.Provenance != provenance || len(r.InstructionDigest) != 64 || r.Established == nil || r.Established.Version != p.version {
			p.t.Errorf("route %+v", r)
		}
		return err
	})
	if err != nil {
		p.t.Error(err)
	}
}

// kill -9 of xmd while the interface is open ends it and all it has started; recover sets the session right, and it goes on.
func TestRealOpenKill9(t *testing.T) {
	var newest []realAgent
	for _, a := range atTerminal {
		a.versions = a.versions[1:]
		newest = append(newest, a)
	}
	forAgentsAtTerminal(t, newest, "kill -9 of xmd ends the interface, then recover", func(t *testing.T, p *person) {
		mark := p.marked()
		p.begun()
		open := p.command("open", "s")
		shell := exec.Command("/bin/bash", "--norc", "--noprofile", "--noediting", "-i")
		shell.Dir, shell.Env = open.Dir, append(open.Env, "PS1=$ ", "XMD_SELF="+open.Path, "AGENTTEST_MARK=shell")
		s := p.sit(shell)
		s.Await("$ ")
		clean := s.Mode()
		s.Type("AGENTTEST_MARK=" + mark + " \"$XMD_SELF\" open s\r")
		s.AwaitLetters("good morning")
		s.says("Please remember: the codeword is STORK. Answer with OK.", "OK, I will remember.")
		for _, line := range agenttest.Marked(mark) {
			var pid int
			if _, err := fmt.Sscan(line, &pid); err == nil && strings.HasSuffix(line, " open s") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		s.Await("Killed")
		p.lockOutlives(mark)
		p.nothingLeft(mark)
		s.Type("echo $((40+2))\r")
		s.Await("42")
		if s.Mode() != clean {
			t.Errorf("the terminal's mode is %+v, it was %+v", s.Mode(), clean)
		}
		ask := p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\">%s</Prompt>\n", p.a.name, codewordQuestion))
		if busy := p.xmd("", "run", ask); busy.code != 5 || !strings.Contains(busy.stderr, "[recovery-required]") {
			t.Fatalf("before recover: %+v", busy)
		}
		if got := p.xmd("", "sessions", "recover", "s"); got.code != 0 {
			t.Fatalf("recover: %+v", got)
		}
		p.want(p.xmd("", "run", ask), "CODEWORD=STORK\n")
	})
}
