package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
)

// outgoing is one frame with its newline, and the call it carries, if any.
type outgoing struct {
	frame []byte
	call  *Pending
}

// writer is the queue before the writer goroutine. It is in memory and unbounded:
// what this side sends is bounded by what its callers wait for.
type writer struct {
	mu     sync.Mutex
	queue  []outgoing
	closed error // refuses new frames
	drop   bool  // forget what is queued
	wake   chan struct{}
}

// put queues a frame; it never blocks.
func (w *writer) put(o outgoing) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed != nil {
		return w.closed
	}
	w.queue = append(w.queue, o)
	w.signal()
	return nil
}

// finish refuses new frames; queued ones are still sent.
func (w *writer) finish(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed == nil {
		w.closed = why
	}
	w.signal()
}

// stop refuses new frames and forgets queued ones, which it returns.
func (w *writer) stop(why error) []outgoing {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed == nil {
		w.closed = why
	}
	w.drop = true
	left := w.queue
	w.queue = nil
	w.signal()
	return left
}

// signal wakes the writer goroutine; a wake-up that is already there is enough.
func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next waits for frames; none means that the end has come.
func (w *writer) next() []outgoing {
	for {
		w.mu.Lock()
		batch, ended := w.queue, w.closed != nil
		w.queue = nil
		w.mu.Unlock()
		if len(batch) > 0 || ended {
			return batch
		}
		<-w.wake
	}
}

// writeLoop sends frames until the end, and then closes the agent's stdin.
func (c *Conn) writeLoop() {
	defer c.w.Close()
	for batch := c.out.next(); len(batch) > 0; batch = c.out.next() {
		for i, o := range batch {
			if err := c.write(o.frame); err != nil {
				c.failWrites(batch[i:], err)
				return
			}
		}
	}
}

func (c *Conn) write(frame []byte) error {
	c.out.mu.Lock()
	dropped := c.out.drop
	c.out.mu.Unlock()
	if dropped {
		return ErrClosed
	}
	if c.o.Trace != nil {
		c.o.Trace(Out, frame[:len(frame)-1])
	}
	c.count.sent(len(frame))
	_, err := c.w.Write(frame)
	return err
}

// failWrites fails the calls whose frames the agent cannot have received, and all
// that come later. Calls that were written keep waiting: an agent that closed its
// stdin may still answer them.
func (c *Conn) failWrites(unsent []outgoing, err error) {
	ended := &EndedError{Cause: c.cause(err)}
	unsent = append(unsent[:len(unsent):len(unsent)], c.out.stop(ended)...)
	for _, o := range unsent {
		if o.call == nil {
			continue
		}
		if p, _ := c.pending.take(o.call.id); p != nil {
			p.settle(nil, ended)
		}
	}
}

// open begins a frame.
func (c *Conn) open(size int) []byte {
	b := make([]byte, 0, size+64)
	if c.o.NoVersion {
		return append(b, '{')
	}
	return append(b, `{"jsonrpc":"2.0",`...)
}

func (c *Conn) request(id int64, method string, params any) ([]byte, error) {
	p, err := encode(params)
	if err != nil {
		return nil, err
	}
	b := append(c.open(len(method)+len(p)), `"id":`...)
	b = strconv.AppendInt(b, id, 10)
	return body(append(b, ','), method, params != nil, p), nil
}

func (c *Conn) notification(method string, params any) ([]byte, error) {
	p, err := encode(params)
	if err != nil {
		return nil, err
	}
	return body(c.open(len(method)+len(p)), method, params != nil, p), nil
}

func body(b []byte, method string, hasParams bool, params []byte) []byte {
	b = append(b, `"method":`...)
	name, _ := encode(method) // a string always encodes
	b = append(b, name...)
	if hasParams {
		b = append(b, `,"params":`...)
		b = append(b, params...)
	}
	return append(b, "}\n"...)
}

// encode is json.Marshal without its HTML escapes, which only make frames longer.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("cannot be sent as JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// reply makes the Reply of one request; id is the agent's own, as it was written.
func (c *Conn) reply(id json.RawMessage) Reply {
	var once sync.Once
	return func(result any, err error) error {
		out := errAnswered
		once.Do(func() { out = c.answer(id, result, err) })
		return out
	}
}

var errAnswered = errors.New("the request has been answered already")

func (c *Conn) answer(id json.RawMessage, result any, err error) error {
	member, v, bad := `,"result":`, []byte(nil), error(nil)
	if err == nil {
		v, bad = encode(result)
		err = bad // the agent must not wait for ever
	}
	if err != nil {
		member, v = `,"error":`, encodeError(err)
	}
	b := append(c.open(len(id)+len(v)), `"id":`...)
	b = append(append(append(append(b, id...), member...), v...), "}\n"...)
	if err := c.out.put(outgoing{frame: b}); err != nil {
		return err
	}
	return bad
}

// encodeError is the "error" member for err.
func encodeError(err error) []byte {
	out := struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}{Code: CodeInternal, Message: err.Error()}
	var e *Error
	if errors.As(err, &e) {
		out.Code, out.Message, out.Data = e.Code, e.Message, e.Data
	}
	b, bad := encode(out)
	if bad != nil { // only the data can be at fault
		out.Data = nil
		b, _ = encode(out)
	}
	return b
}
