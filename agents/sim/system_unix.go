//go:build unix

package sim

import (
	"os"
	"syscall"
)

// flock takes the kernel's lock of a file without waiting; it goes with the process.
func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// apart starts a process in a session of its own, if it is to.
func apart(yes bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: yes} }

// shownSignals are the signals of a terminal that an interface tells of.
var shownSignals = []os.Signal{syscall.SIGINT, syscall.SIGWINCH, syscall.SIGCONT}
