//go:build unix

package repl

import (
	"os"
	"syscall"
)

// noFollow makes opening a symbolic link fail: what it points to is not ours to write into.
const noFollow = syscall.O_NOFOLLOW

// narrowed makes sure that nobody else can read a file of ours.
func narrowed(f *os.File, info os.FileInfo) bool {
	return info.Mode().Perm() == 0o600 || f.Chmod(0o600) == nil
}
