//go:build unix

package proc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What goes over the lifeline. To the guardian: single bytes, askHold with a file
// beside it. From the guardian: reports, one byte and a number.
const (
	askHold     = 'H'
	askContinue = 'C' // the program, which was stopped, may have the terminal

	saidStarted = 'S' // the program runs; its process id
	saidFailed  = 'F' // it could not be started; the errno
	saidHeld    = 'h' // a file was taken
	saidNotHeld = 'n' // it was not; the errno
	saidStopped = 'T' // it was stopped; the signal
	saidExited  = 'X' // the program has ended; its wait status

	reportSize = 9
)

var errGuardianGone = errors.New("the guardian has ended")

// guarded is a program under a guardian, seen from xmd.
type guarded struct {
	cmd    *exec.Cmd
	life   *net.UnixConn
	leader int
	read   chan struct{} // the lifeline was read to its end
	gone   chan struct{} // the program has ended; status is known if told
	told   bool          // status was reported; readable after gone
	status unix.WaitStatus
	stops  chan syscall.Signal // what stopped the program, at a terminal; nobody else looks at it

	mu    sync.Mutex
	acks  []chan error // of files on their way, oldest first
	ended bool
}

// launch starts the guardian with the program's streams, and waits until the program
// runs.
func launch(ctx context.Context, o Options, path string, std [3]*os.File) (backend, error) {
	args := []string{"xmd", guardianCommand, o.Remove, o.EOFWait.String(), o.TermWait.String(), strconv.Itoa(len(o.Locks)), path, "--"}
	return guarding(ctx, o, args, std, &syscall.SysProcAttr{Setsid: true})
}

// guarding starts a guardian with args and the program's own behind them.
func guarding(ctx context.Context, o Options, args []string, std [3]*os.File, attr *syscall.SysProcAttr) (*guarded, error) {
	mine, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("lifeline: %w", err)
	}
	defer theirs.Close()
	g := &guarded{life: mine, read: make(chan struct{}), gone: make(chan struct{}), stops: make(chan syscall.Signal, 1)}
	g.cmd = &exec.Cmd{
		Path: self(), Args: append(args, o.Argv...), Env: append([]string{}, o.Env...), Dir: o.Dir,
		Stdin: std[0], Stdout: std[1], Stderr: std[2],
		ExtraFiles:  append([]*os.File{theirs}, o.Locks...),
		SysProcAttr: attr,
	}
	if err := g.begin(); err != nil {
		mine.Close()
		return nil, err
	}
	theirs.Close() // the end of the lifeline must be seen
	if err := g.started(ctx); err != nil {
		g.abandon()
		return nil, err
	}
	go g.listen()
	return g, nil
}

// abandon ends a guardian that is of no use, and waits for it as long as KILL may
// take: it may hold locks.
func (g *guarded) abandon() {
	_ = g.ask(askKill)
	g.life.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = g.cmd.Wait()
		g.collected()
	}()
	select {
	case <-gone:
	case <-time.After(killWait):
	}
}

// self is the running program. On Linux it stays the same file when the one it was
// started from is replaced.
func self() string {
	const link = "/proc/self/exe"
	if _, err := os.Lstat(link); err == nil {
		return link
	}
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return exe
}

func socketPair() (mine *net.UnixConn, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // where CLOEXEC cannot be had at once
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fds[0]), "lifeline")
	defer f.Close()
	theirs = os.NewFile(uintptr(fds[1]), "lifeline")
	c, err := net.FileConn(f)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return c.(*net.UnixConn), theirs, nil
}

// started waits for the guardian's first report.
func (g *guarded) started(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, fmt.Errorf("the guardian did not answer within %s", startWait))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = g.life.SetReadDeadline(time.Unix(1, 0)) })
	kind, n, err := g.report()
	if !stop() {
		return context.Cause(ctx)
	}
	switch {
	case err != nil:
		return fmt.Errorf("the guardian ended at once: is GuardianMain called in main? (%w)", err)
	case kind == saidFailed:
		return syscall.Errno(n)
	}
	g.leader = int(n)
	return nil
}

func (g *guarded) report() (kind byte, n uint64, err error) {
	var b [reportSize]byte
	if _, err := io.ReadFull(g.life, b[:]); err != nil {
		return 0, 0, err
	}
	return b[0], binary.BigEndian.Uint64(b[1:]), nil
}

// listen handles reports until the guardian ends.
func (g *guarded) listen() {
	defer close(g.read)
	for {
		kind, n, err := g.report()
		if err != nil {
			g.end()
			return
		}
		switch kind {
		case saidHeld:
			g.acknowledge(nil)
		case saidNotHeld:
			g.acknowledge(syscall.Errno(n))
		case saidStopped:
			select {
			case g.stops <- syscall.Signal(n):
			default: // it is known already
			}
		case saidExited:
			g.status, g.told = unix.WaitStatus(n), true
			close(g.gone)
		}
	}
}

func (g *guarded) acknowledge(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.acks) > 0 {
		g.acks[0] <- err // has room
		g.acks = g.acks[1:]
	}
}

// end settles what can no longer be answered.
func (g *guarded) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	for _, ack := range g.acks {
		ack <- errGuardianGone
	}
	g.acks = nil
	if !g.told {
		close(g.gone)
	}
}

func (g *guarded) pid() int                { return g.leader }
func (g *guarded) exited() <-chan struct{} { return g.gone }

func (g *guarded) ask(command byte) error {
	_, err := g.life.Write([]byte{command})
	return err
}

func (g *guarded) hold(ctx context.Context, f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	ack := make(chan error, 1)
	bad := raw.Control(func(fd uintptr) { err = g.send(int(fd), ack) })
	if err = errors.Join(bad, err); err != nil {
		return err
	}
	select {
	case err := <-ack:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// send passes a file; acknowledgements come in the order of sending.
func (g *guarded) send(fd int, ack chan error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return errGuardianGone
	}
	if _, _, err := g.life.WriteMsgUnix([]byte{askHold}, unix.UnixRights(fd), nil); err != nil {
		return fmt.Errorf("%w (%w)", errGuardianGone, err)
	}
	g.acks = append(g.acks, ack)
	return nil
}

// wait returns when the guardian has ended. If it was killed, its program died with
// it where the platform can do that, and the rest of the group is killed here, and
// all the rest by a process that adopts orphans.
func (g *guarded) wait() (Exit, bool) {
	<-g.read
	_ = g.cmd.Wait() // its own status repeats the program's
	g.collected()
	g.life.Close()
	if !g.cmd.ProcessState.Exited() {
		endOrphans()
	}
	if !g.told {
		_ = syscall.Kill(-g.leader, syscall.SIGKILL)
		return exitOf(g.cmd.ProcessState.Sys().(syscall.WaitStatus)), false
	}
	return exitOf(syscall.WaitStatus(g.status)), complete && g.cmd.ProcessState.Exited()
}

func exitOf(s syscall.WaitStatus) Exit {
	if s.Signaled() {
		return Exit{Code: 128 + int(s.Signal()), Signal: s.Signal()}
	}
	return Exit{Code: s.ExitStatus()}
}
