//go:build linux

package proc

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
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The trees, and how many processes each has.
var trees = map[string]int{
	"plain":   1,
	"deaf":    1, // ignores the end of stdin, and TERM
	"wrapper": 2, // like npm's; its child ignores both
	"npm":     3,
	"holder":  2, // a grandchild holds stdout
	"leaver":  2, // exits by itself and leaves one
	"setsid":  2, // a grandchild in a session of its own
	"daemon":  4, // several, at every level
}

// freeOnlyAfter waits until the lock is free, and fails if any of pids is left then.
func freeOnlyAfter(t *testing.T, lockName string, pids []int) {
	t.Helper()
	f, err := os.OpenFile(lockName, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	eventually(t, "a free lock", func() bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil })
	if left := alive(pids); len(left) > 0 {
		t.Errorf("the lock is free, but %v of %v are left", left, pids)
	}
}

func TestStopTree(t *testing.T) {
	for tree, size := range trees {
		for _, how := range []string{"inherited", "passed"} {
			t.Run(tree+"/"+how, func(t *testing.T) {
				t.Parallel()
				name, dir := lockFile(t, how), t.TempDir()
				lock, o := lockNow(t, name), options(tree, dir)
				if how == "inherited" {
					o.Locks = []*os.File{lock}
				}
				p := start(t, o)
				if err := p.Hold(t.Context(), lock); tree != "leaver" && err != nil {
					t.Fatal(err)
				}
				lock.Close() // from here on only the guardian has it
				pids := announced(t, dir, size)
				if err := p.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if left := alive(pids); len(left) > 0 {
					t.Errorf("%v of %v are left", left, pids)
				}
				freeOnlyAfter(t, name, pids)
				if _, err := io.ReadAll(p.Stdout); err != nil {
					t.Errorf("stdout: %v", err)
				}
			})
		}
	}
}

// kill -9 of xmd: nothing is left, and its lock is free only then.
func TestOwnerKilled(t *testing.T) {
	for tree, size := range trees {
		for _, how := range []string{"inherited", "passed"} {
			if tree == "leaver" && how == "passed" {
				continue // may be gone before it is passed
			}
			t.Run(tree+"/"+how, func(t *testing.T) {
				t.Parallel()
				name, dir := lockFile(t, how), t.TempDir()
				xmd := startOwner(t, tree, name, dir)
				pids := announced(t, dir, size)
				xmd.Process.Kill()
				xmd.Wait()
				freeOnlyAfter(t, name, pids)
			})
		}
	}
}

// startOwner starts an xmd that locks a file and has started a tree.
func startOwner(t *testing.T, tree, lock, pids string) *exec.Cmd {
	t.Helper()
	xmd := exec.Command("/proc/self/exe")
	xmd.Env = []string{modeKey + "=owner:" + tree + ":" + lock, pidsKey + "=" + pids, "GORACE=atexit_sleep_ms=0"}
	xmd.Stderr = os.Stderr
	out, err := xmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := xmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return xmd
}

// The guardian is killed: the program dies with it, and xmd kills its group.
func TestGuardianKilled(t *testing.T) {
	dir := t.TempDir()
	p := start(t, options("wrapper", dir))
	pids := announced(t, dir, 2)
	g := p.backend.(*guarded)
	if err := g.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	eventually(t, "the end of the tree", func() bool { return len(unfinished(pids)) == 0 })
	if e := p.Exit(); e.Signal != syscall.SIGKILL {
		t.Errorf("exit: %v", e)
	}
	if err := p.Hold(t.Context(), os.Stdin); err == nil {
		t.Error("a dead guardian took a lock")
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// Guardian and xmd both gone: the program still dies, by the parent-death signal.
func TestGuardianAndOwnerGone(t *testing.T) {
	name, dir := lockFile(t, "inherited"), t.TempDir()
	xmd := startOwner(t, "deaf", name, dir)
	pids := announced(t, dir, 1)
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pids[0]))
	if err != nil {
		t.Fatal(err)
	}
	var guardian int
	fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+4:]), "%d", &guardian)
	xmd.Process.Signal(syscall.SIGSTOP) // so that it cannot help
	unix.Kill(guardian, unix.SIGKILL)
	eventually(t, "the end of the program", func() bool { return len(unfinished(pids)) == 0 })
	xmd.Process.Kill()
	xmd.Wait()
	freeOnlyAfter(t, name, nil)
}

// unfinished leaves out zombies: these orphans have only init to collect them.
func unfinished(pids []int) []int {
	return slices.DeleteFunc(alive(pids), func(pid int) bool {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return len(b) == 0 || slices.Contains([]byte{'Z', 'X'}, b[slices.Index(b, ')')+2])
	})
}

// The guardian has none of the pipes: both sides see their ends while it still waits.
func TestGuardianHoldsNoPipe(t *testing.T) {
	dir := t.TempDir()
	o := options("ghost", dir)
	o.TermWait = time.Hour
	p := start(t, o)
	pids := announced(t, dir, 2)
	if _, err := io.ReadAll(p.Stdout); err != nil {
		t.Error(err)
	}
	<-p.Exited() // the ends of the pipes close in any order
	if _, err := p.Stdin.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("writing to a program that has ended: %v", err)
	}
	select {
	case <-p.Done():
		t.Error("done, with a process left")
	default:
	}
	if err := p.Kill(); err != nil || len(alive(pids)) > 0 || p.Exit().Code != 3 {
		t.Errorf("%v, %v left, %v", err, alive(pids), p.Exit())
	}
}

// A guardian is out of the terminal's reach, and its program leads a group.
func TestSessions(t *testing.T) {
	p := start(t, options("plain", t.TempDir()))
	guardian := p.backend.(*guarded).cmd.Process.Pid
	if sid, err := unix.Getsid(guardian); sid != guardian {
		t.Errorf("the guardian is in session %d, %v", sid, err)
	}
	if pgid, err := unix.Getpgid(p.Pid()); pgid != p.Pid() {
		t.Errorf("the program is in group %d, %v", pgid, err)
	}
}

// TERM to the guardian skips the wait for the end of stdin.
func TestGuardianTerminated(t *testing.T) {
	dir := t.TempDir()
	o := options("plain", dir)
	o.EOFWait, o.TermWait = time.Hour, time.Hour
	p := start(t, o)
	announced(t, dir, 1)
	p.backend.(*guarded).cmd.Process.Signal(syscall.SIGTERM)
	if e := p.Exit(); e.Signal != syscall.SIGTERM || e.Code != 143 {
		t.Errorf("exit: %v (%d)", e, e.Code)
	}
}

// What a program leaves behind is ended, and Exited comes before Done.
func TestLeftBehind(t *testing.T) {
	dir := t.TempDir()
	o := options("leaver", dir)
	o.TermWait = 200 * time.Millisecond
	p := start(t, o)
	pids := announced(t, dir, 2)
	<-p.Exited()
	<-p.Done()
	if left := alive(pids); len(left) > 0 || p.Exit().Code != 3 {
		t.Errorf("%v are left, %v", left, p.Exit())
	}
}

// A context that ends turns Stop into KILL at once.
func TestStopInTime(t *testing.T) {
	dir := t.TempDir()
	o := options("deaf", dir)
	o.EOFWait, o.TermWait = time.Hour, time.Hour
	p := start(t, o)
	announced(t, dir, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if e := p.Exit(); e.Signal != syscall.SIGKILL || e.String() != "signal: killed" {
		t.Errorf("exit: %v", e)
	}
}

// The program inherits neither the lifeline nor a lock.
func TestInheritsNothing(t *testing.T) {
	lock := lockNow(t, lockFile(t, "inherited"))
	defer lock.Close()
	o := options("fds", "")
	o.Locks = []*os.File{lock, lock}
	p := start(t, o)
	b, err := io.ReadAll(p.Stdout)
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "socket:") || strings.Contains(line, lock.Name()) {
			t.Errorf("the program has file %s", line)
		}
	}
	if err != nil || !strings.HasSuffix(string(b), "that is all\n") {
		t.Errorf("no list of files: %q, %v", b, err)
	}
}

// An upgrade replaces the file of a running xmd: its guardians are still itself.
func TestReplacedBinary(t *testing.T) {
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "xmd")
	write(t, name, string(exe), 0o700)
	p := start(t, Options{Argv: []string{name}, Env: []string{modeKey + "=upgrade"}, EOFWait: time.Minute})
	out := bufio.NewReader(p.Stdout)
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	write(t, name, "#!/bin/false\n", 0o700)
	p.CloseStdin()
	if line, err := out.ReadString('\n'); line != "works <nil>\n" {
		t.Errorf("%q, %v, %s", line, err, p.StderrTail())
	}
}

// Without the kernel's lists of children the scan of all processes finds the same.
func TestDescendants(t *testing.T) {
	dir := t.TempDir()
	p := start(t, options("daemon", dir))
	pids := announced(t, dir, 4)
	guardian := p.backend.(*guarded).cmd.Process.Pid
	scanned := scanProcesses(guardian)
	listed := below(guardian)
	for _, list := range [][]int{pids, scanned, listed} {
		slices.Sort(list)
	}
	if !slices.Equal(scanned, pids) || !slices.Equal(listed, pids) {
		t.Errorf("scanned %v, listed %v, want %v", scanned, listed, pids)
	}
}

// The guardian is killed in a process that adopts orphans: nothing of its tree is left when the program is done, wherever it hid, and the
// guardian of another program and its tree stay.
func TestKilledGuardianOfAnAdopter(t *testing.T) {
	dir := t.TempDir()
	xmd := exec.Command("/proc/self/exe")
	xmd.Env = []string{modeKey + "=adopter", pidsKey + "=" + dir, "GORACE=atexit_sleep_ms=0"}
	xmd.Stderr = os.Stderr
	if out, err := xmd.Output(); err != nil || string(out) != "0 of 4 left, 2 of the other, 1 from before\n" {
		t.Errorf("%q, %v", out, err)
	}
}
