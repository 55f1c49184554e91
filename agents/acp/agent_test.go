//go:build unix

package acp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"xmd/agents/proc"
	"xmd/agents/sim"
	"xmd/runtime"
)

// The test binary is the guardian and the scripted agent, as xmd itself is.
func TestMain(m *testing.M) {
	proc.GuardianMain()
	if len(os.Args) > 1 && os.Args[1] == "sim" {
		os.Exit(sim.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else every child takes a second longer to end under -race
	os.Exit(m.Run())
}

func simAgent(t *testing.T, p Profile, args ...string) *Agent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return agentOf(p, append([]string{self, "sim", "--home", t.TempDir()}, args...)...)
}

func agentOf(p Profile, argv ...string) *Agent {
	return New(Config{Profile: p, Info: runtime.AgentInfo{Name: "sim", Shown: "Sim", Command: argv}})
}

func start(t *testing.T, a *Agent, o runtime.StartOptions) (runtime.Connection, error) {
	t.Helper()
	if o.Root == "" {
		o.Root = t.TempDir()
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	c, err := a.Start(t.Context(), o)
	if err == nil {
		t.Cleanup(func() { c.Close(context.Background()) })
	}
	return c, err
}

func TestRealProcess(t *testing.T) {
	var mu sync.Mutex
	var traced []string
	c, err := start(t, simAgent(t, simLike()), runtime.StartOptions{Trace: func(dir string, frame []byte) {
		mu.Lock()
		defer mu.Unlock()
		traced = append(traced, dir+" "+string(frame[:min(len(frame), 40)]))
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	text := ""
	res, err := c.Prompt(t.Context(), runtime.Turn{Words: "SAY hello", Sink: func(u runtime.Update) { text += u.Text }})
	if err != nil || res.Stop != "end_turn" || text != "hello" {
		t.Fatalf("%q %+v %v", text, res, err)
	}
	lock, err := os.CreateTemp(t.TempDir(), "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := c.(runtime.Holder).Hold(t.Context(), lock); err != nil {
		t.Error(err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-c.(runtime.Ender).Done()
	mu.Lock()
	defer mu.Unlock()
	if !slices.ContainsFunc(traced, func(s string) bool { return strings.HasPrefix(s, "out ") }) || !slices.ContainsFunc(traced, func(s string) bool { return strings.HasPrefix(s, "in ") }) {
		t.Errorf("traced %q", traced)
	}
}

// An agent that obeys neither the end of its stdin nor TERM is gone all the same.
func TestStubbornProcess(t *testing.T) {
	p := simLike()
	p.EOFWait = 50 * time.Millisecond
	c, err := start(t, simAgent(t, p, "--fault", "ignore-eof", "--fault", "ignore-term", "--fault", "grandchild=setsid+stubborn"), runtime.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pid := c.(*conn).Proc.(interface{ Pid() int }).Pid()
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("process %d is still there", pid)
	}
}

func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// A command that is no ACP agent is named, and none of it is left.
func TestNoACPAgent(t *testing.T) {
	quickly := Profile{StartLimit: 300 * time.Millisecond, EOFWait: 10 * time.Millisecond}
	for name, c := range map[string]struct {
		text string
		kind runtime.Kind
		say  []string
	}{
		"it says nothing":        {"echo $$ > pid; echo starting >&2; exec sleep 1000", runtime.KindUnavailable, []string{"does not speak the Agent Client Protocol", "300ms", "starting"}},
		"it exits":               {"for i in 1 2 3 4 5 6 7; do echo problem $i >&2; done; exit 3", runtime.KindUnavailable, []string{"exit code 3", "problem 3", "problem 7"}},
		"it talks":               {"echo Welcome; echo; echo 'What now?'; read x; exit 0", runtime.KindUnavailable, []string{"2 lines on stdout that are not JSON"}},
		"another protocol":       {`read x; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}'; read x`, runtime.KindUnavailable, []string{"no such method"}},
		"another version":        {`read x; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2}}'; read x`, runtime.KindUnsupported, []string{"version 2"}},
		"no version":             {`read x; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read x`, runtime.KindUnavailable, []string{"protocol version"}},
		"not signed in":          {`read x; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"auth"}}'; read x`, runtime.KindNotSignedIn, nil},
		"a version 1 that works": {`read x; echo '{"jsonrpc":"2.0","id":"1","result":{"protocolVersion":1}}'; read x`, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := quickly
			if name != "it says nothing" {
				p.StartLimit = 20 * time.Second
			}
			root, file := t.TempDir(), script(t, c.text)
			_, err := start(t, agentOf(p, file), runtime.StartOptions{Root: root})
			if c.kind == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantKind(t, err, c.kind, c.say...)
			if c.kind == runtime.KindUnavailable && !strings.Contains(err.Error(), file) {
				t.Errorf("%q does not name the command", err)
			}
			if strings.Contains(err.Error(), "problem 2") {
				t.Errorf("more than the last lines: %q", err)
			}
			if data, err := os.ReadFile(filepath.Join(root, "pid")); err == nil {
				pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
				if syscall.Kill(pid, 0) == nil {
					t.Errorf("process %d is still there", pid)
				}
			}
		})
	}
}

func TestNoProgram(t *testing.T) {
	_, err := start(t, agentOf(Profile{}, "/nowhere/agent"), runtime.StartOptions{})
	wantKind(t, err, runtime.KindUnavailable, "/nowhere/agent", "not found")
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := agentOf(Profile{}, script(t, "echo $$ > pid; exec sleep 1000"))
	root := t.TempDir()
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(root, "pid")); err == nil || t.Context().Err() != nil {
				cancel()
				return
			}
		}
	}()
	_, err := a.Start(ctx, runtime.StartOptions{Root: root, Env: os.Environ()})
	wantKind(t, err, runtime.KindCancelled)
}

// The agent gets the person's environment without what steers xmd, and what the profile adds wins.
func TestEnvironment(t *testing.T) {
	a := New(Config{
		Info: runtime.AgentInfo{Name: "sim", Shown: "Sim", Command: []string{script(t, "env > seen; exit 1")}},
		Env:  []string{"MODE=ours", "XMD_SIM_SCRIPT=kept"},
	})
	root := t.TempDir()
	_, err := start(t, a, runtime.StartOptions{Root: root, Env: []string{"PATH=/usr/bin:/bin", "MODE=theirs", "OTHER=1", "XMD_AGENT=codex"}})
	if err == nil {
		t.Fatal("no error")
	}
	data, err := os.ReadFile(filepath.Join(root, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	seen := strings.Split(string(data), "\n")
	for _, want := range []string{"MODE=ours", "OTHER=1", "XMD_SIM_SCRIPT=kept"} {
		if !slices.Contains(seen, want) {
			t.Errorf("it did not get %s", want)
		}
	}
	if slices.Contains(seen, "XMD_AGENT=codex") || slices.Contains(seen, "MODE=theirs") {
		t.Errorf("it got too much: %q", seen)
	}
}

func TestDownloadIsSaid(t *testing.T) {
	a := agentOf(Profile{StartLimit: time.Nanosecond}, script(t, `read x; echo '{"id":1,"result":{"protocolVersion":1}}'; read x`))
	a.o.Fetches = "some-adapter@1.2.3"
	var said []string
	// No limit but the caller's context: a nanosecond would have ended it.
	if _, err := start(t, a, runtime.StartOptions{Notice: func(s string) { said = append(said, s) }}); err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "some-adapter@1.2.3") {
		t.Errorf("said %q", said)
	}
}

func TestLastWordsOfAProcessThatDies(t *testing.T) {
	c, err := start(t, agentOf(Profile{StartLimit: 20 * time.Second}, script(t,
		`read x; echo '{"id":1,"result":{"protocolVersion":1}}'; read x; echo '{"id":2,"result":{"sessionId":"s"}}'; read x; echo the disk is on fire >&2; exit 9`)),
		runtime.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	_, err = c.Prompt(t.Context(), runtime.Turn{Words: "hello"})
	wantKind(t, err, runtime.KindFailed, "exit code 9", "the disk is on fire")
}
