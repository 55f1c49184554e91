package door

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"xmd/runtime"
)

const (
	path        = "/mcp"
	maxBody     = 4 << 20
	headerLimit = 64 << 10
	// sign is how often a call under way shows that it lives. Clients built on fetch give up when nothing comes for five minutes.
	sign = 15 * time.Second
	// bodyWait is how long a client with a key may take to send a body.
	bodyWait = 30 * time.Second
	// turnAway is how long what is left of a refused request is read before its connection is closed.
	turnAway = time.Second
	// farewell is how long Close lets the answers of ended calls be written.
	farewell = 2 * time.Second
)

var (
	errRevoked   = errors.New("this way into the workflow was closed")
	errClosed    = errors.New("the run is over")
	errCancelled = errors.New("the agent cancelled the call")
	errGone      = errors.New("the agent closed the connection")
)

// Options are what a Door must be told.
type Options struct {
	// Executable is the xmd that Pass.Shim starts, absolute or found on PATH; "": Shim names no command.
	Executable string
}

// Door is a runtime.Door: one HTTP server on loopback for a run. It starts nothing before the first Admit. Safe for concurrent use.
type Door struct {
	executable string
	sign       time.Duration
	bodyWait   time.Duration

	mu     sync.Mutex
	closed bool
	host   string // "127.0.0.1:PORT"; "" before the first Admit
	server *http.Server
	served chan struct{} // closed when the server's goroutine has ended
	passes []*pass       // not revoked

	requests sync.WaitGroup // of the HTTP server; joined only while it serves
}

var _ runtime.Door = (*Door)(nil)

// New makes a door that is not bound yet.
func New(o Options) *Door { return &Door{executable: o.Executable, sign: sign, bodyWait: bodyWait} }

// Admit makes a way in. It fails for a closed door, for tools without a name, with the same name or with a schema that is none, and where
// loopback cannot be bound.
func (d *Door) Admit(a runtime.Admission) (runtime.Pass, error) {
	p, err := newPass(d, a)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, runtime.Errorf(runtime.KindFailed, "the workflow's tools cannot be offered: %w", errClosed)
	}
	if err := d.bindLocked(); err != nil {
		return nil, err
	}
	p.host = d.host
	d.passes = append(d.passes, p)
	return p, nil
}

// bindLocked begins to serve, once.
func (d *Door) bindLocked() error {
	if d.server != nil {
		return nil
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return runtime.Errorf(runtime.KindFailed, "the workflow's tools cannot be offered on 127.0.0.1: %w", err)
	}
	d.host = net.JoinHostPort("127.0.0.1", strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	d.served = make(chan struct{})
	// No write limit: a call takes as long as its body does. Who has a key may stay; serve bounds what others and bodies may take.
	d.server = &http.Server{
		Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: headerLimit,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	server, served := d.server, d.served
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with Close
	}()
	return nil
}

// entered counts a request in; false when the door is closed.
func (d *Door) entered() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.requests.Add(1)
	}
	return !d.closed
}

// holder gives the pass of a key, in a time that says nothing about the keys there are; nil for none.
func (d *Door) holder(key string) *pass {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found *pass
	for _, p := range d.passes {
		if p.fits(key) {
			found = p
		}
	}
	return found
}

// forget takes a pass out, so that its key is worth nothing.
func (d *Door) forget(p *pass) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passes = slices.DeleteFunc(d.passes, func(q *pass) bool { return q == p })
}

// Close ends the door. Calls under way are told that the run is over. When ctx ends first the sockets are closed all the same, and the
// error says so: a Call that does not heed its ctx is still running then. A later Close waits for it.
func (d *Door) Close(ctx context.Context) error {
	d.mu.Lock()
	d.closed = true
	server, served, passes := d.server, d.served, slices.Clone(d.passes)
	d.mu.Unlock()
	if server == nil {
		return nil
	}
	for _, p := range passes {
		p.end(errClosed)
	}
	answered, stop := context.WithTimeout(ctx, farewell)
	_ = server.Shutdown(answered) // what is not written by then is cut
	stop()
	_ = server.Close()
	gone := make(chan struct{})
	go func() { // ends with the last call
		defer close(gone)
		for _, p := range passes {
			p.calls.Wait()
		}
		d.requests.Wait()
		<-served
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return runtime.Errorf(runtime.KindFailed, "the workflow's tools were still at work when waiting for them ended: %w", context.Cause(ctx))
	}
}

// newKey is 256 random bits.
func newKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: see its documentation
	return hex.EncodeToString(key)
}
