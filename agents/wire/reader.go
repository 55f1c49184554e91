package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxMethods bounds the method names that are kept for reuse.
const maxMethods = 256

var memberNames = []string{"method", "id", "params", "result", "error"}

// The places of memberNames.
const (
	inMethod = iota
	inID
	inParams
	inResult
	inError
	memberCount
)

// readLoop handles lines until reading ends, and returns why it did.
func (c *Conn) readLoop() error {
	lines := lineReader{r: c.r, max: c.o.MaxLine}
	for {
		line, overlong, err := lines.next()
		if err != nil {
			return c.cause(err)
		}
		if overlong != nil {
			c.handleOverlong(overlong)
			continue
		}
		c.count.received(int64(len(line)) + 1)
		if line = bytes.TrimRight(line, " \t\r"); len(line) == 0 {
			continue
		}
		if c.o.Trace != nil {
			c.o.Trace(In, line)
		}
		c.handleLine(line)
	}
}

// cause says ErrClosed for what reading and writing report after this side closed.
func (c *Conn) cause(err error) error {
	if c.closed.Load() || errors.Is(err, os.ErrClosed) {
		return ErrClosed
	}
	return err
}

func (c *Conn) handleLine(line []byte) {
	if !valid(line) {
		c.skip(NotJSON, int64(len(line)), line, "")
		return
	}
	var m [memberCount][]byte
	if !Pick(line, memberNames, m[:]) {
		c.skip(NotMessage, int64(len(line)), line, "")
		return
	}
	id := m[inID]
	if string(id) == "null" {
		id = nil
	}
	switch {
	case m[inMethod] != nil:
		c.handleMessage(line, m[inMethod], id, m[inParams])
	case id != nil:
		c.handleAnswer(line, id, m[inResult], m[inError])
	default:
		c.skip(NotMessage, int64(len(line)), line, "")
	}
}

func (c *Conn) handleMessage(line, name, id, params []byte) {
	method := c.method(name)
	if method == "" {
		c.skip(NotMessage, int64(len(line)), line, "")
		return
	}
	if id == nil {
		if c.o.Handler != nil {
			c.msg = Message{Method: method, Params: params, Raw: line}
			c.o.Handler.Notification(&c.msg)
		}
		return
	}
	// The handler answers later, from elsewhere: give it memory of its own.
	own := &Message{Method: method, ID: Raw(id), Params: Raw(params), Raw: Raw(line)}
	reply := c.reply(own.ID)
	if c.o.Handler == nil || !c.o.Handler.Request(own, reply) {
		_ = reply(nil, &Error{Code: CodeMethodNotFound, Message: "method not found: " + method})
	}
}

// method decodes a method name without allocating for one that came before.
func (c *Conn) method(name []byte) string {
	if s, ok := c.methods[string(name)]; ok {
		return s
	}
	s, _ := String(name)
	if len(c.methods) < maxMethods {
		c.methods[string(name)] = s
	}
	return s
}

func (c *Conn) handleAnswer(line, id, result, failure []byte) {
	p, late := c.take(id)
	if p == nil {
		c.skip(NoCall, int64(len(line)), line, "")
		return
	}
	if failure != nil && string(failure) != "null" {
		p.settle(nil, decodeError(failure))
	} else if result == nil {
		p.settle(json.RawMessage("null"), nil)
	} else {
		p.settle(Raw(result), nil)
	}
	if late {
		c.late(p)
	}
}

func (c *Conn) late(p *Pending) {
	if c.o.Late != nil {
		c.o.Late(p.answer)
	}
}

// take finds the call that an id answers, as a number or as a string.
func (c *Conn) take(id []byte) (p *Pending, late bool) {
	n, ok := callID(id)
	if !ok {
		return nil, false
	}
	return c.pending.take(n)
}

func callID(id []byte) (int64, bool) {
	text := string(id)
	if s, ok := String(id); ok {
		text = strings.TrimSpace(s)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64) // 1.0 or 1e0
	ok := err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
	return int64(f), ok
}

// decodeError takes whatever an agent calls an error.
func decodeError(v []byte) *Error {
	var m [3][]byte
	if !Pick(v, []string{"code", "message", "data"}, m[:]) {
		return &Error{Message: textOf(v)}
	}
	e := &Error{Message: textOf(m[1]), Data: Raw(m[2])}
	if n, ok := callID(m[0]); ok && n >= math.MinInt32 && n <= math.MaxInt32 {
		e.Code = int(n)
	}
	return e
}

// textOf returns a string's meaning, and other JSON as it is written.
func textOf(v []byte) string {
	if s, ok := String(v); ok {
		return s
	}
	return strings.ToValidUTF8(string(v), string(utf8.RuneError))
}

// handleOverlong reports a line that was skipped and settles what waited for it.
func (c *Conn) handleOverlong(l *longLine) {
	c.count.received(l.size + 1)
	if c.o.Trace != nil {
		c.o.Trace(In, l.head)
	}
	id := l.skim.id
	if string(id) == "null" || !valid(id) {
		id = nil
	}
	c.skip(TooLong, l.size, l.head, l.skim.method)
	switch {
	case id == nil:
	case l.skim.method != "":
		_ = c.reply(id)(nil, &Error{Code: CodeInvalidRequest,
			Message: fmt.Sprintf("the request has %d bytes, at most %d are accepted", l.size, c.o.MaxLine)})
	default:
		p, late := c.take(id)
		if p == nil {
			return
		}
		p.settle(nil, &OverlongError{Size: l.size, Max: c.o.MaxLine, Head: head(l.head)})
		if late {
			c.late(p)
		}
	}
}
