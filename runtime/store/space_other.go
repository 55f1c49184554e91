//go:build !linux && !darwin

package store

// noSpace is not known here: a full disk may be told as an I/O error.
func noSpace(string) bool { return false }

// space is not known here.
func space(string) (bytes uint64, known bool) { return 0, false }
