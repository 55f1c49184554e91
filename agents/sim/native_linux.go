package sim

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// leaveRaw switches off what a terminal does with keys, as a program does that ends before it has restored the mode.
func leaveRaw(stdin io.Reader) {
	tty, ok := stdin.(*os.File)
	if !ok {
		return
	}
	mode, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		return
	}
	mode.Lflag &^= unix.ECHO | unix.ISIG
	_ = unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, mode)
}
