package compat

import (
	"context"
	"sync"
	"time"
)

// Limit is how long Result waits for `--version` beside the agent's start. While the agent itself is not up it waits on.
const Limit = 2 * time.Second

// Run starts a program, without standard input, and returns the first line of its stdout once it has ended with
// status 0. It ends the program when ctx does.
type Run func(ctx context.Context, argv, env []string, dir string) (stdoutFirstLine string, err error)

// Options lend an Observer what it needs. The zero value observes what handshakes say and hashes without a cache.
type Options struct {
	Run   Run   // nil: versions of programs are not obtained
	Cache Cache // nil: none
	// Hash computes a file's digest. Nil: SHA-256 of the file, through Cache.
	Hash func(ctx context.Context, path string) (digest string, err error)
}

// Program is the agent's program to observe.
type Program struct {
	Agent string // the agent's name in documents
	Shown string // its name in warnings; empty: ShownName(Agent)
	// VersionArgv prints the version. Empty: there is no such command.
	VersionArgv []string
	Env         []string // of VersionArgv, as os.Environ; nil: this process's
	Dir         string   // where VersionArgv runs; empty: this process's
	// Executable is the file whose digest counts (NativeCodex, NativeClaude). Empty: no digest.
	Executable string
	// HandshakeVersion says that the agent names its version when it is initialised: VersionArgv is not run, and
	// Observation.Handshake or UserAgent is called.
	HandshakeVersion bool
}

// Observer makes the observations of one invocation. It is safe for concurrent use. Close it before the process ends.
type Observer struct {
	opts   Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	hash   chan struct{} // one token: files are hashed one at a time

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
	done   chan struct{}
	once   map[string]struct{}
}

// NewObserver returns an observer that has not started anything.
func NewObserver(opts Options) *Observer {
	ctx, cancel := context.WithCancel(context.Background())
	return &Observer{
		opts: opts, ctx: ctx, cancel: cancel, hash: make(chan struct{}, 1), done: make(chan struct{}), once: map[string]struct{}{},
	}
}

// Once says whether this is the first time in the invocation that it is asked about a session. Whoever is told true
// observes and warns; the others go on.
func (o *Observer) Once(session string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, asked := o.once[session]
	o.once[session] = struct{}{}
	return !asked
}

// Close cancels what is still being observed and returns at once. It is idempotent.
func (o *Observer) Close() {
	o.cancel()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.closed = true
	go func() { // ends with what it waits for: that is what Done tells
		o.work.Wait()
		close(o.done)
	}()
}

// Done is closed when everything that was started has ended, after Close. A program or file system that does not obey
// may keep it open for ever: wait with a bound, or not at all.
func (o *Observer) Done() <-chan struct{} { return o.done }

// start runs fn on a goroutine, unless the observer is closed.
func (o *Observer) start(fn func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.work.Go(fn)
	return true
}

// Observation is one look at one program. It is safe for concurrent use.
type Observation struct {
	o       *Observer
	program Program
	began   time.Time
	stop    context.CancelFunc // ends the `--version` run

	settled chan struct{} // closed when the version is known, or will not be
	once    sync.Once

	mu    sync.Mutex
	build Build
}

// Begin starts observing and returns at once: call it just before the agent is started. ctx ends `--version` early, and
// nothing else: the digest goes on until Observer.Close, so that a later invocation finds it in the cache.
func (o *Observer) Begin(ctx context.Context, p Program) *Observation {
	if p.Shown == "" {
		p.Shown = ShownName(p.Agent)
	}
	runCtx, stop := context.WithCancel(ctx)
	unlink := context.AfterFunc(o.ctx, stop)
	ob := &Observation{
		o: o, program: p, began: time.Now(), settled: make(chan struct{}),
		stop: func() { unlink(); stop() },
	}
	switch {
	case p.HandshakeVersion:
	case o.opts.Run == nil || len(p.VersionArgv) == 0 || !o.start(func() { ob.runVersion(runCtx) }):
		ob.settle("")
	}
	if p.Executable != "" {
		o.start(ob.digest)
	}
	return ob
}

// Handshake tells the version that the agent named: agentInfo.version or its like. One that is not understood counts
// as none.
func (ob *Observation) Handshake(version string) {
	v, _ := ParseVersion(version)
	ob.settle(v)
}

// UserAgent tells the `userAgent` that the agent named.
func (ob *Observation) UserAgent(userAgent string) {
	v, _ := ParseUserAgent(userAgent)
	ob.settle(v)
}

// Result returns what was observed. It waits for the version until Limit after Begin, and while agentUp is still open,
// whichever is longer; for a handshake only while agentUp is open; nil means that the agent is up. It never waits for the
// digest. When ctx ends it returns what there is. A `--version` that is still running is ended.
func (ob *Observation) Result(ctx context.Context, agentUp <-chan struct{}) Build {
	defer ob.stop()
	timer := time.NewTimer(Limit - time.Since(ob.began))
	defer timer.Stop()
	limit := timer.C
	if ob.program.HandshakeVersion {
		limit = nil
	}
	for limit != nil || agentUp != nil {
		select {
		case <-ob.settled:
			return ob.Latest()
		case <-ctx.Done():
			return ob.Latest()
		case <-limit:
			limit = nil
		case <-agentUp:
			agentUp = nil
		}
	}
	return ob.Latest()
}

// Latest returns what is known now, without waiting.
func (ob *Observation) Latest() Build {
	ob.mu.Lock()
	defer ob.mu.Unlock()
	return ob.build
}

// Warn returns the line that is due for a session, at most once per session and invocation: the second time it is asked
// about a session it has nothing to say. Arguments are as in Warning.
func (ob *Observation) Warn(session string, established *Build, seen Build, isNew bool) (string, bool) {
	if !ob.o.Once(session) {
		return "", false
	}
	return Warning(ob.program.Shown, established, seen, isNew)
}

// settle takes the first answer about the version.
func (ob *Observation) settle(version string) {
	ob.once.Do(func() {
		ob.mu.Lock()
		ob.build.Version = version
		ob.mu.Unlock()
		close(ob.settled)
	})
}

func (ob *Observation) runVersion(ctx context.Context) {
	line, err := ob.o.opts.Run(ctx, ob.program.VersionArgv, ob.program.Env, ob.program.Dir)
	version := ""
	if err == nil {
		version, _ = ParseVersion(line)
	}
	ob.settle(version)
}

func (ob *Observation) digest() {
	o := ob.o
	select {
	case o.hash <- struct{}{}:
		defer func() { <-o.hash }()
	case <-o.ctx.Done():
		return
	}
	hash := o.opts.Hash
	if hash == nil {
		hash = func(ctx context.Context, path string) (string, error) { return Digest(ctx, path, o.opts.Cache) }
	}
	digest, err := hash(o.ctx, ob.program.Executable)
	if err != nil {
		return // no digest: nothing is compared
	}
	ob.mu.Lock()
	ob.build.Digest = digest
	ob.mu.Unlock()
}
