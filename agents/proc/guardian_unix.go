//go:build unix

package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guardianCommand is the hidden command that makes xmd a guardian.
const guardianCommand = "__guardian"

const (
	lifelineFD = 3
	killEvery  = 5 * time.Millisecond

	exitUsage     = 2
	exitNoProgram = 127
)

// GuardianMain makes this process a guardian and never returns, if it was started
// as one; else it does nothing. It must be called first of all in main, and in
// TestMain, before anything that costs time or touches file descriptors.
func GuardianMain() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case guardianCommand:
		os.Exit(guard(os.Args[2:], nil))
	case windowCommand:
		os.Exit(guardWindow(os.Args[2:]))
	}
}

// phase is how far the ladder has been climbed; it never goes back.
type phase int

const (
	running phase = iota
	waiting       // for the program to obey the end of its stdin
	terminating
	killing
)

type guardian struct {
	remove string                 // a folder that goes with the program; "": none
	wait   [killing]time.Duration // length of a phase
	leader int
	ended  chan syscall.WaitStatus // the program's
	none   chan struct{}           // closed when no descendant is left
	asked  chan phase

	window *window // the terminal that the program has; nil: none
	stops  chan syscall.Signal
	resume chan struct{}
}

// guard runs the program, on the terminal w if it is not nil, and returns the exit code: the program's own, 128 + n when
// a signal ended it.
func guard(args []string, w *window) int {
	g := &guardian{ended: make(chan syscall.WaitStatus, 1), none: make(chan struct{}), asked: make(chan phase, 8), window: w}
	path, argv, err := g.parse(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "xmd:", err)
		return exitUsage
	}
	if g.remove != "" {
		defer func() { _ = os.RemoveAll(g.remove) }()
	}
	// The parent-death signal belongs to the thread that starts the program: it must
	// live as long as the guardian, so this goroutine keeps it.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		for range signals {
			g.asked <- terminating
		}
	}()
	adoptOrphans()
	attr := programAttr()
	if w != nil {
		attr = w.attr(attr)
		g.stops, g.resume = make(chan syscall.Signal, 1), make(chan struct{}, 1)
	}
	g.leader, err = syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: attr,
	})
	dropStreams()
	if w != nil {
		w.began()
	}
	if err != nil {
		if w != nil {
			w.restore(0, false)
		}
		var errno syscall.Errno
		_ = errors.As(err, &errno)
		report(saidFailed, uint64(errno))
		return exitNoProgram
	}
	report(saidStarted, uint64(g.leader))
	go g.reap()
	go g.listen()
	exit := exitOf(g.climb())
	if w != nil {
		w.restore(g.leader, exit.Signal != 0)
	}
	return exit.Code
}

// parse reads the arguments that launch gives, and makes sure that the program
// inherits neither the lifeline nor a lock.
func (g *guardian) parse(args []string) (path string, argv []string, err error) {
	if len(args) < 7 || args[5] != "--" {
		return "", nil, fmt.Errorf("%s is for xmd itself", guardianCommand)
	}
	g.remove, args = args[0], args[1:]
	if g.wait[waiting], err = time.ParseDuration(args[0]); err != nil {
		return "", nil, err
	}
	if g.wait[terminating], err = time.ParseDuration(args[1]); err != nil {
		return "", nil, err
	}
	locks, err := strconv.Atoi(args[2])
	if err != nil {
		return "", nil, err
	}
	if _, err := unix.GetsockoptInt(lifelineFD, unix.SOL_SOCKET, unix.SO_TYPE); err != nil {
		return "", nil, fmt.Errorf("%s is for xmd itself: there is no lifeline", guardianCommand)
	}
	for fd := lifelineFD; fd <= lifelineFD+locks; fd++ {
		unix.CloseOnExec(fd)
	}
	return args[3], args[5:], nil
}

// dropStreams lets go of the program's pipes: their ends must be seen by both sides.
func dropStreams() {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil || dup2(null, fd) != nil {
			_ = unix.Close(fd)
		}
	}
}

func report(kind byte, n uint64) {
	b := binary.BigEndian.AppendUint64([]byte{kind}, n)
	_, _ = unix.Write(lifelineFD, b) // xmd may be gone: the lifeline's end says so
}

// reap collects every child and adopted orphan until none is left.
func (g *guardian) reap() {
	defer close(g.none)
	how := 0
	if g.window != nil {
		how = syscall.WUNTRACED
	}
	for {
		var s syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &s, how, nil)
		switch {
		case err == syscall.EINTR:
		case err == nil && s.Stopped():
			if pid == g.leader {
				g.stops <- s.StopSignal()
			}
		case err != nil: // no children: whoever is left is out of reach, or nobody is
			for !groupGone(g.leader) {
				time.Sleep(killEvery)
			}
			return
		case pid == g.leader:
			g.ended <- s
		}
	}
}

// listen obeys the lifeline until it ends.
func (g *guardian) listen() {
	for {
		command, fd, err := receive()
		switch {
		case err != nil:
			g.asked <- waiting
			return
		case command == askContinue && g.window != nil:
			g.resume <- struct{}{}
		case command == askQuit:
			g.asked <- waiting
		case command == askKill:
			g.asked <- killing
		case command == askHold && fd >= 0: // held by being open, until the exit
			report(saidHeld, 0)
		case command == askHold:
			report(saidNotHeld, uint64(unix.EBADF))
		}
	}
}

// receive reads one command and the file beside it, -1 when there is none.
func receive() (command byte, fd int, err error) {
	var b [1]byte
	oob := make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, err := receiveMessage(b[:], oob)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = unix.EPIPE
		}
		if err != nil {
			return 0, -1, err
		}
		return b[0], passedFile(oob[:oobn]), nil
	}
}

func passedFile(oob []byte) int {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) == 0 {
		return -1
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return -1
	}
	return fds[0]
}

// climb waits for a reason to end the program, climbs the ladder, and returns the
// program's status when nothing of it is left.
func (g *guardian) climb() (status syscall.WaitStatus) {
	at, next := running, (<-chan time.Time)(nil)
	var onward <-chan time.Time
	enter := func(p phase) {
		at = p
		switch p {
		case waiting:
			if g.window != nil {
				g.window.ending(g.leader)
			}
		case terminating:
			signalTree(g.leader, syscall.SIGTERM)
			if g.window != nil { // what is stopped obeys only then
				signalTree(g.leader, syscall.SIGCONT)
			}
		case killing:
			signalTree(g.leader, syscall.SIGKILL)
			next = time.After(killEvery) // what was born meanwhile
			return
		}
		next = time.After(g.wait[p])
	}
	exited := func(s syscall.WaitStatus) {
		status = s
		report(saidExited, uint64(s))
	}
	for {
		select {
		case s := <-g.ended:
			exited(s)
			if at < terminating { // what it left behind
				enter(terminating)
			}
		case p := <-g.asked:
			if p > at {
				enter(p)
			}
		case sig := <-g.stops:
			if at == running {
				g.window.takeBack(g.leader)
				report(saidStopped, uint64(sig))
			} else { // it wants a terminal that is another's by now, and is to end
				onward = time.After(killEvery)
			}
		case <-onward:
			_ = syscall.Kill(-g.leader, syscall.SIGCONT)
		case <-g.resume:
			g.window.hand(g.leader)
		case <-next:
			enter(min(at+1, killing))
		case <-g.none:
			select {
			case s := <-g.ended:
				exited(s)
			default:
			}
			return status
		}
	}
}
