package native

import (
	"context"
	"errors"
	"os"

	"xmd/agents/proc"
	"xmd/runtime"
)

// Terminal is the runtime.Terminal of this process.
type Terminal struct{ t *proc.Terminal }

var _ runtime.Terminal = (*Terminal)(nil)

// OpenTerminal opens the terminal this process was started at. The error of there being none is a *runtime.Error of KindUsage. The streams
// are what a program gets where they are that terminal.
func OpenTerminal(stdin, stdout, stderr *os.File) (*Terminal, error) {
	t, err := proc.OpenTerminal(stdin, stdout, stderr)
	if err != nil {
		return nil, runtime.Errorf(runtime.KindUsage, "an agent's own interface needs a terminal, and %w; start xmd at one", err)
	}
	return &Terminal{t}, nil
}

// Close lets go of the terminal.
func (t *Terminal) Close() error { return t.t.Close() }

// Run runs a program in the foreground; see runtime.Terminal.
func (t *Terminal) Run(ctx context.Context, p runtime.Program) (runtime.ProgramExit, error) {
	exit, err := t.t.Run(ctx, proc.Options{Argv: p.Argv, Env: p.Env, Dir: p.Dir, Locks: p.Locks, Remove: p.Remove})
	out := runtime.ProgramExit{Code: exit.Code}
	if exit.Signal != 0 {
		out.Signal = exit.Signal.String()
	}
	var start *proc.StartError
	if errors.As(err, &start) {
		err = runtime.Errorf(runtime.KindUnavailable, "%w", start)
	}
	return out, err
}
