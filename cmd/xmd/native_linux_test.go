package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/agents/agenttest/pty"
	"xmd/runtime/store"
)

// desk is somebody at a terminal in a home.
type desk struct {
	*pty.Screen
	h   *home
	cmd *exec.Cmd
}

// environ is what xmd gets in a home.
func (h *home) environ(env ...string) []string {
	path := "PATH=" + h.dir + string(os.PathListSeparator) + os.Getenv("PATH")
	return append([]string{path, "TERM=xterm", "LANG=C.UTF-8", "GO_TEST_AS_XMD=1", quickExit, "HOME=" + h.dir, "XDG_STATE_HOME=" + filepath.Join(h.dir, "state"),
		"XMD_SIM_HOME=" + filepath.Join(h.dir, "state", "xmd-sim"), "PS1=$ ", "GORACE=atexit_sleep_ms=0", h.mark}, env...)
}

// sit starts xmd as the only program of a terminal.
func (h *home) sit(env []string, args ...string) *desk {
	h.t.Helper()
	return h.sitAt(exec.Command(filepath.Join(h.dir, "xmd"), args...), env)
}

// shell is an interactive shell with job control.
func (h *home) shell(env ...string) *desk {
	h.t.Helper()
	d := h.sitAt(exec.Command("/bin/bash", "--norc", "--noprofile", "--noediting", "-i"), env)
	d.Await("$ ")
	return d
}

func (h *home) sitAt(cmd *exec.Cmd, env []string) *desk {
	h.t.Helper()
	d := &desk{Screen: pty.New(h.t), h: h, cmd: cmd}
	cmd.Dir, cmd.Env = h.dir, h.environ(env...)
	d.Start(cmd)
	h.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return d
}

// types types a line.
func (d *desk) types(line string) { d.Type(line + "\r") }

// ends waits for the program and gives its exit code.
func (d *desk) ends() int {
	d.h.t.Helper()
	done := make(chan struct{})
	go func() { _ = d.cmd.Wait(); close(done) }()
	select {
	case <-done:
		return d.cmd.ProcessState.ExitCode()
	case <-time.After(pty.Limit):
		d.h.t.Fatal("it does not end")
		return 0
	}
}

// quits leaves the window and checks the exit code.
func (d *desk) quits(code int) {
	d.h.t.Helper()
	d.types("/quit")
	if got := d.ends(); got != code {
		d.h.t.Fatalf("exit code %d, want %d; shown %q", got, code, d.Shown())
	}
}

// remembers gives the session w a first turn.
func (h *home) remembers() {
	h.t.Helper()
	h.write("first.xmd", "<Prompt agent=\"sim\" session=\"w\">the codeword is HERON for this long session</Prompt>\n")
	if o := h.plain(nil, "run", "first.xmd"); o.code != 0 {
		h.t.Fatalf("%+v", o)
	}
}

// plain runs xmd without a terminal, with the environment that it has at one.
func (h *home) plain(env []string, args ...string) outcome {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(h.dir, "xmd"), args...)
	cmd.Dir, cmd.Env = h.dir, h.environ(env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// asks what the codeword of the session w is, in another run.
func (h *home) asks(want string) {
	h.t.Helper()
	h.write("ask.xmd", "<Prompt agent=\""+h.agent+"\" session=\"w\">What was the last codeword of this long session?</Prompt>\n")
	if o := h.plain(nil, "run", "ask.xmd"); o.code != 0 || o.stdout != "The codeword is "+want+".\n" || o.stderr != "" {
		h.t.Errorf("%+v", o)
	}
}

// owner is the owner record of the session w, and its route.
func (h *home) owner() (state store.OwnerState, route store.Route) {
	h.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(h.dir, "state", "xmd")})
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	key := store.SessionKey{Agent: h.agent, Session: "w", Root: h.dir}
	err = s.View(context.Background(), func(tx *store.Tx) error {
		o, _, err := tx.Owner(key)
		state = o.State
		if err == nil {
			route, _, err = tx.Current(key)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return state, route
}

// What is typed in the window is known to the next prompt, and to a later run.
func TestOpenGoesOnWithASession(t *testing.T) {
	h := newHome(t, "")
	h.remembers()
	d := h.sit(nil, "open", "w")
	d.Await("> the codeword is HERON")
	d.Await("sim> ")
	if state, _ := h.owner(); state != store.OwnerNative {
		t.Errorf("owner %q while it is open", state)
	}
	busy := h.plain(nil, "run", "first.xmd")
	if busy.code != 5 || !strings.Contains(busy.stderr, "xmd open w") || !strings.Contains(busy.stderr, "[busy, retryable]") {
		t.Errorf("another run: %+v", busy)
	}
	d.Type("\x03")
	d.Await("[interrupt]")
	d.types("the codeword is STORK in the window")
	d.Await("turn 2: the codeword is STORK")
	d.quits(0)
	if strings.Contains(d.Shown(), "changed") {
		t.Errorf("shown %q", d.Shown())
	}
	if state, route := h.owner(); state != store.OwnerIdle || route.Transport != store.TransportACP {
		t.Errorf("owner %q, route %+v", state, route)
	}
	h.asks("STORK")
	h.check()
}

// The warning about another build comes before the window, once.
func TestOpenWarns(t *testing.T) {
	h := newHome(t, "")
	h.remembers()
	d := h.sit([]string{"XMD_SIM_FAULT=version=7.7.7"}, "open", "sim:w")
	said := d.Await("sim, session")
	if want := "sim has changed from 1.0.0 to 7.7.7 since this session was established. Continuing the existing conversation.\r\n"; said != want {
		t.Errorf("before the window: %q", said)
	}
	d.quits(0)
}

// However badly the interface behaves: its code is told, the terminal is as it was, and nothing of it is left.
func TestOpenOfWhatMisbehaves(t *testing.T) {
	cases := map[string]struct {
		fault string
		end   func(d *desk)
		code  int
		says  string
	}{
		"exit code":       {"native-exit=3", func(d *desk) { d.types("/quit") }, 1, "sim ended with code 3 [failed]"},
		"raw mode":        {"native-raw", func(d *desk) { d.types("/quit") }, 0, ""},
		"grandchild":      {"grandchild=setsid+stubborn", func(d *desk) { d.types("/quit") }, 0, ""},
		"killed":          {"", func(d *desk) { d.signal("--native", syscall.SIGKILL) }, 1, "sim was ended by a signal (killed) [failed]"},
		"xmd told to end": {"native-deaf,grandchild=setsid+stubborn", func(d *desk) { _ = d.cmd.Process.Signal(syscall.SIGTERM) }, 143, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, "")
			h.remembers()
			d := h.sit([]string{"XMD_SIM_FAULT=" + c.fault}, "open", "w")
			clean := d.Mode()
			d.Await("sim> ")
			if raw := d.Mode() != clean; raw != (c.fault == "native-raw") {
				t.Errorf("raw is %v", raw)
			}
			c.end(d)
			if c.says != "" {
				d.Await(c.says)
			}
			if got := d.ends(); got != c.code {
				t.Errorf("exit code %d, want %d; shown %q", got, c.code, d.Shown())
			}
			if d.Mode() != clean {
				t.Errorf("the terminal's mode is %+v, it was %+v", d.Mode(), clean)
			}
			if state, _ := h.owner(); state != store.OwnerIdle {
				t.Errorf("owner %q", state)
			}
			h.check()
			h.asks("HERON")
		})
	}
}

// signal signals the process of this home whose command line holds word.
func (d *desk) signal(word string, sig syscall.Signal) {
	d.h.t.Helper()
	pid := d.process(word)
	if err := syscall.Kill(pid, sig); err != nil {
		d.h.t.Fatal(err)
	}
}

// process finds the process of this home whose command line holds word, guardians aside.
func (d *desk) process(word string) int {
	d.h.t.Helper()
	for _, line := range (&started{t: d.h.t, mark: d.h.mark}).left() {
		var pid int
		if _, err := fmt.Sscan(line, &pid); err == nil && strings.Contains(line, word) && !strings.Contains(line, "__window") {
			return pid
		}
	}
	d.h.t.Fatalf("no process has %q", word)
	return 0
}

// Ctrl-Z gives the shell the terminal, fg gives it back.
func TestOpenUnderJobControl(t *testing.T) {
	h := newHome(t, "")
	h.remembers()
	d := h.shell()
	clean := d.Mode()
	d.types("xmd open w; echo code $?")
	d.Await("sim> ")
	d.Type("\x1a")
	d.Await("Stopped")
	d.Await("$ ")
	if d.Mode() != clean {
		t.Error("the shell has another mode than before")
	}
	d.types("fg; echo code $?")
	d.Await("[continued]")
	d.types("the codeword is STORK in the window")
	d.Await("turn 2: ")
	d.types("/quit")
	d.Await("code 0")
	d.Await("$ ")
	d.types("exit")
	d.ends()
	h.asks("STORK")
	h.check()
}

// kill -9 of xmd: the guardian ends the window and the shell has a clean terminal; the session is for recover.
func TestOpenIsKilled(t *testing.T) {
	h := newHome(t, "")
	h.remembers()
	d := h.shell("XMD_SIM_FAULT=native-raw,native-deaf,grandchild=setsid+stubborn")
	clean := d.Mode()
	d.types("xmd open w")
	d.Await("sim> ")
	d.types("the codeword is STORK in the window")
	d.Await("turn 2: ")
	xmd := d.process("xmd open w")
	if err := syscall.Kill(xmd, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.Await("Killed")
	d.Await("$ ")
	h.onlyShell()
	d.types("echo $((40+2))")
	d.Await("42")
	d.Await("$ ")
	if d.Mode() != clean || d.Foreground() != d.cmd.Process.Pid {
		t.Errorf("mode %+v, was %+v; front %d", d.Mode(), clean, d.Foreground())
	}
	h.write("other.xmd", "<Prompt agent=\"sim\" session=\"w\">words of another run entirely</Prompt>\n")
	o := h.plain(nil, "run", "other.xmd", "--wait", "20s")
	if o.code != 5 || !strings.Contains(o.stderr, "its native interface was open when its last owner ended") || !strings.Contains(o.stderr, "[recovery-required]") {
		t.Errorf("another run: %+v", o)
	}
	again := h.plain(nil, "open", "w")
	if again.code != 2 { // there is no terminal, which is said first
		t.Errorf("open: %+v", again)
	}
	o = h.plain(nil, "sessions", "recover", "w")
	if o.code != 0 || !strings.Contains(o.stdout, "is idle now; nothing was sent") {
		t.Errorf("recover: %+v", o)
	}
	h.asks("STORK")
	d.types("exit")
	d.ends()
	h.check()
}

// onlyShell takes the lock of the session w as soon as it is free: by then nothing but the shell may be left.
func (h *home) onlyShell() {
	h.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(h.dir, "state", "xmd")})
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	key := store.SessionKey{Agent: h.agent, Session: "w", Root: h.dir}
	lock, err := s.Wait(context.Background(), 20*time.Second, store.LockSession, key.LockName(), store.LockOwner{})
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	for _, line := range (&started{t: h.t, mark: h.mark}).left() {
		if !strings.Contains(line, "bash") && !strings.Contains(line, "__window") { // the guardian, which exits last
			h.t.Errorf("the lock is free, and still there: %s", line)
		}
	}
}

// A conversation that is open in another of the agent's own programs is waited for.
func TestOpenWaitsForTheConversation(t *testing.T) {
	h := newHome(t, "")
	h.remembers()
	_, route := h.owner()
	other := h.sit([]string{"XMD_SIM_FAULT=lock"}, "sim", "--native", "--resume", route.NativeSessionID)
	other.Await("sim> ")
	d := h.sit([]string{"XMD_SIM_FAULT=lock"}, "open", "w")
	d.Await("sim has this conversation open in another program; waiting up to 1m30s until it is free.")
	other.types("the codeword is STORK in the other window")
	other.Await("turn 2: ")
	other.quits(0)
	d.Await("> the codeword is STORK")
	d.Await("sim> ")
	d.quits(0)
	h.check()
}

func TestOpenNeedsATerminal(t *testing.T) {
	h := newHome(t, "<Session.Launch agent=\"sim\" session=\"w\"/>\n")
	if o := h.plain(nil, "run", "doc.xmd"); o.code != 2 || !strings.Contains(o.stderr, "an agent's own interface needs a terminal") || !strings.Contains(o.stderr, "[usage]") {
		t.Errorf("%+v", o)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "state", "xmd-sim")); !os.IsNotExist(err) {
		t.Errorf("the agent was touched: %v", err)
	}
	h.remembers()
	if o := h.plain(nil, "open", "w"); o.code != 2 || o.stdout != "" || !strings.Contains(o.stderr, "[usage]") {
		t.Errorf("%+v", o)
	}
}
