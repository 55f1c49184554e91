package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// frame is one JSON-RPC message as read. A frame with a method is a request (with id) or a notification (without).
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

// rpcError is a JSON-RPC error object, and a Go error.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

func invalidParams(format string, args ...any) *rpcError {
	return &rpcError{Code: -32602, Message: "Invalid params: " + fmt.Sprintf(format, args...)}
}

// conn writes frames and pairs our own requests with their answers. All methods are safe for concurrent use.
type conn struct {
	faults faults
	broken func() // called once when stdout fails: the client is gone

	silenced atomic.Bool // the process is ending: nothing more is written

	mu  sync.Mutex // guards out; held over the write, so that the pipe is the flow control
	out *bufio.Writer
	bad bool

	waitMu sync.Mutex
	nextID int
	wait   map[string]chan frame
}

func newConn(stdout io.Writer, f faults, broken func()) *conn {
	return &conn{faults: f, broken: broken, out: bufio.NewWriterSize(stdout, 64<<10), wait: map[string]chan frame{}}
}

// encode gives v as one JSON line without HTML escapes, line end included. v is always one of our own values.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("sim: " + err.Error()) // our own types always encode
	}
	return b.Bytes()
}

// write puts one line out; flush says that nothing else follows at once.
func (c *conn) write(line []byte, flush bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silenced.Load() {
		return
	}
	if c.faults.on("split-utf8") {
		c.splitLocked(line)
		return
	}
	_, _ = c.out.Write(line) // bufio keeps the error for Flush
	if flush {
		c.flushLocked()
	}
}

// flush sends what was written with others to follow.
func (c *conn) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.silenced.Load() {
		c.flushLocked()
	}
}

func (c *conn) flushLocked() {
	if err := c.out.Flush(); err != nil && !c.bad {
		c.bad = true
		go c.broken() // it may write itself, and we hold the lock
	}
}

// splitLocked writes a line so that every character of more than one byte is cut between two writes.
func (c *conn) splitLocked(line []byte) {
	start := 0
	for i, b := range line {
		if b&0xC0 == 0x80 { // a continuation byte: what came before it goes out by itself
			_, _ = c.out.Write(line[start:i])
			c.flushLocked()
			start = i
		}
	}
	_, _ = c.out.Write(line[start:])
	c.flushLocked()
}

// raw writes bytes that need not be a frame, one line, flushed.
func (c *conn) raw(s string) { c.write([]byte(s+"\n"), true) }

type object = map[string]any

// notify sends a notification.
func (c *conn) notify(method string, params any, flush bool) {
	c.write(encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params}), flush)
}

// reply answers a request; exactly one of result and err is used, err first.
func (c *conn) reply(id json.RawMessage, result any, err *rpcError) {
	if c.faults.on("id-as-string") && len(id) > 0 && id[0] != '"' {
		id = json.RawMessage(`"` + string(id) + `"`)
	}
	if err == nil {
		c.write(encode(struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  any             `json:"result"`
		}{"2.0", id, result}), true)
		return
	}
	c.write(encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   any             `json:"error"`
	}{"2.0", id, c.errorObject(err)}), true)
}

func (c *conn) errorObject(err *rpcError) any {
	if !c.faults.on("error-code-string") {
		return err
	}
	o := object{"code": fmt.Sprint(err.Code), "message": err.Message}
	if err.Data != nil {
		o["data"] = err.Data
	}
	return o
}

// call sends a request to the client and waits for its answer or the end of ctx.
func (c *conn) call(ctx context.Context, method string, params any) (frame, error) {
	c.waitMu.Lock()
	id := fmt.Sprint(c.nextID)
	c.nextID++
	answer := make(chan frame, 1)
	c.wait[id] = answer
	c.waitMu.Unlock()
	defer func() {
		c.waitMu.Lock()
		delete(c.wait, id)
		c.waitMu.Unlock()
	}()
	c.write(encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  any             `json:"params"`
	}{"2.0", json.RawMessage(id), method, params}), true)
	select {
	case f := <-answer:
		return f, nil
	case <-ctx.Done():
		return frame{}, context.Cause(ctx)
	}
}

// answered gives an answer of the client to the call that waits for it. Answers nobody waits for are dropped.
func (c *conn) answered(f frame) {
	id := string(bytes.Trim(f.ID, `"`))
	c.waitMu.Lock()
	defer c.waitMu.Unlock()
	if w := c.wait[id]; w != nil {
		delete(c.wait, id)
		w <- f
	}
}

// readFrames calls handle for each line of in, in order, and bad for a line that is no JSON object, until the end of in.
func readFrames(in io.Reader, handle func(frame), bad func()) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var f frame
			if json.Unmarshal(line, &f) != nil {
				bad()
			} else {
				handle(f)
			}
		}
		if err != nil {
			return
		}
	}
}
