//go:build unix

package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// windowCommand is the hidden command that makes xmd the guardian of a program that has the terminal. It stays in xmd's session, in a
// process group of its own: only so can it give the terminal and take it back.
const windowCommand = "__window"

// window is the terminal as the guardian of such a program sees it.
type window struct {
	tty   *os.File
	owner int // the group that has it before and after

	mode    *unix.Termios // before and after
	program *unix.Termios // the program's own, while it is stopped
	seen    *unix.Termios // the program's own when its end began, if nobody had taken the terminal then
}

// guardWindow is guard for a program that has the terminal.
func guardWindow(args []string) int {
	w, err := newWindow(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "xmd:", err)
		return exitUsage
	}
	return guard(args[1:], w)
}

func newWindow(args []string) (*window, error) {
	if len(args) < 1 {
		return nil, fmt.Errorf("%s is for xmd itself", windowCommand)
	}
	owner, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, err
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, ErrNoTerminal
	}
	w := &window{tty: tty, owner: owner}
	w.mode, err = unix.IoctlGetTermios(w.fd(), getTermios)
	return w, err
}

func (w *window) fd() int { return int(w.tty.Fd()) }

// attr lets the program begin in the foreground.
func (w *window) attr(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Foreground, a.Ctty = true, w.fd()
	return a
}

// began makes this process able to use the terminal from the background. It must not happen before the program was started, which would
// inherit it.
func (w *window) began() { signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN, syscall.SIGTSTP) }

// takeBack gives the terminal to the owner while the program is stopped.
func (w *window) takeBack(leader int) {
	if front, err := foreground(w.tty); err != nil || !w.ours(front, leader) {
		return
	}
	w.program, _ = unix.IoctlGetTermios(w.fd(), getTermios)
	_ = unix.IoctlSetTermios(w.fd(), setTermios, w.mode)
	_ = setForeground(w.tty, w.owner)
}

// hand lets the program go on, with the terminal if it is the owner's to give.
func (w *window) hand(leader int) {
	if front, err := foreground(w.tty); err == nil && front == w.owner {
		if mode, err := unix.IoctlGetTermios(w.fd(), getTermios); err == nil {
			w.mode = mode // it may be another by now
		}
		if w.program != nil {
			_ = unix.IoctlSetTermios(w.fd(), setTermios, w.program)
		}
		_ = setForeground(w.tty, leader)
	}
	_ = syscall.Kill(-leader, syscall.SIGCONT)
}

// ending keeps the program's mode: if the terminal still has it when all is over, no shell has restored it.
func (w *window) ending(leader int) {
	if front, err := foreground(w.tty); err == nil && w.ours(front, leader) {
		w.seen, _ = unix.IoctlGetTermios(w.fd(), getTermios)
	}
}

// restore makes the terminal what it was before. Another job that has taken it over, the shell of an xmd that died, keeps it, and its mode
// is the shell's to restore, unless it is still the program's own.
func (w *window) restore(leader int, killed bool) {
	front, err := foreground(w.tty)
	if err != nil { // it has been closed
		return
	}
	if front != w.owner && !w.ours(front, leader) {
		if mode, err := unix.IoctlGetTermios(w.fd(), getTermios); err == nil && w.seen != nil && *mode == *w.seen {
			_ = unix.IoctlSetTermios(w.fd(), setTermios, w.mode)
		}
		return
	}
	if killed {
		_, _ = io.WriteString(w.tty, modesOff)
	}
	_ = unix.IoctlSetTermios(w.fd(), setTermios, w.mode)
	if err := setForeground(w.tty, w.owner); errors.Is(err, unix.EPERM) || errors.Is(err, unix.ESRCH) { // it died with xmd
		w.toSession()
	}
}

// toSession gives the terminal to the group of the session's leader.
func (w *window) toSession() {
	session, err := unix.Getsid(0)
	if err != nil {
		return
	}
	if group, err := unix.Getpgid(session); err == nil {
		_ = setForeground(w.tty, group)
	}
}

// ours says whether a process group is the program's, one that the program made, or gone.
func (w *window) ours(group, leader int) bool {
	if group == leader || !groupAlive(group) {
		return true
	}
	for _, pid := range belowHere() {
		if g, err := unix.Getpgid(pid); err == nil && g == group {
			return true
		}
	}
	return false
}
