//go:build unix

package native

import (
	"os"
	"syscall"
)

// held says whether somebody holds the lock of a file. It takes the lock, shared, for the instant in which it is free; a file that is not
// there is held by nobody.
func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == syscall.EWOULDBLOCK
}
