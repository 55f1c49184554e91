//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestExits(t *testing.T) {
	cases := []struct {
		mode string
		want Exit
		text string
	}{
		{"exit:0", Exit{}, "exit code 0"},
		{"exit:7", Exit{Code: 7}, "exit code 7"},
		{"exit:143", Exit{Code: 143}, "exit code 143"},
		{"signal:9", Exit{Code: 137, Signal: syscall.SIGKILL}, "signal: killed"},
		{"signal:15", Exit{Code: 143, Signal: syscall.SIGTERM}, "signal: terminated"},
	}
	for _, tc := range cases {
		t.Run(tc.mode, func(t *testing.T) {
			p := start(t, options(tc.mode, ""))
			if got := p.Exit(); got != tc.want || got.String() != tc.text {
				t.Errorf("got %+v (%v)", got, got)
			}
			if err := p.Stop(t.Context()); err != nil {
				t.Errorf("Stop of what has ended: %v", err)
			}
		})
	}
}

// Twenty at once: each gets the end of its own stdin, whoever else is running.
func TestConcurrent(t *testing.T) {
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			o := options("echo", "")
			o.EOFWait = time.Minute // only the end of stdin can end it in time
			p, err := Start(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			defer p.Stdout.Close()
			text := strings.Repeat(fmt.Sprint(i, " "), 50_000)
			go func() { io.WriteString(p.Stdin, text); p.CloseStdin(); p.CloseStdin() }()
			got, err := io.ReadAll(p.Stdout)
			if string(got) != text || err != nil {
				t.Errorf("%d: %d bytes of %d, %v", i, len(got), len(text), err)
			}
			if e := p.Exit(); e != (Exit{}) {
				t.Errorf("%d: %v", i, e)
			}
		})
	}
	all.Wait()
}

// A program that writes much on both streams is never blocked by stderr, and what it
// wrote before it ended can be read afterwards, however late.
func TestFlood(t *testing.T) {
	var copied bytes.Buffer
	o := options("flood:3", "")
	o.StderrTail, o.StderrCopy = 1000, &copied
	p := start(t, o)
	head := make([]byte, 3<<20-100)
	if _, err := io.ReadFull(p.Stdout, head); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	rest, err := io.ReadAll(p.Stdout)
	if err != nil || len(rest) != 100 {
		t.Errorf("after the end: %d bytes, %v", len(rest), err)
	}
	if copied.Len() != 3<<20+len("one\n\n  \ntwo\r\nthree") {
		t.Errorf("%d bytes of stderr were copied", copied.Len())
	}
	if tail := p.StderrTail(); len(tail) != 1000 || !bytes.HasSuffix(copied.Bytes(), tail) {
		t.Errorf("a tail of %d bytes", len(tail))
	}
	if got, want := p.LastLines(3), []string{"one", "two", "three"}; !reflect.DeepEqual(got, want) {
		t.Errorf("last lines %q", got)
	}
}

func TestEnvironment(t *testing.T) {
	o := options("env:A", "")
	o.Env = append(o.Env, "A=1", "A=2", "B=") // of equal keys the last counts
	o.NullStdin = true
	p := start(t, o)
	out, _ := io.ReadAll(p.Stdout)
	if want := fmt.Sprintln("A", "2", len(o.Env)-1); string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
	if p.Stdin != nil {
		t.Error("there is a stdin")
	}
	p.CloseStdin()
}

func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	plain := write(t, filepath.Join(dir, "plain"), "#!/bin/sh\n", 0o600)
	orphan := write(t, filepath.Join(dir, "orphan"), "#!/nowhere/sh\n", 0o700)
	broken := write(t, filepath.Join(dir, "broken"), "\x7fELF", 0o700)
	os.Mkdir(filepath.Join(dir, "sub"), 0o700)
	path := "PATH=/nowhere:relative:" + dir
	cases := []struct {
		o      Options
		reason error
		text   string
	}{
		{Options{Argv: []string{"no-such"}, Env: []string{path}}, ErrNotFound, "no-such is not found: looked for no-such in /nowhere:relative:" + dir},
		{Options{Argv: []string{"no-such"}, Name: "codex"}, ErrNotFound, "codex is not found: looked for no-such in an empty PATH"},
		{Options{Argv: []string{"./no-such"}, Dir: dir}, ErrNotFound, "./no-such is not found: looked for " + dir + "/no-such"},
		{Options{}, ErrNotFound, "program is not found: no program was named"},
		{Options{Argv: []string{"plain"}, Env: []string{path}}, ErrNotExecutable, "plain is not executable: " + plain},
		{Options{Argv: []string{plain}}, ErrNotExecutable, plain + " is not executable"},
		{Options{Argv: []string{"./sub"}, Dir: dir}, ErrNotExecutable, "./sub is not executable: " + dir + "/sub: it is a directory"},
		{Options{Argv: []string{orphan}}, ErrLaunch, orphan + " cannot be launched: its interpreter or loader is missing: no such file or directory"},
		{Options{Argv: []string{broken}}, ErrLaunch, broken + " cannot be launched: exec format error"},
		{Options{Argv: []string{"/bin/sh"}, Dir: dir + "/none"}, ErrLaunch, "/bin/sh cannot be launched: stat " + dir + "/none: no such file or directory"},
		{Options{Argv: []string{"/bin/sh"}, Dir: plain}, ErrLaunch, "/bin/sh cannot be launched: chdir " + plain + ": not a directory"},
		{Options{Argv: []string{"/bin/sh", strings.Repeat("x", 200_000)}}, ErrLaunch, "/bin/sh cannot be launched: arguments and environment are too long (200008 bytes together): fork/exec /proc/self/exe: argument list too long"},
		{Options{Argv: []string{"/bin/sh"}, Env: []string{"A=\x00"}}, ErrLaunch, "/bin/sh cannot be launched: exec: environment variable contains NUL"},
	}
	for _, tc := range cases {
		p, err := Start(t.Context(), tc.o)
		if p != nil {
			t.Errorf("%v was started", tc.o.Argv)
			continue
		}
		var e *StartError
		if !errors.As(err, &e) || !errors.Is(err, tc.reason) || err.Error() != tc.text {
			t.Errorf("got  %v\nwant %s", err, tc.text)
		}
	}
}

func TestStartCancelled(t *testing.T) {
	lock := write(t, filepath.Join(t.TempDir(), "lock"), "", 0o600)
	f := lockNow(t, lock)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	o := options("deaf", "")
	o.Locks, o.EOFWait = []*os.File{f}, time.Hour
	if _, err := Start(ctx, o); err == nil || err.Error() != "deaf cannot be launched: "+o.Argv[0]+": enough" {
		t.Errorf("err = %v", err)
	}
	f.Close()
	lockNow(t, lock).Close() // nothing holds it any more
}

// The parent-death signal belongs to a thread; the thread that called Start may end.
func TestStartingThreadEnds(t *testing.T) {
	started := make(chan *Process)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		o := options("echo", "")
		o.EOFWait = time.Minute
		p, err := Start(context.Background(), o)
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	p := <-started
	defer p.Stdout.Close()
	for range 20 {
		b := make([]byte, 1)
		p.Stdin.Write([]byte("x"))
		if _, err := p.Stdout.Read(b); err != nil {
			t.Fatalf("the program is gone: %v, %v", err, p.Exit())
		}
		runtime.GC() // let threads come and go
	}
	if err := p.Stop(t.Context()); err != nil || p.Exit() != (Exit{}) {
		t.Errorf("%v, %v", err, p.Exit())
	}
}

func TestOutput(t *testing.T) {
	o := options("flood:1", "")
	r, err := Output(t.Context(), o.Argv, o.Env, "", 100)
	if err != nil || len(r.Stdout) != 100 || !r.Truncated || r.FirstLine() != strings.Repeat("x", 63) || !bytes.HasSuffix(r.Stderr, []byte("three")) {
		t.Errorf("%d bytes, truncated %v, %v", len(r.Stdout), r.Truncated, err)
	}
	dir := t.TempDir()
	r, err = Output(t.Context(), []string{"sh", "-c", "echo; echo ' 1.2.3 '; pwd; exit 4"}, []string{"PATH=/bin:/usr/bin"}, dir, 1000)
	if err != nil || r.FirstLine() != "1.2.3" || r.Truncated || r.Exit.Code != 4 || !strings.Contains(string(r.Stdout), filepath.Base(dir)) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err = Output(t.Context(), []string{"/no/such"}, nil, "", 10); !errors.Is(err, ErrNotFound) {
		t.Errorf("err = %v", err)
	}
}

// A command that does not end is killed with all it started.
func TestOutputInTime(t *testing.T) {
	dir := t.TempDir()
	o := options("npm", dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	late := errors.New("too late")
	go func() { announced(t, dir, 3); cancel(late) }()
	r, err := Output(ctx, o.Argv, o.Env, "", 100)
	if err != late || r.Exit.Signal != syscall.SIGKILL {
		t.Errorf("%+v, %v", r, err)
	}
	if left := alive(announced(t, dir, 3)); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func BenchmarkStart(b *testing.B) {
	o := options("exit:0", "")
	o.Argv = []string{"/bin/true"}
	for b.Loop() {
		p, err := Start(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		p.Exit()
		p.Stdout.Close()
		p.CloseStdin()
	}
}
