//go:build linux || darwin

package store

import "golang.org/x/sys/unix"

// noSpace says whether the file system of dir has practically nothing left. SQLite reports some full disks as an
// I/O error without a cause.
func noSpace(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Bavail < 16
}

// space is how many bytes the person can still write in the file system of dir.
func space(dir string) (bytes uint64, known bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}
