package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"xmd/agents/agenttest/pty"
)

// The parts of a terminal: who hands it over (xmd), the program that gets it, and a session leader that only waits.
func init() {
	parts["host"] = host
	parts["window"] = windowPart
	parts["reader"] = func(string) int {
		fmt.Println("reader: begun")
		line, err := bufio.NewReader(Input(os.Stdin)).ReadString('\n')
		fmt.Printf("reader: %q %v\n", line, err)
		return 0
	}
	parts["keeper"] = func(arg string) int { wait(grouped(arg)); select {} } // its end would close the terminal
}

func grouped(mode string) *exec.Cmd {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), modeKey+"="+mode)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := c.Start(); err != nil {
		panic(err)
	}
	return c
}

// host runs a window and tells how it ended. arg is a list of words: what it does beside that.
func host(arg string) int {
	words := strings.Split(arg, ",")
	o := options("window", os.Getenv(pidsKey))
	o.EOFWait = 0
	ctx, cancel := context.WithCancelCause(context.Background())
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "lock":
			f, err := os.OpenFile(value, os.O_RDWR, 0)
			if err == nil {
				err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
			}
			if err != nil {
				panic(err)
			}
			o.Locks = []*os.File{f}
		case "argv":
			o.Argv = []string{value}
		case "remove":
			o.Remove = value
		case "patient":
			o.TermWait = 5 * time.Second
		case "deaf":
			o.Env = append(o.Env, "DEAF=1")
		}
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() { <-term; cancel(errors.New("told to end")) }()
	t, err := OpenTerminal(os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Println("host:", err)
		return 1
	}
	defer t.Close()
	lines := make(chan string)
	go func() {
		r := bufio.NewReader(Input(os.Stdin))
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	exit, err := t.Run(ctx, o)
	front, _ := foreground(os.Stdin)
	fmt.Printf("host: %d %v front=%v\n", exit.Code, err, front == unix.Getpgrp())
	fmt.Printf("host read %q\n", <-lines)
	return 0
}

// windowPart has the terminal in raw mode, tells what happens to it and obeys single keys.
func windowPart(string) int {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTERM)
	if os.Getenv("DEAF") != "" {
		signal.Ignore(syscall.SIGTERM)
	}
	cooked, err := unix.IoctlGetTermios(0, unix.TCGETS)
	if err != nil {
		panic(err)
	}
	raw := *cooked
	raw.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG
	if err := unix.IoctlSetTermios(0, unix.TCSETS, &raw); err != nil {
		panic(err)
	}
	front, _ := foreground(os.Stdin)
	fmt.Printf("window: front=%v\n", front == unix.Getpgrp())
	keys := make(chan byte)
	go func() {
		b := make([]byte, 1)
		for {
			if _, err := os.Stdin.Read(b); err != nil {
				return
			}
			keys <- b[0]
		}
	}()
	for {
		select {
		case sig := <-signals:
			if sig == syscall.SIGTERM {
				fmt.Println("window: told to end")
				return 0
			}
			size, _ := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
			mode, _ := unix.IoctlGetTermios(0, unix.TCGETS)
			fmt.Printf("window: %v rows=%d raw=%v\n", sig, size.Row, mode.Lflag&unix.ICANON == 0)
		case key := <-keys:
			switch key {
			case 'q':
				return 0
			case 'x':
				return 7
			case 'i': // keys become signals again
				raw.Lflag |= unix.ISIG
				_ = unix.IoctlSetTermios(0, unix.TCSETS, &raw)
				fmt.Println("window: signals")
			case 'd': // something that stays, in a session of its own
				child("deaf", false, true)
				fmt.Println("window: started")
			case 'k':
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			case 'g':
				_ = syscall.Kill(os.Getppid(), syscall.SIGKILL)
			default:
				fmt.Printf("window: key %q\n", key)
			}
		}
	}
}

// table is a terminal with a host at it.
type table struct {
	*pty.Screen
	cmd    *exec.Cmd
	pids   string
	before unix.Termios
}

// sit starts mode as the leader of the terminal's session.
func sit(t *testing.T, mode string) *table {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sitWith(t, exec.Command(exe), mode)
}

func sitWith(t *testing.T, cmd *exec.Cmd, mode string) *table {
	t.Helper()
	s := &table{Screen: pty.New(t), cmd: cmd, pids: t.TempDir()}
	s.before = s.Mode()
	cmd.Env = []string{modeKey + "=" + mode, pidsKey + "=" + s.pids, "PATH=/usr/bin:/bin", "GORACE=atexit_sleep_ms=0", "PS1=$ ", "HOME=" + s.pids}
	s.Start(cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		eventually(t, "nothing is left", func() bool { return len(alive(s.all())) == 0 })
	})
	return s
}

// all are the processes that have announced themselves.
func (s *table) all() (pids []int) {
	list, _ := os.ReadDir(s.pids)
	for _, f := range list {
		if pid, err := strconv.Atoi(f.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (s *table) restored(t *testing.T) {
	t.Helper()
	if mode := s.Mode(); mode != s.before {
		t.Errorf("the terminal's mode is %+v, it was %+v", mode, s.before)
	}
}
