//go:build unix

package compat

import (
	"os"

	"golang.org/x/sys/unix"
)

// fileID identifies the state of an open file.
func fileID(f *os.File) (FileID, bool) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return FileID{}, false
	}
	return FileID{
		Device: uint64(st.Dev), Inode: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
	}, true
}
