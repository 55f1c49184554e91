package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Error codes of JSON-RPC 2.0.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// ErrClosed is the cause after Close or CloseWrite on this side.
var ErrClosed = errors.New("closed by xmd")

// maxText bounds the agent's words in an error text, in bytes: one agent lists 150
// methods in a single message.
const maxText = 300

// Error is an error answer, received or to be sent.
type Error struct {
	// Code is the JSON-RPC code; 0 when the agent sent something that is no integer.
	Code int
	// Message is the agent's text as it came, of any length.
	Message string
	// Data is the "data" member, nil when absent.
	Data json.RawMessage
}

// Error returns the message on one line, at most some 300 bytes of it, and the code.
func (e *Error) Error() string {
	text := clip(oneLine(e.Message), maxText)
	if text == "" {
		text = "error without a message"
	}
	if e.Code == 0 {
		return text
	}
	return fmt.Sprintf("%s (code %d)", text, e.Code)
}

// EndedError says that the connection ended before the answer came, or before the
// message could be sent.
type EndedError struct {
	// Cause is io.EOF when the agent closed its stdout, ErrClosed after Close or
	// CloseWrite, else what reading or writing failed with.
	Cause error
}

func (e *EndedError) Error() string {
	if errors.Is(e.Cause, io.EOF) {
		return "the agent closed the connection"
	}
	return "the connection to the agent has ended: " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *EndedError) Unwrap() error { return e.Cause }

// OverlongError says that the answer of a call was a line beyond Options.MaxLine,
// which was skipped.
type OverlongError struct {
	Size int64  // of the line, in bytes
	Max  int    // the bound
	Head string // its first 200 bytes
}

func (e *OverlongError) Error() string {
	return fmt.Sprintf("the answer has %d bytes and was skipped; at most %d are accepted", e.Size, e.Max)
}

// clip cuts s to at most max bytes at a rune boundary and marks the cut.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max] + "…"
}

// oneLine replaces what would break or colour a terminal line by spaces.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s))
}
