//go:build unix

package proc

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func candidates(file string, _ []string) []string { return []string{file} }

func sameKey(a, b string) bool { return a == b }

func executable(file string, _ fs.FileInfo) bool {
	return unix.Access(file, unix.X_OK) == nil
}
