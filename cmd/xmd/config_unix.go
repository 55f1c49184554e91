//go:build unix

package main

import (
	"fmt"
	"os"
	"slices"
	"syscall"
)

// strangeOwner is who owns a configuration that must not count for runs in dir; "": it may. A configuration names programs that are started,
// and one is found in every folder above: in a shared one (/tmp) anybody can leave one. Those of the person, of root and of the owner of
// dir count, the last because a project may be mounted into a container whose user is another.
func strangeOwner(path, dir string) string {
	owner, ok := ownerOf(path)
	if !ok {
		return ""
	}
	known := []uint32{0, uint32(os.Geteuid())} //nolint:gosec // an id of a user is one
	if of, ok := ownerOf(dir); ok {
		known = append(known, of)
	}
	if slices.Contains(known, owner) {
		return ""
	}
	return fmt.Sprintf("another user (%d)", owner)
}

func ownerOf(path string) (uint32, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}
