package event

import (
	"errors"
	"io"
	"sync"
)

// maxPending bounds what waits to be written; a slower reader holds up the writer, and through it the agent.
const maxPending = 1 << 20

// ErrClosedOutput is what Write returns after Close.
var ErrClosedOutput = errors.New("output is closed")

// Output writes to a reader that may be slow or gone, without ever delaying what already came: a goroutine of its own writes
// whatever is there as soon as the last write is done, so a lone line goes out at once and a burst in large pieces.
// Safe for concurrent use.
type Output struct {
	w      io.Writer
	failed func(error) // told once, from the writing goroutine

	mu      sync.Mutex
	moved   *sync.Cond // pending grew, shrank, or closing changed
	pending []byte
	spare   []byte
	writing bool // what was pending is on its way
	closing bool
	err     error
	done    chan struct{}
}

// NewOutput starts an Output on w. failed is called with the first write error (a closed pipe); it may be nil.
func NewOutput(w io.Writer, failed func(error)) *Output {
	o := &Output{w: w, failed: failed, done: make(chan struct{})}
	o.moved = sync.NewCond(&o.mu)
	go o.loop()
	return o
}

// WriteString queues s. It blocks while more than 1 MiB waits. After a write error it drops s and returns the error.
func (o *Output) WriteString(s string) (int, error) { return add(o, s) }

// Write queues p, like WriteString.
func (o *Output) Write(p []byte) (int, error) { return add(o, p) }

func add[T string | []byte](o *Output, s T) (int, error) {
	if len(s) == 0 {
		return 0, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.pending) >= maxPending && o.err == nil && !o.closing {
		o.moved.Wait()
	}
	if o.err != nil {
		return 0, o.err
	}
	if o.closing {
		return 0, ErrClosedOutput
	}
	if len(o.pending) == 0 {
		o.moved.Broadcast()
	}
	o.pending = append(o.pending, s...)
	return len(s), nil
}

// Flush waits until everything that was queued is written. It returns the first write error, of which failed has been told by then.
func (o *Output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for (len(o.pending) > 0 || o.writing) && o.err == nil {
		o.moved.Wait()
	}
	return o.err
}

// Close writes what is left and waits for it. Idempotent; returns the first write error.
func (o *Output) Close() error {
	o.mu.Lock()
	o.closing = true
	o.moved.Broadcast()
	o.mu.Unlock()
	<-o.done
	return o.err
}

func (o *Output) loop() {
	defer close(o.done)
	for {
		buf, ok := o.take()
		if !ok {
			return
		}
		if _, err := o.w.Write(buf); err != nil {
			o.fail(err)
			return
		}
		o.mu.Lock()
		o.spare, o.writing = buf[:0], false
		o.moved.Broadcast()
		o.mu.Unlock()
	}
}

// take waits for something to write; false when there is nothing more to come.
func (o *Output) take() ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.pending) == 0 && !o.closing {
		o.moved.Wait()
	}
	if len(o.pending) == 0 {
		return nil, false
	}
	buf := o.pending
	o.pending, o.spare, o.writing = o.spare, nil, true
	return buf, true
}

// fail tells the owner first: whoever then sees the error finds the run already ended by it.
func (o *Output) fail(err error) {
	if o.failed != nil {
		o.failed(err)
	}
	o.mu.Lock()
	o.err = err
	o.pending = nil
	o.moved.Broadcast()
	o.mu.Unlock()
}
