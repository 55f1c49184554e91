package sim

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// flock takes the kernel's lock of a file without waiting; it goes with the process.
func flock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{Offset: 1 << 30})
}

// apart starts a process in a process group of its own, if it is to.
func apart(yes bool) *syscall.SysProcAttr {
	if !yes {
		return nil
	}
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// shownSignals are the signals of a terminal that an interface tells of.
var shownSignals = []os.Signal{os.Interrupt}
