//go:build unix

package repl

import (
	"os"
	"syscall"
)

// noFollow makes opening a symbolic link fail: what it points to is not ours to write into.
const noFollow = syscall.O_NOFOLLOW

// ours says whether a file is the person's.
func ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}

// narrowed makes sure that nobody else can read a file of ours.
func narrowed(f *os.File, info os.FileInfo) bool {
	return info.Mode().Perm() == 0o600 || f.Chmod(0o600) == nil
}
