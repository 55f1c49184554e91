package layout

import (
	"strings"

	"xmd/lang/scan"
	"xmd/lang/syntax"
)

// move is what a body's lines lose at their start, and what those of the bodies around it lose after that.
type move struct {
	quotes   int    // block quotes of the tag: the indent stands behind their markers
	drop     bool   // the markers go
	from, to string // the common indent, and what stands in its place: a part of it
	next     *move
}

// apply moves one line. Lines lose at most what they have.
func (m *move) apply(line string) string {
	for ; m != nil; m = m.next {
		rest := scan.Unquote(line, m.quotes)
		marks := line[:len(line)-len(rest)]
		if m.drop {
			marks = ""
		}
		if n := commonPrefix(rest, m.from); n > len(m.to) {
			rest = m.to + rest[n:]
		}
		if len(marks)+len(rest) != len(line) {
			line = marks + rest
		}
	}
	return line
}

// commonPrefix returns how many bytes a and b begin with alike.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// text moves the lines of a text that begins at a line's start, or not.
func (m *move) text(value string, bol bool) string {
	if m == nil || !bol && !strings.Contains(value, "\n") {
		return value
	}
	var out strings.Builder
	out.Grow(len(value))
	for line := range strings.Lines(value) {
		if bol {
			line = m.apply(line)
		}
		out.WriteString(line)
		bol = true
	}
	return out.String()
}

// bol tells whether a line begins at an offset of the source.
func (l *layouter) bol(at int) bool {
	return at == l.start || at > 0 && l.src[at-1] == '\n'
}

// moveOf works out how the body of el moves, that begins on a line of its own, inside a body that moves as outer says.
func (l *layouter) moveOf(el *syntax.Element, outer *move) *move {
	captured := syntax.Captured(el.Name)
	common := l.commonIndent(el)
	if captured {
		if el.Quotes == 0 && common == "" {
			return nil
		}
		return &move{quotes: el.Quotes, drop: el.Quotes > 0, from: common}
	}
	base := l.lineIndent(el)
	if len(common) <= len(base) || !strings.HasPrefix(common, base) {
		return outer
	}
	return &move{quotes: el.Quotes, from: common, to: base, next: outer}
}

// lineIndent returns the blanks at the start of the line of an opening tag, behind quote markers.
func (l *layouter) lineIndent(el *syntax.Element) string {
	line := max(strings.LastIndexByte(l.src[:el.Open.Start], '\n')+1, l.start)
	return indentOf(scan.Unquote(l.src[line:el.Open.Start], el.Quotes))
}

// indentOf returns the blanks at the start of a line.
func indentOf(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// measure finds the common indent of lines.
type measure struct {
	common string
	any    bool
}

func (m *measure) add(indent string) {
	if !m.any {
		m.common, m.any = indent, true
		return
	}
	m.common = m.common[:commonPrefix(m.common, indent)]
}

// commonIndent returns the indent that the lines of a body have in common. Blank lines, lines inside fences, comments and tags, the bodies of
// inner elements and the lines of Else and Catch are not measured; the latter count where there is nothing else.
func (l *layouter) commonIndent(el *syntax.Element) string {
	var lines, branches measure
	for _, n := range el.Body {
		t, ok := n.(*syntax.Text)
		if !ok || t.Block {
			continue
		}
		at := t.Pos.Start
		for at < t.Pos.End {
			if l.bol(at) {
				l.measureLine(el, at, &lines, &branches)
			}
			nl := strings.IndexByte(l.src[at:t.Pos.End], '\n')
			if nl < 0 {
				break
			}
			if at += nl + 1; at == t.Pos.End && at < el.Close.Start { // an element, say, begins the line
				l.measureLine(el, at, &lines, &branches)
			}
		}
	}
	if !lines.any {
		return branches.common
	}
	return lines.common
}

// measureLine measures the line that begins at an offset.
func (l *layouter) measureLine(el *syntax.Element, at int, lines, branches *measure) {
	end := len(l.src)
	if nl := strings.IndexByte(l.src[at:], '\n'); nl >= 0 {
		end = at + nl
	}
	rest := scan.Unquote(l.src[at:end], el.Quotes)
	indent := indentOf(rest)
	body := rest[len(indent):]
	switch first := end - len(body); {
	case strings.TrimRight(body, "\r") == "", first == el.Close.Start, l.onlyComment(first):
	case isBranch(body):
		branches.add(indent)
	default:
		lines.add(indent)
	}
}

// onlyComment tells whether an author comment and nothing else stands from an offset to the end of its line.
func (l *layouter) onlyComment(at int) bool {
	if !strings.HasPrefix(l.src[at:], "{/*") {
		return false
	}
	end := strings.Index(l.src[at:], "*/}")
	if end < 0 {
		return true
	}
	rest := l.src[at+end+len("*/}"):]
	if nl := strings.IndexByte(rest, '\n'); nl >= 0 {
		rest = rest[:nl]
	}
	return strings.Trim(rest, blanks) == ""
}

// isBranch tells whether a line begins with the tag of Else or Catch.
func isBranch(line string) bool {
	for _, name := range []string{"<Else", "<Catch"} {
		if rest, ok := strings.CutPrefix(line, name); ok && (rest == "" || strings.IndexByte(" \t\r/>", rest[0]) >= 0) {
			return true
		}
	}
	return false
}
