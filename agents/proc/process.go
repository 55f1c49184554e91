package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// DefaultTermWait is the time between TERM and KILL when Options.TermWait is 0.
	DefaultTermWait = 2 * time.Second
	// DefaultStderrTail is how much of stderr is kept when Options.StderrTail is 0.
	DefaultStderrTail = 64 << 10

	startWait = 30 * time.Second       // for a guardian to say anything, on a machine that swaps
	killWait  = 5 * time.Second        // for the kernel to end what was killed
	drainWait = 500 * time.Millisecond // for pipes that a stranger still holds
)

// Options describe a program to start. Slices are not changed and not kept.
type Options struct {
	// Argv is the program and its arguments. A name without a slash is searched in
	// the PATH of Env, one with a slash is relative to Dir.
	Argv []string
	// Env is the whole environment, KEY=value; of equal keys the last counts. nil is
	// an empty environment, not xmd's.
	Env []string
	// Dir is the working directory; "" is xmd's own.
	Dir string
	// Locks are files of which the guardian holds a copy from its first instant until
	// everything it started is gone. They stay the caller's.
	Locks []*os.File
	// EOFWait is how long the program may take to exit after its stdin has ended
	// before it gets TERM; 0 is no time at all. TermWait is the time between TERM
	// and KILL; 0 means DefaultTermWait.
	EOFWait, TermWait time.Duration
	// NullStdin gives the program an empty stdin; Process.Stdin is nil then.
	NullStdin bool
	// StderrTail is how many of the last bytes of stderr are kept; 0 means
	// DefaultStderrTail.
	StderrTail int
	// StderrCopy gets all of stderr as it comes, from one goroutine, until Done. The
	// program waits while it blocks. It may be nil.
	StderrCopy io.Writer
	// Name is what errors call the program; "" means Argv[0].
	Name string
	// Remove is a folder that the guardian removes when nothing of the program is
	// left, whether or not xmd still lives; "" is none. Where there are no guardians,
	// and if one is killed, it stays.
	Remove string
}

// Exit is how a program ended.
type Exit struct {
	// Code is the exit code, and 128 + Signal when a signal ended it.
	Code int
	// Signal is the signal that ended it, or 0.
	Signal syscall.Signal
}

// String returns "exit code 3" or "signal: killed".
func (e Exit) String() string {
	if e.Signal != 0 {
		return "signal: " + e.Signal.String()
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Process is a program under its guardian. Its methods may be called at once from
// any goroutine.
type Process struct {
	// Stdin is the write end of the program's stdin, nil with NullStdin. Writing
	// blocks while the program does not read; closing ends that.
	Stdin *os.File
	// Stdout is the read end of the program's stdout. The caller reads it to its end
	// and closes it; a read that waits ends soon after Done even if a stranger keeps
	// the pipe open.
	Stdout *os.File

	o       Options
	backend backend
	stderr  *tail
	done    chan struct{}
	exit    Exit
	quit    sync.Once
	killed  sync.Once
}

// backend runs one program and ends it: a guardian where the platform can have one.
type backend interface {
	pid() int
	hold(ctx context.Context, f *os.File) error
	ask(command byte) error
	// exited is closed when the program itself has ended.
	exited() <-chan struct{}
	// wait returns when all that can be known to belong to the program is gone, and
	// whether that is certainly everything.
	wait() (Exit, bool)
}

// What a backend can be asked for.
const (
	askQuit = 'Q' // stdin has ended: begin the ladder
	askKill = 'K' // KILL at once
)

// Start starts a program and returns when it runs. Its life does not depend on ctx,
// which only bounds the starting. Errors are *StartError, which says whether
// the program was not found, is not executable or could not be launched.
func Start(ctx context.Context, o Options) (*Process, error) {
	path, err := o.program()
	if err != nil {
		return nil, err
	}
	if o.TermWait == 0 {
		o.TermWait = DefaultTermWait
	}
	p := &Process{o: o, done: make(chan struct{})}
	std, stderr, err := p.pipes()
	if err == nil {
		p.backend, err = launch(ctx, o, path, std)
	}
	for _, f := range std {
		f.Close() // the program has its own copies, or never will
	}
	if err != nil {
		for _, f := range []*os.File{p.Stdin, p.Stdout, stderr} {
			f.Close()
		}
		return nil, o.startError(path, err)
	}
	p.stderr = collect(stderr, o)
	go p.wait()
	return p, nil
}

// pipes makes the program's ends of its three streams and this side's.
func (p *Process) pipes() (std [3]*os.File, stderr *os.File, err error) {
	if p.o.NullStdin {
		std[0], err = os.Open(os.DevNull)
	} else {
		std[0], p.Stdin, err = os.Pipe()
	}
	if err == nil {
		p.Stdout, std[1], err = os.Pipe()
	}
	if err == nil {
		stderr, std[2], err = os.Pipe()
	}
	return std, stderr, err
}

func (p *Process) wait() {
	exit, certain := p.backend.wait()
	p.exit = exit
	if !certain {
		// Someone may hold the pipes for ever. Where all is certainly gone there is
		// no deadline: a slow reader gets everything.
		deadline := time.Now().Add(drainWait)
		_ = p.Stdout.SetReadDeadline(deadline)
		_ = p.stderr.file.SetReadDeadline(deadline)
	}
	<-p.stderr.done
	close(p.done)
}

// Pid returns the process id of the program (not of its guardian). It is for
// messages: after Exited it may belong to someone else.
func (p *Process) Pid() int { return p.backend.pid() }

// Hold gives the guardian a copy of a lock and returns when it has it. f stays the
// caller's. It fails when the guardian is gone or ctx ends first; in the second case
// the guardian may still have got it.
func (p *Process) Hold(ctx context.Context, f *os.File) error {
	if err := p.backend.hold(ctx, f); err != nil {
		return fmt.Errorf("%s: the guardian did not take the lock %s: %w", p.o.name(), f.Name(), err)
	}
	return nil
}

// Exited is closed when the program itself has ended, or was lost from sight; its
// descendants may still be running.
func (p *Process) Exited() <-chan struct{} { return p.backend.exited() }

// Done is closed when the program and its descendants are gone, the guardian with
// them, and stderr has been read to its end. Stdout may still hold unread output.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how the program ended. It waits for Done.
func (p *Process) Exit() Exit {
	<-p.done
	return p.exit
}

// StderrTail returns a copy of the last bytes of stderr so far.
func (p *Process) StderrTail() []byte { return p.stderr.bytes() }

// LastLines returns the last n lines of stderr so far that are not blank, as the
// program wrote them.
func (p *Process) LastLines(n int) []string { return p.stderr.lines(n) }

// CloseStdin ends the program's stdin; it is idempotent, and does nothing with
// NullStdin.
func (p *Process) CloseStdin() {
	if p.Stdin != nil {
		_ = p.Stdin.Close()
	}
}

// ErrStillRunning says that something of a program outlived KILL. Its guardian
// waits on, holding its locks.
var ErrStillRunning = errors.New("still running after KILL")

// Stop ends the program: it closes stdin, and the guardian waits EOFWait, sends TERM
// to every descendant, waits TermWait, and KILLs until none is left. Stop returns
// when Done is closed. When ctx ends, KILL comes at once. It returns ErrStillRunning
// when the kernel does not end what was killed; a second Stop waits for the first.
func (p *Process) Stop(ctx context.Context) error {
	p.quit.Do(func() {
		p.CloseStdin()
		_ = p.backend.ask(askQuit) // fails only when the guardian is gone
	})
	bound := time.NewTimer(p.o.EOFWait + p.o.TermWait + killWait)
	defer bound.Stop()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	case <-bound.C:
	}
	return p.Kill()
}

// Kill ends the program and its descendants with KILL and returns as Stop does.
func (p *Process) Kill() error {
	p.killed.Do(func() {
		p.CloseStdin()
		_ = p.backend.ask(askKill)
	})
	bound := time.NewTimer(killWait)
	defer bound.Stop()
	select {
	case <-p.done:
		return nil
	case <-bound.C:
		return fmt.Errorf("%s (process %d): %w", p.o.name(), p.Pid(), ErrStillRunning)
	}
}
