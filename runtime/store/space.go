//go:build linux || darwin

package store

import "golang.org/x/sys/unix"

// noSpace says whether the file system of dir has practically nothing left. SQLite reports some full disks as an
// I/O error without a cause.
func noSpace(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Bavail < 16
}
