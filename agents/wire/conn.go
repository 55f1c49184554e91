package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// DefaultMaxLine is the longest line, in bytes without its newline, that a
// connection accepts when [Options.MaxLine] is zero.
const DefaultMaxLine = 64 << 20

// Direction tells a trace which way a frame went.
type Direction bool

// The two directions of a frame, as this side sees them.
const (
	In  Direction = false // from the agent
	Out Direction = true  // to the agent
)

// Options are the settings of a connection. The zero value is a JSON-RPC 2.0
// connection that ignores notifications and refuses requests.
type Options struct {
	// Handler receives what the agent sends on its own. nil ignores notifications
	// and answers every request with CodeMethodNotFound.
	Handler Handler
	// NoVersion leaves the "jsonrpc" member out of what is sent (Codex app-server).
	// What is received never needs one.
	NoVersion bool
	// MaxLine bounds a received line in bytes; 0 means DefaultMaxLine. A longer line
	// is skipped to its newline and reported; a call or request it carried fails.
	MaxLine int
	// Late receives the answer of a call that nobody waits for any more, on the
	// reader goroutine. It may be nil.
	Late func(Answer)
	// Skipped is told about the first MaxReports lines that were not messages, on
	// the reader goroutine; all of them are counted in Stats. It may be nil.
	Skipped func(Skipped)
	// Trace sees every frame without its newline: received ones on the reader
	// before they are looked at, sent ones on the writer before they are written.
	// The two may run at once. The slice is valid only during the call; of an
	// overlong line only the head is shown. It may be nil.
	Trace func(Direction, []byte)
}

// Handler receives notifications and requests on the reader goroutine, one at a
// time and in wire order. While a method runs nothing else is read, so it must not
// wait for an answer on the same connection, nor call Close: use a goroutine.
type Handler interface {
	// Notification handles a message without an id. The message and all its slices
	// are valid only during the call.
	Notification(m *Message)
	// Request handles a message that wants an answer, and returns whether it will
	// be given: false makes the connection answer CodeMethodNotFound and reply must
	// not be used. reply may be called at once or later from any goroutine; only
	// the first call counts. The message is the handler's own.
	Request(m *Message, reply Reply) bool
}

// Message is a notification or request of the agent.
type Message struct {
	// Method is never empty.
	Method string
	// ID is the agent's own id as it was written, nil in a notification.
	ID json.RawMessage
	// Params is valid JSON, or nil when the member was absent.
	Params json.RawMessage
	// Raw is the whole line: valid JSON, one object, no newline.
	Raw json.RawMessage
}

// Reply answers a request. With err nil the result is sent (nil as null); an *Error
// is sent as it is, any other error as CodeInternal with its text. It never
// blocks, and returns why the answer will not be sent, if it will not.
type Reply func(result any, err error) error

// Conn is one connection. All methods may be called at once from any goroutine.
type Conn struct {
	o Options
	r io.ReadCloser
	w io.WriteCloser

	out     writer
	pending pendingCalls
	count   counters

	done      chan struct{}
	closeOnce sync.Once
	closed    atomic.Bool       // Close was called
	msg       Message           // the notification being handled; reader only
	methods   map[string]string // names seen, so that equal ones share one string; reader only
	err       error             // why reading ended; readable after done
}

// New starts a connection that reads messages from r and writes messages to w, and
// owns both from now on. Closing r must end a blocked Read and closing w a blocked
// Write, as it does for pipes. The connection ends when r does or with Close; its
// two goroutines have ended when Done is closed.
func New(r io.ReadCloser, w io.WriteCloser, o Options) *Conn {
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	c := &Conn{o: o, r: r, w: w, done: make(chan struct{}), methods: map[string]string{}}
	c.pending.calls, c.pending.late = map[int64]*Pending{}, map[int64]bool{}
	c.out.wake = make(chan struct{}, 1)
	written := make(chan struct{})
	go func() { defer close(written); c.writeLoop() }()
	go func() {
		err := c.readLoop()
		c.err = err
		c.out.stop(&EndedError{Cause: err}) // first: no call may be queued that end does not see
		c.pending.end(&EndedError{Cause: err})
		c.w.Close() // unblocks a write to an agent that reads no more
		<-written
		c.r.Close()
		close(c.done)
	}()
	return c
}

// Call sends a request and waits for its answer. The result is the caller's own and
// never nil ("null" when the member was absent). It fails with an *Error when the agent
// answers with one, with an *EndedError when the connection ends first, with an
// *OverlongError when the answer was beyond the bound, and with the cause of ctx as
// soon as ctx ends; in that case nothing more is sent, and an answer that comes
// later goes to Options.Late. Params nil sends no "params" member.
func (c *Conn) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	p, err := c.Start(method, params)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		if p.Abandon() {
			return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
		}
		<-p.done // the reader has the answer in its hands
	}
	return p.Wait(ctx)
}

// Start sends a request and returns at once; its answer is had from the Pending. It
// fails when params cannot be encoded or the connection has ended.
func (c *Conn) Start(method string, params any) (*Pending, error) {
	p := c.pending.add(c, method)
	frame, err := c.request(p.id, method, params)
	if err == nil {
		err = c.out.put(outgoing{frame: frame, call: p})
	}
	if err != nil {
		c.pending.take(p.id)
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return p, nil
}

// Notify sends a notification. It never blocks, and fails when params cannot be
// encoded or the connection has ended.
func (c *Conn) Notify(method string, params any) error {
	frame, err := c.notification(method, params)
	if err == nil {
		err = c.out.put(outgoing{frame: frame})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// CloseWrite lets the writer send what is queued and then closes the agent's stdin.
// It does not wait, reading goes on, and further calls fail. To close at once,
// whatever is queued, close the writer given to New.
func (c *Conn) CloseWrite() {
	c.out.finish(&EndedError{Cause: ErrClosed})
}

// Close ends the connection at once and waits until both its goroutines have ended.
// Calls that wait fail with an *EndedError. It is idempotent and always returns
// nil; a Handler must not call it.
func (c *Conn) Close() error {
	c.closeOnce.Do(func() {
		c.closed.Store(true)
		c.out.stop(&EndedError{Cause: ErrClosed})
		c.w.Close()
		c.r.Close()
	})
	<-c.done
	return nil
}

// Done is closed when the connection has ended: everything that was read has been
// handled, every call has its answer or error, and no goroutine is left.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns nil until Done is closed, and then why reading ended: io.EOF when the
// agent closed its stdout, ErrClosed after Close.
func (c *Conn) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}
