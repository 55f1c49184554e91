package target

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/syntax"
)

// label returns a piece of a document as plain text: code without its backticks, links without their targets, emphasis without its
// marks, escapes without their backslash, no tags and comments, blanks as one. An interpolation stays as it is written.
func label(doc *syntax.Document, at diag.Span) string {
	var l labeler
	for _, n := range doc.Body {
		s := n.Span()
		if s.End <= at.Start {
			continue
		}
		if s.Start >= at.End {
			break
		}
		switch n := n.(type) {
		case *syntax.Interp:
			l.fixed("{" + n.Path + "}")
		case *syntax.Text:
			switch from, to := max(s.Start, at.Start), min(s.End, at.End); {
			case n.Block: // a comment
			case n.Inert:
				l.fixed(strings.TrimSpace(strings.Trim(n.Value, "`")))
			case len(n.Value) != s.End-s.Start: // an escape
				l.fixed(n.Value)
			default:
				l.text(doc.Source.Text[from:to])
			}
		}
	}
	return l.label()
}

// labeler makes a label of pieces.
type labeler struct {
	bytes []byte
	kept  []bool // by byte: it is no markup
	drop  []bool // by byte: it is markup
}

func (l *labeler) fixed(s string) { l.add(s, true) }
func (l *labeler) text(s string)  { l.add(s, false) }

func (l *labeler) add(s string, fixed bool) {
	l.bytes = append(l.bytes, s...)
	for range len(s) {
		l.kept = append(l.kept, fixed)
	}
}

// is tells whether a byte that may be markup stands at i.
func (l *labeler) is(i int, set string) bool {
	return i >= 0 && i < len(l.bytes) && !l.kept[i] && strings.IndexByte(set, l.bytes[i]) >= 0
}

func (l *labeler) label() string {
	l.drop = make([]bool, len(l.bytes))
	l.escapes()
	l.links()
	l.emphasis()
	out := make([]byte, 0, len(l.bytes))
	for i, c := range l.bytes {
		if !l.drop[i] {
			out = append(out, c)
		}
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// escapes drops the backslash before punctuation.
func (l *labeler) escapes() {
	for i := 0; i+1 < len(l.bytes); i++ {
		if l.is(i, `\`) && l.is(i+1, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") {
			l.drop[i] = true
			i++
			l.kept[i] = true
		}
	}
}

// links drops the brackets of links and images, and their targets.
func (l *labeler) links() {
	var open []int
	for i := range l.bytes {
		switch {
		case l.is(i, "["):
			open = append(open, i)
		case l.is(i, "]") && len(open) > 0:
			start := open[len(open)-1]
			open = open[:len(open)-1]
			end := l.targetEnd(i + 1)
			if end == 0 {
				continue
			}
			l.drop[start] = true
			l.drop[max(start-1, 0)] = l.drop[max(start-1, 0)] || l.is(start-1, "!")
			for j := i; j < end; j++ {
				l.drop[j], l.kept[j] = true, true
			}
		}
	}
}

// targetEnd returns the offset behind the target of a link at i, or 0.
func (l *labeler) targetEnd(i int) int {
	closer := ")"
	switch {
	case l.is(i, "["):
		closer = "]"
	case !l.is(i, "("):
		return 0
	}
	for depth := 0; i < len(l.bytes); i++ {
		switch {
		case l.is(i, "(["):
			depth++
		case l.is(i, closer):
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// run is a row of the same marks of emphasis.
type run struct {
	start, end    int
	opens, closes bool
}

// emphasis drops pairs of marks: rows of *, _ or ~ of one length, the first before a word and the last behind one.
func (l *labeler) emphasis() {
	var open []run
	for i := 0; i < len(l.bytes); {
		if !l.is(i, "*_~") {
			i++
			continue
		}
		r := l.run(i)
		i = r.end
		if l.is(r.start, "~") && r.end-r.start != 2 {
			continue
		}
		if at := l.opener(open, r); at >= 0 {
			for _, mark := range []run{open[at], r} {
				for j := mark.start; j < mark.end; j++ {
					l.drop[j] = true
				}
			}
			open = open[:at]
		} else if r.opens {
			open = append(open, r)
		}
	}
}

// opener finds the last of the open rows that r ends, or -1.
func (l *labeler) opener(open []run, r run) int {
	for i := len(open) - 1; i >= 0 && r.closes; i-- {
		if o := open[i]; l.bytes[o.start] == l.bytes[r.start] && o.end-o.start == r.end-r.start {
			return i
		}
	}
	return -1
}

func (l *labeler) run(start int) run {
	end := start
	for l.is(end, string(l.bytes[start])) {
		end++
	}
	solid := func(i int) bool {
		return i >= 0 && i < len(l.bytes) && l.bytes[i] != ' ' && l.bytes[i] != '\t' && l.bytes[i] != '\n'
	}
	word := func(i int) bool {
		return solid(i) && (l.bytes[i] >= 0x80 || l.bytes[i]|0x20 >= 'a' && l.bytes[i]|0x20 <= 'z' || l.bytes[i] >= '0' && l.bytes[i] <= '9')
	}
	r := run{start: start, end: end, opens: solid(end), closes: solid(start - 1)}
	if l.bytes[start] == '_' {
		r.opens, r.closes = r.opens && !word(start-1), r.closes && !word(end)
	}
	return r
}
