package layout

import "strings"

// Sink takes rendered text in document order, together with where it came from. An error means that the output is closed:
// the caller stops rendering and passes the error up. An empty text is nothing and changes nothing.
//
// A Sink is used by one goroutine at a time.
type Sink interface {
	Author(text string) error // what the author wrote: the Value of a syntax.Text, a filled fence
	Value(text string) error  // what a value, a reply, a program, a file or a component printed: put in unchanged, never trimmed
}

// Buffer is a Sink that keeps everything. The zero value is empty and ready.
type Buffer struct{ b strings.Builder }

func (b *Buffer) Author(text string) error { b.b.WriteString(text); return nil }
func (b *Buffer) Value(text string) error  { b.b.WriteString(text); return nil }

// String returns what was put in so far.
func (b *Buffer) String() string { return b.b.String() }

// Len returns how many bytes were put in so far.
func (b *Buffer) Len() int { return b.b.Len() }

// Nowhere is the Sink of what nobody needs.
type Nowhere struct{}

func (Nowhere) Author(string) error { return nil }
func (Nowhere) Value(string) error  { return nil }

// AsValue returns a Sink that hands everything to out as a value: what a component or its children printed is text to the
// document around it, whoever wrote it.
func AsValue(out Sink) Sink { return asValue{out} }

type asValue struct{ out Sink }

func (a asValue) Author(text string) error { return a.out.Value(text) }
func (a asValue) Value(text string) error  { return a.out.Value(text) }

// Line renders a syntax.Line: the body goes in, and if it renders anything, the indent stands before it and one line end after it,
// none being added to one that is there. Nothing is held back but gaps, so a reply streams through.
type Line struct {
	out         Sink
	indent, eol string
	gap         string
	any         bool
	last        byte
}

// NewLine returns the Sink for the body of a syntax.Line with that indent and line end. Close ends the line.
func NewLine(out Sink, indent, eol string) *Line { return &Line{out: out, indent: indent, eol: eol} }

func (l *Line) Author(text string) error { return l.put(text, l.out.Author) }
func (l *Line) Value(text string) error  { return l.put(text, l.out.Value) }

// Gap puts in the Value of a syntax.Text that has Gap set: blanks between whole elements, put out only if something that is
// rendered follows on the line.
func (l *Line) Gap(text string) error {
	l.gap += text
	return nil
}

func (l *Line) put(text string, to func(string) error) error {
	if text == "" {
		return nil
	}
	if !l.any && l.indent != "" {
		if err := l.out.Author(l.indent); err != nil {
			return err
		}
	}
	l.any = true
	if l.gap != "" {
		if err := l.out.Author(l.gap); err != nil {
			return err
		}
		l.gap = ""
	}
	l.last = text[len(text)-1]
	return to(text)
}

// Close ends the line. It does not close the Sink under it.
func (l *Line) Close() error {
	if !l.any || l.last == '\n' || l.eol == "" {
		return nil
	}
	return l.out.Author(l.eol)
}
