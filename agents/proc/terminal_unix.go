//go:build unix

package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Terminal is the terminal this process was started at, to be handed to one program after another. Not safe for concurrent use.
type Terminal struct {
	tty *os.File    // the terminal itself, whatever the streams are
	std [3]*os.File // what a program gets: the streams that are this terminal, else tty
}

// OpenTerminal opens the controlling terminal; where there is none the error matches ErrNoTerminal. stdin, stdout and stderr are what a
// program gets as its own as far as they are that terminal; they stay the caller's. Close it.
func OpenTerminal(stdin, stdout, stderr *os.File) (*Terminal, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, ErrNoTerminal
	}
	t := &Terminal{tty: tty, std: [3]*os.File{stdin, stdout, stderr}}
	for i, f := range t.std {
		if _, err := foreground(f); f == nil || err != nil { // no terminal, or another one
			t.std[i] = tty
		}
	}
	return t, nil
}

// Close lets go of the terminal.
func (t *Terminal) Close() error { return t.tty.Close() }

// Run runs a program in the foreground of the terminal, as a shell with job control would, and returns when nothing of it is left and the
// terminal is as it was. Of the options EOFWait, NullStdin, StderrTail and StderrCopy are not used: the program's streams are the
// terminal. Keys and signals of the terminal go to the program and not to this process. When the program is stopped (Ctrl-Z), so is this
// process's group, unless nobody could continue it; then the program goes on at once. When ctx ends the program gets TERM and, after
// TermWait, KILL, and the cause of ctx is returned. Errors of starting are those of Start.
//
// If this process dies, the guardian ends the program in the same way and restores the terminal.
func (t *Terminal) Run(ctx context.Context, o Options) (Exit, error) {
	path, err := o.program()
	if err != nil {
		return Exit{}, err
	}
	if o.TermWait == 0 {
		o.TermWait = DefaultTermWait
	}
	if ctx.Err() != nil {
		return Exit{}, context.Cause(ctx)
	}
	if err := t.claim(); err != nil {
		return Exit{}, o.startError(path, err)
	}
	mode, err := unix.IoctlGetTermios(int(t.tty.Fd()), getTermios)
	if err != nil {
		return Exit{}, o.startError(path, err)
	}
	handed.Lock()
	defer handed.Unlock()
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	args := []string{"xmd", windowCommand, strconv.Itoa(unix.Getpgrp()), o.Remove, "0s", o.TermWait.String(), strconv.Itoa(len(o.Locks)), path, "--"}
	g, err := guarding(ctx, o, args, t.std, &syscall.SysProcAttr{Setpgid: true})
	if err != nil {
		t.restore(mode, 0)
		return Exit{}, o.startError(path, err)
	}
	t.attend(ctx, g, continued)
	exit, _ := g.wait()
	if !g.told { // its guardian was killed and could restore nothing
		t.restore(mode, g.leader)
	}
	if ctx.Err() != nil {
		return exit, context.Cause(ctx)
	}
	return exit, nil
}

// attend sees to the program until its guardian has ended.
func (t *Terminal) attend(ctx context.Context, g *guarded, continued chan os.Signal) {
	ended := ctx.Done()
	for {
		select {
		case <-g.read:
			return
		case sig := <-g.stops:
			if sig != syscall.SIGTTIN && sig != syscall.SIGTTOU { // those only want the terminal
				suspend(continued)
			}
			t.giveBack(g)
		case <-continued: // this process had been stopped, not the program
			t.giveBack(g)
		case <-ended:
			ended = nil
			_ = g.ask(askQuit)
		}
	}
}

// giveBack lets the program go on with the terminal. While another job has it, this one is stopped.
func (t *Terminal) giveBack(g *guarded) {
	if front, err := foreground(t.tty); err == nil && front == g.leader {
		return
	}
	if t.claim() == nil {
		_ = g.ask(askContinue)
	}
}

// claim makes this process's group the one in the foreground. In the background the kernel stops the whole job until it is continued in
// the foreground, as it does with every program that wants the terminal.
func (t *Terminal) claim() error {
	err := setForeground(t.tty, unix.Getpgrp())
	if errors.Is(err, unix.EIO) {
		return errors.New("this process is in the background of its terminal, and nobody can bring it to the front")
	}
	return err
}

// suspend stops this process's whole group and returns when it goes on. A group that nobody could continue is not stopped.
func suspend(continued chan os.Signal) {
	if !resumable() {
		return
	}
	select {
	case <-continued: // an old one
	default:
	}
	if syscall.Kill(0, syscall.SIGSTOP) == nil {
		<-continued
	}
}

// Suspend stops this process's job as Ctrl-Z does, and returns when it goes on. A job that nobody could continue is not stopped.
func Suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	suspend(continued)
}

// resumable says whether this process's group has a parent that can continue it: one in the same session and another group.
func resumable() bool {
	group := unix.Getpgrp()
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for pid := os.Getppid(); pid > 1; pid = parentOf(pid) {
		if s, err := unix.Getsid(pid); err != nil || s != session {
			return false
		}
		if g, err := unix.Getpgid(pid); err != nil || g != group {
			return err == nil
		}
	}
	return false
}

// restore makes this process's group the one in the foreground and the terminal's mode what it was, unless another job has taken the
// terminal over. program is the group that had it, 0 if it never ran.
func (t *Terminal) restore(mode *unix.Termios, program int) {
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	front, err := foreground(t.tty)
	if err != nil || front != program && front != unix.Getpgrp() && groupAlive(front) {
		return
	}
	if program != 0 {
		_, _ = io.WriteString(t.tty, modesOff)
	}
	_ = unix.IoctlSetTermios(int(t.tty.Fd()), setTermios, mode)
	_ = setForeground(t.tty, unix.Getpgrp())
}

// foreground is the process group that has the terminal f; an error if f is not this process's terminal.
func foreground(f *os.File) (int, error) {
	if f == nil {
		return 0, ErrNoTerminal
	}
	return unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
}

func setForeground(f *os.File, group int) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCSPGRP, group)
}

// groupAlive says whether a process of the group exists.
func groupAlive(group int) bool {
	err := syscall.Kill(-group, 0)
	return err == nil || err == syscall.EPERM
}

// Input reads a terminal without ever holding back what is meant for another: it reads only when there is something to read, no program
// has the terminal, and this process is in the foreground. Anything that is no terminal is returned as it is.
func Input(in *os.File) io.Reader {
	if _, err := unix.IoctlGetTermios(int(in.Fd()), getTermios); err != nil {
		return in
	}
	return input{in}
}

type input struct{ tty *os.File }

// Read waits for a line.
func (i input) Read(p []byte) (int, error) {
	for {
		if err := i.ready(-1); err != nil && !errors.Is(err, unix.EAGAIN) {
			return 0, err
		}
		n, err := i.take(p)
		switch {
		case errors.Is(err, errBehind):
			time.Sleep(inputPause) // what is typed is another job's; nothing tells when it is ours again
		case !errors.Is(err, unix.EAGAIN):
			return n, err
		}
	}
}

// errBehind says that another process group has the terminal; inputPause is how often it is asked for then.
var errBehind = errors.New("in the background")

const inputPause = 200 * time.Millisecond

// take reads what there is, if it is this process's. It waits while a program has the terminal.
func (i input) take(p []byte) (int, error) {
	handed.Lock()
	defer handed.Unlock()
	if err := i.ready(0); err != nil {
		return 0, err
	}
	if front, err := foreground(i.tty); err == nil && front != unix.Getpgrp() {
		return 0, errBehind
	}
	return i.tty.Read(p)
}

// ready waits, -1 for ever, until there is something to read; EAGAIN: there is nothing.
func (i input) ready(ms int) error {
	fds := []unix.PollFd{{Fd: int32(i.tty.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, ms)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("terminal: %w", err)
		case n == 0:
			return unix.EAGAIN
		default:
			return nil
		}
	}
}
