//go:build unix

package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary plays every part: the guardian, the programs of a tree, and an
// owner (xmd) that is killed.
const (
	modeKey = "PROC_TEST_MODE"
	pidsKey = "PROC_TEST_PIDS" // folder where every process of a tree leaves its pid
)

func TestMain(m *testing.M) {
	GuardianMain()
	if mode := os.Getenv(modeKey); mode != "" {
		os.Exit(play(mode))
	}
	os.Exit(m.Run())
}

func play(mode string) int {
	mode, arg, _ := strings.Cut(mode, ":")
	if mode == "deaf" { // before it is announced
		signal.Ignore(syscall.SIGTERM)
	}
	if dir := os.Getenv(pidsKey); dir != "" && mode != "owner" {
		name := filepath.Join(dir, strconv.Itoa(os.Getpid()))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			panic(err)
		}
	}
	return parts[mode](arg)
}

var parts map[string]func(arg string) int

func init() {
	parts = map[string]func(string) int{
		"plain":   func(string) int { io.Copy(io.Discard, os.Stdin); return 0 },
		"deaf":    func(string) int { select {} },
		"wrapper": func(string) int { return wait(child("deaf", true, false)) },
		"npm":     func(string) int { return wait(child("wrapper", true, false)) },
		"holder":  func(string) int { child("deaf", true, false); return parts["plain"]("") },
		"leaver":  func(string) int { return leave(true) },
		"ghost":   func(string) int { return leave(false) },
		"setsid":  func(string) int { child("deaf", false, true); return parts["plain"]("") },
		"daemon":  func(string) int { child("setsid", true, true); return wait(child("deaf", true, true)) },
		"exit":    func(arg string) int { n, _ := strconv.Atoi(arg); return n },
		"signal":  func(arg string) int { n, _ := strconv.Atoi(arg); unix.Kill(os.Getpid(), unix.Signal(n)); select {} },
		"echo":    func(string) int { io.Copy(os.Stdout, os.Stdin); return 0 },
		"flood":   flood,
		"env":     func(arg string) int { fmt.Println(arg, os.Getenv(arg), len(os.Environ())); return 0 },
		"fds":     fds,
		"owner":   owner,
		"upgrade": upgraded,
		"adopter": adopter,
	}
}

func child(mode string, stdio, setsid bool) *exec.Cmd {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), modeKey+"="+mode)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: setsid}
	if stdio {
		c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	}
	if err := c.Start(); err != nil {
		panic(err)
	}
	return c
}

func wait(c *exec.Cmd) int {
	c.Wait()
	return c.ProcessState.ExitCode()
}

// leave exits by itself when what it leaves behind is ready.
func leave(stdio bool) int {
	child("deaf", stdio, false)
	for {
		if list, _ := os.ReadDir(os.Getenv(pidsKey)); len(list) == 2 {
			return 3
		}
	}
}

// flood writes arg MiB to both streams.
func flood(arg string) int {
	n, _ := strconv.Atoi(arg)
	block := []byte(strings.Repeat(strings.Repeat("x", 63)+"\n", 1<<14))
	for range n {
		os.Stderr.Write(block)
		os.Stdout.Write(block)
	}
	fmt.Fprint(os.Stderr, "one\n\n  \ntwo\r\nthree")
	return 0
}

// fds lists the open files of this process that are no standard streams.
func fds(string) int {
	list, _ := os.ReadDir("/proc/self/fd")
	for _, f := range list {
		if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && len(f.Name()) == 1 && f.Name() > "2" {
			fmt.Println(f.Name(), to)
		}
	}
	fmt.Println("that is all")
	return 0
}

// owner is xmd: it locks a file, starts a tree and lives until it is killed.
func owner(arg string) int {
	tree, lockName, _ := strings.Cut(arg, ":")
	lock, err := os.OpenFile(lockName, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		panic(err)
	}
	o := options(tree, os.Getenv(pidsKey))
	if strings.HasSuffix(lockName, "inherited") {
		o.Locks = []*os.File{lock}
	}
	p, err := Start(context.Background(), o)
	if err == nil && o.Locks == nil {
		err = p.Hold(context.Background(), lock)
	}
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	select {}
}

// adopter is an xmd with two programs, one of whose guardians is killed. It says what is left of each when that one is done.
func adopter(string) int {
	before := exec.Command("/bin/sleep", "600") // a shell that has become this process had it
	if err := before.Start(); err != nil {
		panic(err)
	}
	defer func() { _ = before.Process.Kill(); _ = before.Wait() }()
	AdoptOrphans()
	var trees [2]*Process
	var pids [2][]int
	for i, tree := range []string{"daemon", "setsid"} {
		dir := filepath.Join(os.Getenv(pidsKey), tree)
		err := os.Mkdir(dir, 0o700)
		p, startErr := Start(context.Background(), options(tree, dir))
		if err = errors.Join(err, startErr); err != nil {
			panic(err)
		}
		trees[i] = p
		for len(pids[i]) < 4-2*i {
			pids[i] = nil
			list, _ := os.ReadDir(dir)
			for _, f := range list {
				pid, _ := strconv.Atoi(f.Name())
				pids[i] = append(pids[i], pid)
			}
		}
	}
	_ = trees[0].backend.(*guarded).cmd.Process.Kill()
	<-trees[0].Done()
	fmt.Printf("%d of 4 left, %d of the other, %d from before\n", len(alive(pids[0])), len(alive(pids[1])), len(alive([]int{before.Process.Pid})))
	_ = trees[1].Kill()
	return 0
}

// upgraded is an xmd whose file is replaced before it starts a program.
func upgraded(string) int {
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	r, err := Output(context.Background(), []string{"/bin/sh", "-c", "echo works"}, nil, "", 100)
	fmt.Println(r.FirstLine(), err)
	return 0
}

// options are those of a test: a part played by this binary, with short waits.
func options(mode, pids string) Options {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Options{
		Argv: []string{exe}, Name: mode,
		Env: []string{modeKey + "=" + mode, pidsKey + "=" + pids, "PATH=/usr/bin:/bin",
			"GORACE=atexit_sleep_ms=0"}, // else every exit of a race build takes a second
		EOFWait: 300 * time.Millisecond, TermWait: 100 * time.Millisecond,
	}
}

// start starts a part and makes sure that nothing of it is left after the test.
func start(t *testing.T, o Options) *Process {
	t.Helper()
	p, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); p.Stdout.Close() })
	return p
}

// eventually polls until f is true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never came: %s", what)
		}
	}
}

// announced waits for n processes of a tree and returns their pids.
func announced(t *testing.T, dir string, n int) (pids []int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d processes", n), func() bool {
		list, _ := os.ReadDir(dir)
		pids = nil
		for _, f := range list {
			pid, _ := strconv.Atoi(f.Name())
			pids = append(pids, pid)
		}
		return len(pids) >= n
	})
	return pids
}

func alive(pids []int) (left []int) {
	for _, pid := range pids {
		if unix.Kill(pid, 0) == nil {
			left = append(left, pid)
		}
	}
	return left
}

// lockFile makes a file to lock; how says how the guardian gets its copy.
func lockFile(t *testing.T, how string) string {
	name := filepath.Join(t.TempDir(), how)
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func lockNow(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	return f
}
