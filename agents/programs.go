package agents

import (
	"context"
	"errors"
	"io"
	"sync"

	"xmd/agents/proc"
	"xmd/runtime"
)

// Programs runs the children of exec blocks, each under a guardian of its own. The zero value is ready.
type Programs struct{}

var _ runtime.Programs = Programs{}

// Run starts a child and feeds its output on as it comes; see runtime.Programs.
func (Programs) Run(ctx context.Context, p runtime.Program) (runtime.ProgramExit, error) {
	var one sync.Mutex // the two streams come from two goroutines
	child, err := proc.Start(ctx, proc.Options{
		Argv: p.Argv, Env: p.Env, Dir: p.Dir, Locks: p.Locks, Remove: p.Remove, NullStdin: true, StderrCopy: feed{&one, p.Stderr},
	})
	if err != nil {
		return runtime.ProgramExit{}, err
	}
	defer func() { _ = child.Stdout.Close() }()
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { stopped <- child.Stop(context.WithoutCancel(ctx)) })
	_, readErr := io.Copy(feed{&one, p.Stdout}, child.Stdout)
	if stop() {
		<-child.Done()
	} else if err := <-stopped; err != nil {
		return runtime.ProgramExit{}, err
	}
	if ctx.Err() != nil {
		return runtime.ProgramExit{}, context.Cause(ctx)
	}
	exit := child.Exit()
	out := runtime.ProgramExit{Code: exit.Code}
	if exit.Signal != 0 {
		out.Signal = exit.Signal.String()
	}
	return out, ignoreTimeout(readErr)
}

// feed is a Writer that hands on what is written, one writer at a time.
type feed struct {
	one *sync.Mutex
	to  func([]byte)
}

func (f feed) Write(b []byte) (int, error) {
	f.one.Lock()
	defer f.one.Unlock()
	f.to(b)
	return len(b), nil
}

// ignoreTimeout forgives a stdout that a stranger kept open past the child's end.
func ignoreTimeout(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return nil
	}
	return err
}
