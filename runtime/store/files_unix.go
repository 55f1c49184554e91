//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

func mustOwn(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(st.Uid) != os.Geteuid() {
		return foreignOwner(path)
	}
	return nil
}

func permIs(info fs.FileInfo, want fs.FileMode) bool { return info.Mode().Perm() == want }

// everybodys says whether everybody can rename and remove in a folder what is another's.
func everybodys(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0
}

// writable asks before SQLite does, which would silently open what it cannot write for reading.
func writable(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} {
		if err := unix.Faccessat(unix.AT_FDCWD, p, unix.W_OK, unix.AT_EACCESS); err != nil {
			return wrapOS("open", p, err)
		}
	}
	return nil
}

// openSecure opens or creates a plain file of this person with mode 0600, following no symlink.
func openSecure(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.ELOOP) {
		if info, lerr := os.Lstat(path); lerr == nil {
			return nil, unsafePath(path, info, "a plain file")
		}
	}
	if err != nil {
		return nil, wrapOS("open", path, err)
	}
	if err := secureOpened(f, path); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func secureOpened(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return wrapOS("open", path, err)
	}
	if !info.Mode().IsRegular() {
		return unsafePath(path, info, "a plain file")
	}
	if err := mustOwn(path, info); err != nil {
		return err
	}
	if !permIs(info, 0o600) {
		return wrapOS("open", path, f.Chmod(0o600))
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }

func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// lockFile takes the lock without waiting.
func lockFile(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		default:
			return err
		}
	}
}

// probeLock says whether somebody holds the lock, without taking it from others who only look. Closing f ends the look.
func probeLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// openToProbe opens a lock's file for probeLock. Its error matches fs.ErrNotExist when there is none.
func openToProbe(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	return f, wrapOS("lock", path, err)
}

// pause is a millisecond of real time, whatever clock a test has.
func pause() { _, _ = unix.Poll(nil, 1) }

// processExists says whether a process of that id exists, whoever's it is.
func processExists(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
