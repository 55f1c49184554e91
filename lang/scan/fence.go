package scan

import (
	"strings"

	"xmd/lang/diag"
)

// fenceRun returns the length of the opening fence at p, 0 where there is none.
func (s *Scanner) fenceRun(p int) int {
	ch := s.src[p]
	n := 0
	for p+n < len(s.src) && s.src[p+n] == ch {
		n++
	}
	if n < 3 || ch == '`' && strings.IndexByte(s.src[p+n:s.lineEndAt(p+n)], '`') >= 0 {
		return 0
	}
	return n
}

// fence reads the fence that opens at c to its end: its closing line, the end of a quote it stands in, or the end of the text. An inert
// fence is one token; an exec or filled one has three.
func (s *Scanner) fence(c cursor) {
	s.hasText = true
	start, run := c.pos, s.fenceRun(c.pos)
	openEnd := s.lineEndAt(start)
	indent := s.fenceIndent(c)
	exec, fill := InfoWords(s.src[start+run : openEnd])
	closeAt, end := -1, openEnd
	quoteEnded := false
	for line := s.lineAfter(start); line < len(s.src); line = s.lineAfter(line) {
		in, ok := s.unquote(line)
		if !ok {
			quoteEnded = true
			break
		}
		end = s.lineEndAt(line)
		if s.closesFence(in, end, s.src[start], run, indent) {
			closeAt = in.pos
			break
		}
	}
	if closeAt < 0 && !quoteEnded {
		end = len(s.src)
		s.open = append(s.open, Open{"fence", diag.Span{Start: start, End: openEnd}})
	}
	if exec && closeAt < 0 {
		s.diags.Add(diag.CodeExecOpen, diag.Span{Start: start, End: openEnd}, "exec fence is not closed",
			"end it with a line of "+s.src[start:start+run]+"; put a longer fence around it to send it literally")
	}
	s.emitFence(start, openEnd, closeAt, end, int32(indent), exec || fill)
}

func (s *Scanner) emitFence(start, openEnd, closeAt, end int, indent int32, active bool) {
	if !active {
		s.emit(Fence, start, end)
		return
	}
	s.emit(FenceOpen, start, openEnd)
	s.queue[len(s.queue)-1].Indent = indent
	if closeAt < 0 {
		closeAt = end
	}
	if openEnd < closeAt {
		s.emit(FenceBody, openEnd, closeAt)
	}
	if closeAt < end {
		s.emit(FenceClose, closeAt, end)
	}
}

// fenceIndent returns the columns between the last quote marker before c on its line, or the line's start, and c.
func (s *Scanner) fenceIndent(c cursor) int {
	var from cursor
	if i := strings.LastIndexByte(s.src[s.line:c.pos], '>'); s.quotes > 0 && i >= 0 {
		from = s.behindMarker(s.column(s.line + i))
	}
	return s.column(c.pos).col - from.col
}

// column returns the cursor of p in its line.
func (s *Scanner) column(p int) cursor {
	col := 0
	for i := s.line; i < p; i++ {
		if s.src[i] == '\t' {
			col += 4 - col%4
		} else {
			col++
		}
	}
	return cursor{pos: p, col: col}
}

// unquote returns the place behind the markers of the open quotes in the line at p. Inside a fence list items do not matter: only a
// quote that ends, ends the fence.
func (s *Scanner) unquote(p int) (cursor, bool) {
	c := cursor{pos: p}
	slack := 0
	seen := 0
	for i := range s.stack {
		if seen == s.quotes {
			break
		}
		k := &s.stack[i]
		if !k.quote {
			slack += k.indent
			continue
		}
		body, ind := s.skip(c, anyIndent)
		if ind > k.indent+slack || s.atEnd(body.pos) || s.src[body.pos] != '>' {
			return c, false
		}
		c, slack, seen = s.behindMarker(body), 0, seen+1
	}
	return c, true
}

// closesFence tells whether the line from c to end closes a fence of run characters ch that is indented by indent columns.
// A closing fence is at most three columns deeper than the opening one. The cursor is moved to its first character.
func (s *Scanner) closesFence(c cursor, end int, ch byte, run, indent int) bool {
	body, ind := s.skip(c, anyIndent)
	if ind >= indent+codeIndent || body.pos >= end || s.src[body.pos] != ch {
		return false
	}
	p := body.pos
	for p < end && s.src[p] == ch {
		p++
	}
	return p-body.pos >= run && isBlank(s.src[p:end])
}

// InfoWords tells whether the info string of a fence makes it act: exec as the word after the language, or fill anywhere.
func InfoWords(info string) (exec, fill bool) {
	for i, w := 0, ""; ; i++ {
		info = strings.TrimLeft(info, " \t\r")
		if info == "" {
			return exec, fill
		}
		n := strings.IndexAny(info, " \t\r")
		if n < 0 {
			n = len(info)
		}
		w, info = info[:n], info[n:]
		exec = exec || i == 1 && w == "exec"
		fill = fill || w == "fill"
	}
}

// Unquote takes at most n quote markers, with the blanks before each and the one behind it, off the front of a line.
func Unquote(line string, n int) string {
	for ; n > 0; n-- {
		body := strings.TrimLeft(line, " \t")
		if !strings.HasPrefix(body, ">") {
			break
		}
		line = strings.TrimPrefix(body[1:], " ")
	}
	return line
}

// Unindent takes at most n columns of blanks off the front of a line, in which it begins at column 0. A tab that reaches farther stays.
func Unindent(line string, n int) string {
	col := 0
	for i := 0; i < len(line) && col < n; i++ {
		switch {
		case line[i] == ' ':
			col++
		case line[i] == '\t' && col+4-col%4 <= n:
			col += 4 - col%4
		default:
			return line[i:]
		}
		if col >= n {
			return line[i+1:]
		}
	}
	if col < n {
		return strings.TrimLeft(line, " \t")
	}
	return line
}
