package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes of the ends that are no failure of a step.
const (
	exitInterrupt    = 130
	exitTerminate    = 143
	exitOutputClosed = 141
)

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ sig os.Signal }

func (i interrupted) Error() string { return "cancelled by " + i.sig.String() }

// Is makes a signal's cause match context.Canceled.
func (i interrupted) Is(target error) bool { return target == context.Canceled }

// signals returns a context that the first SIGINT or SIGTERM ends. The second ends xmd at once: the guardians see to the agents.
func (p *program) signals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	// SIGPIPE is taken so that a closed stdout is a write error, not a death.
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		first := true
		for {
			select {
			case <-done:
				return
			case sig := <-ch:
				switch {
				case sig == syscall.SIGPIPE:
				case first:
					first = false
					cancel(interrupted{sig})
				default:
					p.face.screen.Abandon()
					os.Exit(codeOf(sig))
				}
			}
		}
	}()
	return ctx, func() { signal.Stop(ch); close(done); cancel(nil) }
}

func codeOf(sig os.Signal) int {
	if sig == syscall.SIGTERM {
		return exitTerminate
	}
	return exitInterrupt
}

// signalCode is the exit code of a context that a signal or a closed stdout ended; 0 otherwise.
func signalCode(ctx context.Context) int {
	cause := context.Cause(ctx)
	var i interrupted
	if errors.As(cause, &i) {
		return codeOf(i.sig)
	}
	if errors.Is(cause, outputClosed{}) {
		return exitOutputClosed
	}
	return 0
}
