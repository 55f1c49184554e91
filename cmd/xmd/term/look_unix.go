//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// usualColumns is the width of a terminal that does not tell it.
const usualColumns = 80

// look tells how wide a terminal is, and whether this process is in its foreground: one in the background writes no status line into what
// another program shows.
func look(file *os.File) (columns int, front bool) {
	fd := int(file.Fd())
	columns = usualColumns
	if size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err == nil && size.Col > 0 {
		columns = int(size.Col)
	}
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return columns, err != nil || group == unix.Getpgrp()
}
