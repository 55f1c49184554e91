//go:build windows

package store

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// On Windows a profile's folder is its owner's by its access list; modes and owners are not looked at.

func mustOwn(string, fs.FileInfo) error { return nil }

func permIs(fs.FileInfo, fs.FileMode) bool { return true }

func everybodys(fs.FileInfo) bool { return false }

func writable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return wrapOS("open", path, err)
	}
	return f.Close()
}

func openSecure(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, unsafePath(path, info, "a plain file")
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	return f, wrapOS("open", path, err)
}

func syncDir(string) error { return nil }

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

func isFull(err error) bool { return errors.Is(err, windows.ERROR_DISK_FULL) }

// lockOffset is a byte that no record reaches: locked ranges cannot be read by others.
const lockOffset = 1 << 30

func lockFile(f *os.File) error {
	at := &windows.Overlapped{Offset: lockOffset}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}

func probeLock(f *os.File) error {
	at := &windows.Overlapped{Offset: lockOffset}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}

func openToProbe(path string) (*os.File, error) {
	f, err := os.Open(path)
	return f, wrapOS("lock", path, err)
}

func pause() { windows.SleepEx(1, false) }

func processExists(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h)
	var code uint32
	const stillActive = 259
	return windows.GetExitCodeProcess(h, &code) != nil || code == stillActive
}
