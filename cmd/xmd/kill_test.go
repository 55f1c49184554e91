//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/runtime/store"
)

// started is an xmd that runs as a process of its own, with its own home.
type started struct {
	t      *testing.T
	cmd    *exec.Cmd
	home   string
	mark   string // in the environment of everything it starts
	pipe   io.ReadCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// startXMD starts this test binary as xmd in a fresh home. Everything it starts carries a mark in its environment, by which it is found.
func startXMD(t *testing.T, faults, text string, args ...string) *started {
	t.Helper()
	home := t.TempDir()
	doc := filepath.Join(home, "doc.xmd")
	if err := os.WriteFile(doc, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return startIn(t, home, faults, append([]string{"run", doc}, args...)...)
}

// startIn starts this test binary as xmd in a home.
func startIn(t *testing.T, home, faults string, args ...string) *started {
	t.Helper()
	x := &started{t: t, home: home, mark: "MARK=" + filepath.Base(filepath.Dir(home)) + t.Name()}
	bin := filepath.Join(home, "xmd")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	x.cmd = exec.Command(bin, args...)
	x.cmd.Dir = home
	x.cmd.Env = append(os.Environ(), "GO_TEST_AS_XMD=1", quickExit, "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "XMD_SIM_FAULT="+faults, x.mark)
	x.cmd.Stderr = &x.stderr
	out, err := x.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	x.pipe, x.stdout = out, bufio.NewReader(out)
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.cmd.Process.Kill() })
	return x
}

// await reads stdout up to a line that holds part.
func (x *started) await(part string) {
	x.t.Helper()
	for {
		line, err := x.stdout.ReadString('\n')
		if strings.Contains(line, part) {
			return
		}
		if err != nil {
			x.t.Fatalf("stdout ended before %q; stderr: %s", part, x.stderr.String())
		}
	}
}

func (x *started) signal(sig syscall.Signal) {
	x.t.Helper()
	if err := x.cmd.Process.Signal(sig); err != nil {
		x.t.Fatal(err)
	}
}

// code waits for the end and returns the exit code, 128+n for a signal.
func (x *started) code() int {
	x.t.Helper()
	err := x.cmd.Wait()
	var exit *exec.ExitError
	if err == nil {
		return 0
	}
	if !errors.As(err, &exit) {
		x.t.Fatal(err)
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}

// left lists the processes that carry the mark.
func (x *started) left() []string {
	var found []string
	envs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range envs {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(env, []byte(x.mark)) {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		found = append(found, filepath.Base(filepath.Dir(path))+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
	}
	return found
}

// gone waits until nothing that carries the mark is left.
func (x *started) gone() {
	x.t.Helper()
	end := time.Now().Add(20 * time.Second)
	for {
		left := x.left()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			x.t.Fatalf("still there: %s", strings.Join(left, "\n"))
		}
		time.Sleep(5 * time.Millisecond) // polling the process table; nothing else tells
	}
}

const sleeping = "begun\n<Prompt agent=\"sim\" session=\"s\">SLEEP 60000</Prompt>\n"

// awaitTurn waits until the prompt is recorded as sent: the agent has it, or is about to.
func (x *started) awaitTurn() {
	x.t.Helper()
	end := time.Now().Add(20 * time.Second)
	for time.Now().Before(end) {
		if x.owner() == store.OwnerTurn {
			return
		}
		time.Sleep(5 * time.Millisecond) // another process writes it; its store is the only place that tells
	}
	x.t.Fatalf("no turn began; stderr: %s", x.stderr.String())
}

func (x *started) key() store.SessionKey {
	root, err := filepath.EvalSymlinks(x.home)
	if err != nil {
		x.t.Fatal(err)
	}
	return store.SessionKey{Agent: "sim", Session: "s", Root: root}
}

func (x *started) owner() store.OwnerState {
	x.t.Helper()
	var state store.OwnerState
	x.withStore(func(s *store.Store) {
		err := s.View(context.Background(), func(tx *store.Tx) error {
			o, _, err := tx.Owner(x.key())
			state = o.State
			return err
		})
		if err != nil {
			x.t.Fatal(err)
		}
	})
	return state
}

func (x *started) withStore(fn func(s *store.Store)) {
	x.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(x.home, "state", "xmd")})
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	fn(s)
}

func TestSignalsCancelAndReap(t *testing.T) {
	for _, c := range []struct {
		sig  syscall.Signal
		code int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(c.sig.String(), func(t *testing.T) {
			x := startXMD(t, "", sleeping)
			x.await("begun")
			x.awaitTurn()
			x.signal(c.sig)
			if got := x.code(); got != c.code {
				t.Errorf("exit code %d, want %d; stderr: %s", got, c.code, x.stderr.String())
			}
			x.gone()
			if o := x.owner(); o != store.OwnerIdle {
				t.Errorf("the owner is %q, want idle", o)
			}
			if !strings.Contains(x.stderr.String(), "[cancelled]") {
				t.Errorf("stderr: %s", x.stderr.String())
			}
		})
	}
}

func TestTheSecondSignalKills(t *testing.T) {
	x := startXMD(t, "cancel-ignored,ignore-eof,ignore-term", sleeping)
	x.await("begun")
	x.awaitTurn()
	x.signal(syscall.SIGINT)
	time.Sleep(100 * time.Millisecond) // two signals sent at once are one to the kernel
	start := time.Now()
	x.signal(syscall.SIGINT)
	if got := x.code(); got != 130 {
		t.Errorf("exit code %d, want 130; stderr: %s", got, x.stderr.String())
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("it took %s to leave", d)
	}
	x.gone()
}

// kill -9 of xmd in a turn: the tree goes, and the session's lock is not free before it has gone.
func TestKill9LeavesNothingAndHoldsTheLock(t *testing.T) {
	for _, faults := range []string{"", "ignore-eof,ignore-term", "grandchild"} {
		t.Run("fault "+faults, func(t *testing.T) {
			x := startXMD(t, faults, sleeping)
			x.await("begun")
			x.awaitTurn()
			x.signal(syscall.SIGKILL)
			if got := x.code(); got != 137 {
				t.Fatalf("exit code %d, want 137", got)
			}
			x.withStore(func(s *store.Store) { x.lockWaits(s) })
			if o := x.owner(); o != store.OwnerTurn {
				t.Errorf("the owner is %q, want turn", o)
			}
		})
	}
}

// lockWaits takes the session's lock as soon as it is free; by then nothing may be left.
func (x *started) lockWaits(s *store.Store) {
	x.t.Helper()
	lock, err := s.Wait(context.Background(), 20*time.Second, store.LockSession, x.key().LockName(), store.LockOwner{})
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	var left []string
	for _, p := range x.left() {
		if !strings.Contains(p, "__guardian") { // the guardian itself ends after the lock it held
			left = append(left, p)
		}
	}
	if len(left) > 0 {
		x.t.Errorf("the lock is free, and still there: %s", strings.Join(left, "\n"))
	}
}

func TestAClosedStdoutEndsTheRun(t *testing.T) {
	x := startXMD(t, "", "begun\n<Prompt agent=\"sim\">CHUNKS 200000 100</Prompt>\n")
	x.await("begun")
	if err := x.pipe.Close(); err != nil {
		t.Fatal(err)
	}
	if got := x.code(); got != 141 {
		t.Errorf("exit code %d, want 141; stderr: %s", got, x.stderr.String())
	}
	if x.stderr.Len() > 0 {
		t.Errorf("stderr: %s", x.stderr.String())
	}
	x.gone()
}

// A block's script, and values that go to it by file, are gone when xmd was killed in it and its guardian has ended; what a kill of both
// leaves is gone with the next resume.
func TestKill9LeavesNoScript(t *testing.T) {
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprintf("guardian too %v", both), func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			x := startXMD(t, "", "```sh exec\nif test -e done; then exit 0; fi\ntouch done\necho begun\nexec sleep 60\n```\n")
			x.await("begun")
			if n := len(x.scripts(tmp)); n != 1 {
				t.Fatalf("%d folders", n)
			}
			if both {
				x.signal(syscall.SIGSTOP) // it is not to clean up
				x.killGuardians()
			}
			x.signal(syscall.SIGKILL)
			if got := x.code(); got != 137 {
				t.Fatalf("exit code %d, want 137", got)
			}
			x.gone()
			if both {
				h := &home{t: t, dir: x.home, mark: x.mark}
				if o := h.xmd(nil, "resume", "last"); o.code != 0 {
					t.Errorf("%+v", o)
				}
			}
			if left := x.scripts(tmp); len(left) != 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

func (x *started) scripts(tmp string) []string {
	list, _ := filepath.Glob(filepath.Join(tmp, "xmd-*"))
	return list
}

// killGuardians kills every guardian of it.
func (x *started) killGuardians() {
	x.t.Helper()
	killed := 0
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", x.cmd.Process.Pid))
	for _, list := range lists {
		pids, _ := os.ReadFile(list)
		for _, pid := range strings.Fields(string(pids)) {
			if n, err := strconv.Atoi(pid); err == nil && syscall.Kill(n, syscall.SIGKILL) == nil {
				killed++
			}
		}
	}
	if killed == 0 {
		x.t.Fatal("there is no guardian")
	}
}

// A guardian that is killed takes its agent with it; what the agent has started and hidden falls to xmd, which ends it.
func TestAKilledGuardianLeavesNothing(t *testing.T) {
	for _, faults := range []string{"grandchild=setsid", "grandchild=setsid+stubborn", "grandchild=stdout"} {
		t.Run(faults, func(t *testing.T) {
			x := startXMD(t, faults, sleeping)
			x.await("begun")
			x.awaitTurn()
			x.killGuardians()
			if got := x.code(); got == 0 {
				t.Errorf("exit code 0")
			}
			x.gone()
		})
	}
}

// An agent that dies in a turn and leaves something that is hard to end does not stand in the way of the next prompt: it attaches anew, when
// everything of the first is gone.
func TestTheNextPromptAttachesAnew(t *testing.T) {
	h := newHome(t, "<Prompt agent=\"sim\" session=\"s\">first</Prompt>\n<Prompt agent=\"sim\" session=\"s\">second</Prompt>\n")
	h.write("script.xmd", "<WhenPrompt template=\"first\">\n<Say>half of it</Say>\n<Exit code={9}/>\n</WhenPrompt>\n<WhenPrompt template=\"second\">\n<Say>all of it</Say>\n</WhenPrompt>\n")
	o := h.xmd([]string{"XMD_SIM_SCRIPT=" + filepath.Join(h.dir, "script.xmd"), "XMD_SIM_FAULT=grandchild=setsid+stubborn"}, "run", "doc.xmd")
	if o.code != 1 || !strings.HasSuffix(o.stdout, "all of it\n") || !strings.Contains(o.stderr, "ended in the middle of a turn") {
		t.Errorf("%+v", o)
	}
	h.check()
}
