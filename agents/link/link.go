package link

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"xmd/agents/proc"
	"xmd/agents/wire"
	"xmd/runtime"
)

// Process is what a driver needs of the agent's process; package proc has the real one.
type Process interface {
	// Hold hands a lock to the guardian and returns when it has it.
	Hold(ctx context.Context, lock *os.File) error
	// Stop ends the process and all it started, and returns when none is left or ctx ends.
	Stop(ctx context.Context) error
	// Done is closed when no process is left.
	Done() <-chan struct{}
	// Ending says in words how the process ended; "" while it runs.
	Ending() string
	// LastWords are the last n lines of its stderr.
	LastWords(n int) []string
}

// Link is one agent process and the connection on its pipes. A driver embeds it; Info is set first, then Launch and Connect are called.
type Link struct {
	Info runtime.AgentInfo
	Proc Process
	Wire *wire.Conn
}

// stopLimit bounds the end of a process whose start failed.
const stopLimit = 15 * time.Second

// Launch starts the agent's command under its guardian, in the root of o, with this whole environment, and returns its pipes. eof is how
// long it may take to leave after its stdin has ended. Errors are *runtime.Error; then nothing runs.
func (l *Link) Launch(ctx context.Context, env []string, eof time.Duration, o runtime.StartOptions) (stdout io.ReadCloser, stdin io.WriteCloser, err error) {
	if ctx.Err() != nil {
		return nil, nil, l.Cancelled(ctx)
	}
	p, err := proc.Start(ctx, proc.Options{
		Argv: l.Info.Command, Env: env, Dir: o.Root, Locks: o.Locks,
		EOFWait: eof, StderrCopy: copier(o.Stderr), Name: l.Info.Shown,
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, nil, l.Cancelled(ctx)
	default:
		return nil, nil, l.Fail(runtime.KindUnavailable, "%s cannot be started: %w (command: %s)", l.Info.Shown, err, l.Command())
	}
	l.Proc = (*guarded)(p)
	return p.Stdout, p.Stdin, nil
}

// Connect puts a connection on the agent's pipes and starts reading. trace sees the raw frames; nil: nobody does.
func (l *Link) Connect(stdout io.ReadCloser, stdin io.WriteCloser, o wire.Options, trace func(direction string, frame []byte)) {
	if trace != nil {
		o.Trace = func(d wire.Direction, frame []byte) {
			if d == wire.Out {
				trace("out", frame)
			} else {
				trace("in", frame)
			}
		}
	}
	l.Wire = wire.New(stdout, stdin, o)
}

// Hold hands a further lock to the guardian.
func (l *Link) Hold(ctx context.Context, lock *os.File) error { return l.Proc.Hold(ctx, lock) }

// Done is closed when the agent can be told nothing more: its pipes have ended. Something that it has started may still run, until Close
// returns.
func (l *Link) Done() <-chan struct{} { return l.Wire.Done() }

// Close ends the agent's process; see runtime.Connection.
func (l *Link) Close(ctx context.Context) error {
	l.Wire.CloseWrite()
	if err := l.Proc.Stop(ctx); err != nil {
		return err // a process that is still there may hold the pipes
	}
	return l.Wire.Close()
}

// Abandon ends a process whose start failed, whatever ctx says.
func (l *Link) Abandon(ctx context.Context) {
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	_ = l.Close(stop) // the start's own failure is what counts
}

// Command is what was started, for people.
func (l *Link) Command() string { return strings.Join(l.Info.Command, " ") }

// Environment is what an agent gets: the person's, without what steers xmd, and what its profile adds.
func Environment(person, own []string) []string {
	env := slices.DeleteFunc(slices.Clone(person), func(kv string) bool { return strings.HasPrefix(kv, "XMD_") })
	return append(env, own...)
}

// guarded is a proc.Process as a driver sees one.
type guarded proc.Process

func (g *guarded) process() *proc.Process { return (*proc.Process)(g) }

func (g *guarded) Hold(ctx context.Context, lock *os.File) error { return g.process().Hold(ctx, lock) }
func (g *guarded) Stop(ctx context.Context) error                { return g.process().Stop(ctx) }
func (g *guarded) Done() <-chan struct{}                         { return g.process().Done() }
func (g *guarded) LastWords(n int) []string                      { return g.process().LastLines(n) }
func (g *guarded) Pid() int                                      { return g.process().Pid() }

func (g *guarded) Ending() string {
	select {
	case <-g.process().Done():
		return g.process().Exit().String()
	default:
		return ""
	}
}

// copier gives a function the shape of a writer.
func copier(f func([]byte)) io.Writer {
	if f == nil {
		return nil
	}
	return stderrFunc(f)
}

type stderrFunc func([]byte)

func (f stderrFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}
