//go:build unix

package repl

import (
	"os"
	"os/signal"
	"syscall"
)

// onResize calls f after each change of the terminal's size until the function that it returns is called, which waits for the last one.
func onResize(f func()) (stop func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGWINCH)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-ch:
				f()
			}
		}
	}()
	return func() { signal.Stop(ch); close(done); <-ended }
}
