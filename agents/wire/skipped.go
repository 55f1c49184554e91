package wire

import (
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// MaxReports is how many skipped lines of a connection Options.Skipped is told of.
const MaxReports = 20

// Reason says why a line was skipped.
type Reason string

// The reasons.
const (
	NotJSON    Reason = "not JSON"                      // text, or a cut frame
	NotMessage Reason = "not a message"                 // JSON, but no notification, request or answer; arrays too
	TooLong    Reason = "too long"                      // beyond Options.MaxLine
	NoCall     Reason = "an answer that was not called" // unknown id, or answered before
)

// Skipped describes a line that was not handled.
type Skipped struct {
	Reason Reason
	// Size of the line in bytes.
	Size int64
	// Head is its first 200 bytes, valid UTF-8, otherwise as it came: clean it before
	// it reaches a terminal.
	Head string
	// Method of an overlong notification or request, else "".
	Method string
}

// Stats counts what a connection has seen.
type Stats struct {
	// LinesIn and BytesIn count everything received, FramesOut and BytesOut
	// everything handed to the agent's stdin; newlines included.
	LinesIn, BytesIn, FramesOut, BytesOut int64
	// NotJSON, NotMessage, TooLong and NoCall count skipped lines by reason.
	NotJSON, NotMessage, TooLong, NoCall int64
}

type counters struct {
	linesIn, bytesIn, framesOut, bytesOut atomic.Int64
	notJSON, notMessage, tooLong, noCall  atomic.Int64
	reports                               int // reader only
}

func (n *counters) received(size int64) {
	n.linesIn.Add(1)
	n.bytesIn.Add(size)
}

func (n *counters) sent(size int) {
	n.framesOut.Add(1)
	n.bytesOut.Add(int64(size))
}

// Stats returns the counts so far.
func (c *Conn) Stats() Stats {
	n := &c.count
	return Stats{
		LinesIn: n.linesIn.Load(), BytesIn: n.bytesIn.Load(),
		FramesOut: n.framesOut.Load(), BytesOut: n.bytesOut.Load(),
		NotJSON: n.notJSON.Load(), NotMessage: n.notMessage.Load(),
		TooLong: n.tooLong.Load(), NoCall: n.noCall.Load(),
	}
}

// skip counts a line and reports it while there are few.
func (c *Conn) skip(why Reason, size int64, line []byte, method string) {
	switch why {
	case NotJSON:
		c.count.notJSON.Add(1)
	case NotMessage:
		c.count.notMessage.Add(1)
	case TooLong:
		c.count.tooLong.Add(1)
	case NoCall:
		c.count.noCall.Add(1)
	}
	if c.o.Skipped == nil || c.count.reports >= MaxReports {
		return
	}
	c.count.reports++
	c.o.Skipped(Skipped{Reason: why, Size: size, Head: head(line), Method: method})
}

// head is the start of a line as text.
func head(line []byte) string {
	if len(line) > headSize {
		line = line[:headSize]
	}
	return strings.ToValidUTF8(string(line), string(utf8.RuneError))
}
