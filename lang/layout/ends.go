package layout

import "strings"

// Ends takes the author's blank lines off the ends of a text as it streams through; what came from a value is never trimmed.
// Only white space at the end is held back. Close must be called; it does not close the Sink under it.
type Ends struct {
	out     Sink
	head    bool   // leading blank lines go too
	tail    bool   // trailing blank lines and the last line end go
	newline bool   // but one line end is put at the end of what is not empty
	bare    bool   // blanks alone, without a line end, are nothing
	held    string // white space of the author that may turn out to be at the end
	any     bool
	last    byte
}

// NewCaptured returns the ends of a captured body (Prompt, Let, Tool, Instructions, Session.Launch, Elicit, Parse, SafeParse, the children
// of a component file): the author's blank lines at both ends go, the last line end too.
func NewCaptured(out Sink) *Ends { return &Ends{out: out, head: true, tail: true} }

// NewComponent returns the ends of a component file's text: its last line end and trailing blank lines go.
func NewComponent(out Sink) *Ends { return &Ends{out: out, tail: true} }

// NewFile returns the ends of a File's body. With closeFirst (syntax.Element.CloseFirst) trailing blank lines go and the text ends
// with one line end, or is empty; otherwise it is exact.
func NewFile(out Sink, closeFirst bool) *Ends {
	return &Ends{out: out, tail: closeFirst, newline: closeFirst}
}

// NewReply returns the ends of an agent's reply: leading and trailing blank lines go, in place and captured. Everything
// put in, by either method, is the reply's and goes on as a value.
func NewReply(out Sink) *Reply {
	return &Reply{Ends{out: AsValue(out), head: true, tail: true, bare: true}}
}

// Reply is the Sink of one reply; see NewReply.
type Reply struct{ ends Ends }

func (r *Reply) Author(text string) error { return r.ends.Author(text) }
func (r *Reply) Value(text string) error  { return r.ends.Author(text) }

// Close ends the reply.
func (r *Reply) Close() error { return r.ends.Close() }

// TrimReply is what NewReply passes on of a reply that is there as a whole. It is a part of it, so nothing is copied.
func TrimReply(reply string) string {
	solid := strings.TrimRight(reply, blanks)
	if solid == "" {
		return ""
	}
	end := len(solid) + lineEnd(reply[len(solid):])
	blank := reply[:len(reply)-len(strings.TrimLeft(reply, blanks))]
	return reply[strings.LastIndexByte(blank, '\n')+1 : end]
}

// blanks are the characters a blank line may hold, line ends included.
const blanks = " \t\r\n"

func (e *Ends) Value(text string) error {
	if text == "" {
		return nil
	}
	if err := e.release(""); err != nil {
		return err
	}
	e.any, e.last = true, text[len(text)-1]
	return e.out.Value(text)
}

func (e *Ends) Author(text string) error {
	if !e.tail || text == "" {
		return e.pass(text)
	}
	solid := strings.TrimRight(text, blanks)
	rest := text[len(solid):]
	if solid != "" {
		if err := e.release(solid); err != nil {
			return err
		}
	}
	if e.held == "" && e.any && e.last != '\n' { // blanks after words belong to the words' line
		at := lineEnd(rest)
		if err := e.pass(rest[:at]); err != nil {
			return err
		}
		rest = rest[at:]
	}
	e.held += rest
	return nil
}

// apart is how long a text is that is not worth copying to hand it on together with what was held.
const apart = 1 << 10

// release puts out what was held, and then text: it was not at the end. Blank lines at the beginning go here.
func (e *Ends) release(text string) error {
	if e.held == "" && e.any {
		return e.pass(text)
	}
	if e.any && len(text) >= apart {
		held := e.held
		e.held = ""
		if err := e.pass(held); err != nil {
			return err
		}
		return e.pass(text)
	}
	text = e.held + text
	e.held = ""
	if e.head && !e.any {
		blank := text[:len(text)-len(strings.TrimLeft(text, blanks))]
		text = text[strings.LastIndexByte(blank, '\n')+1:]
	}
	return e.pass(text)
}

func (e *Ends) pass(text string) error {
	if text == "" {
		return nil
	}
	e.any, e.last = true, text[len(text)-1]
	return e.out.Author(text)
}

// Close drops what is held and ends the text.
func (e *Ends) Close() error {
	held := e.held
	e.held = ""
	if !e.any {
		if e.bare || e.newline || strings.Contains(held, "\n") {
			return nil
		}
		return e.pass(held)
	}
	if e.newline && e.last != '\n' {
		if at := strings.IndexByte(held, '\n'); at > 0 && held[at-1] == '\r' {
			return e.pass("\r\n")
		}
		return e.pass("\n")
	}
	return nil
}

// lineEnd returns the offset of the first line end in s, or its length.
func lineEnd(s string) int {
	at := strings.IndexByte(s, '\n')
	switch {
	case at < 0:
		return len(s)
	case at > 0 && s[at-1] == '\r':
		return at - 1
	}
	return at
}

// Stdout takes the trailing line ends off a program's captured output as it streams through (an exec block inside Let).
// Everything put in goes on as a value. Close must be called.
type Stdout struct {
	out  Sink
	held string
}

// NewStdout returns the Sink of one program's captured output.
func NewStdout(out Sink) *Stdout { return &Stdout{out: out} }

func (s *Stdout) Author(text string) error { return s.Value(text) }

func (s *Stdout) Value(text string) error {
	solid := strings.TrimRight(text, "\r\n")
	if solid == "" {
		s.held += text
		return nil
	}
	if s.held != "" {
		if err := s.out.Value(s.held); err != nil {
			return err
		}
	}
	s.held = text[len(solid):]
	return s.out.Value(solid)
}

// Close drops the line ends that are held.
func (s *Stdout) Close() error {
	s.held = ""
	return nil
}
