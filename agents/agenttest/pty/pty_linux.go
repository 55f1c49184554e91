package pty

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Limit is how long Await waits.
const Limit = time.Minute

// Screen is one pseudo-terminal. Its methods may be called from any goroutine.
type Screen struct {
	t      testing.TB
	master *os.File
	slave  *os.File

	mu      sync.Mutex
	shown   bytes.Buffer  // everything so far, escape sequences included
	from    int           // where the next Await looks
	changed chan struct{} // closed and replaced whenever something is shown
	done    chan struct{} // the last program that had the terminal has closed it
}

// New opens a terminal of 24 rows and 100 columns. It is closed when the test ends.
func New(t testing.TB) *Screen {
	t.Helper()
	s := &Screen{t: t, changed: make(chan struct{}), done: make(chan struct{})}
	if err := s.open(); err != nil {
		t.Fatalf("pseudo-terminal: %v", err)
	}
	s.Resize(24, 100)
	go s.read()
	t.Cleanup(func() {
		_ = s.slave.Close()
		_ = s.master.Close()
		<-s.done
		if shown := s.Shown(); t.Failed() {
			t.Logf("the screen showed last: %q", shown[max(0, len(shown)-2000):])
		}
	})
	return s
}

func (s *Screen) open() error {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	s.master = os.NewFile(uintptr(fd), "/dev/ptmx") // non-blocking: Close ends a read
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return err
	}
	s.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return err
}

// questions are what programs ask a terminal, with its answers: where the cursor is, what it is.
var questions = map[string]string{"\x1b[6n": "\x1b[1;1R", "\x1b[c": "\x1b[?62;22c"}

func (s *Screen) read() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.master.Read(buf)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.shown.Write(buf[:n])
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		for ask, answer := range questions {
			for range bytes.Count(buf[:n], []byte(ask)) {
				s.Type(answer)
			}
		}
	}
}

// Attach makes the terminal cmd's: its streams, and its session's terminal, whose leader it is.
func (s *Screen) Attach(cmd *exec.Cmd) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.slave, s.slave, s.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

// Start is Attach and cmd.Start. The program is killed when the test ends.
func (s *Screen) Start(cmd *exec.Cmd) {
	s.t.Helper()
	s.Attach(cmd)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill() })
}

// Type types text: \r is Enter, \x03 Ctrl-C, \x04 Ctrl-D, \x1a Ctrl-Z.
func (s *Screen) Type(text string) {
	if _, err := s.master.WriteString(text); err != nil {
		s.t.Errorf("typing %q: %v", text, err)
	}
}

var escapes = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[()][0-9A-Za-z]|[=>78DEHMNOZc])`)

// Plain is text without escape sequences.
func Plain(text string) string { return escapes.ReplaceAllString(text, "") }

// Shown is everything that was shown so far, without escape sequences.
func (s *Screen) Shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Plain(s.shown.String())
}

// Raw is everything that was shown so far, as it came.
func (s *Screen) Raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// Await waits until text is shown, behind what an earlier Await found, and returns what stands before it. Escape sequences do not count.
func (s *Screen) Await(text string) string {
	s.t.Helper()
	return s.await(text, Plain)
}

// AwaitLetters is Await for full-screen programs, which move the cursor in place of writing blanks: white space counts nowhere.
func (s *Screen) AwaitLetters(text string) string {
	s.t.Helper()
	letters := func(text string) string { return strings.Join(strings.Fields(Plain(text)), "") }
	return s.await(letters(text), letters)
}

func (s *Screen) await(text string, read func(string) string) string {
	s.t.Helper()
	limit := time.NewTimer(Limit)
	defer limit.Stop()
	for {
		s.mu.Lock()
		all := s.shown.String()[s.from:]
		changed := s.changed
		if before, _, ok := strings.Cut(read(all), text); ok {
			s.from += sort.Search(len(all), func(n int) bool { return strings.Contains(read(all[:n]), text) })
			s.mu.Unlock()
			return before
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-limit.C:
			s.t.Fatalf("waited %s for %q; shown since: %q", Limit, text, read(all))
		}
	}
}

// Resize changes the size, which the terminal's foreground is told.
func (s *Screen) Resize(rows, columns uint16) {
	s.t.Helper()
	s.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
}

// Mode is the terminal's mode.
func (s *Screen) Mode() unix.Termios {
	s.t.Helper()
	var mode unix.Termios
	s.control(func(fd int) error {
		m, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			mode = *m
		}
		return err
	})
	return mode
}

// Foreground is the process group that has the terminal.
func (s *Screen) Foreground() (group int) {
	s.t.Helper()
	s.control(func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group
}

// control asks something of the terminal, from outside of its session.
func (s *Screen) control(do func(fd int) error) {
	s.t.Helper()
	raw, err := s.master.SyscallConn()
	if err != nil {
		s.t.Fatal(err)
	}
	if cerr := raw.Control(func(fd uintptr) { err = do(int(fd)) }); cerr != nil || err != nil {
		s.t.Fatalf("terminal: %v %v", cerr, err)
	}
}
