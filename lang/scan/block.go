package scan

import "strings"

// container is an open block quote or list item.
type container struct {
	quote  bool
	indent int  // quote: columns that may stand before its marker; item: columns its content is indented by
	empty  bool // item: nothing stood behind its marker
}

// maxContainers bounds the nesting of quotes and list items, and with it the work for a line; deeper markers are text.
const maxContainers = 100

// cursor is a place in a line. A tab that was partly used leaves pad columns.
type cursor struct{ pos, col, pad int }

// skip moves over at most limit columns of blanks and returns how many there were.
func (s *Scanner) skip(c cursor, limit int) (cursor, int) {
	n := 0
	for n < limit {
		if c.pad > 0 {
			use := min(c.pad, limit-n)
			c.pad, c.col, n = c.pad-use, c.col+use, n+use
			continue
		}
		if c.pos >= len(s.src) {
			break
		}
		switch s.src[c.pos] {
		case ' ':
			c.pos, c.col, n = c.pos+1, c.col+1, n+1
		case '\t':
			c.pos, c.pad = c.pos+1, 4-c.col%4
		default:
			return c, n
		}
	}
	return c, n
}

// anyIndent is a limit for skip that no line reaches.
const anyIndent = 1 << 40

// codeIndent is the indentation from which CommonMark sees code; here it only keeps a line in its paragraph.
const codeIndent = 4

// atEnd tells whether a line ends at p.
func (s *Scanner) atEnd(p int) bool {
	return p >= len(s.src) || s.src[p] == '\n' || s.src[p] == '\r' && (p+1 >= len(s.src) || s.src[p+1] == '\n')
}

// match returns how many of the open containers the line at p goes on with, and the place behind their markers.
func (s *Scanner) match(p int) (cursor, int) {
	c := cursor{pos: p}
	for i := range s.stack {
		k := &s.stack[i]
		body, ind := s.skip(c, anyIndent)
		blank := s.atEnd(body.pos)
		switch {
		case k.quote:
			if blank || ind > k.indent || s.src[body.pos] != '>' {
				return c, i
			}
			c = s.behindMarker(body)
		case blank:
			if k.empty {
				return c, i
			}
		case ind < k.indent:
			return c, i
		default:
			c, _ = s.skip(c, k.indent)
		}
	}
	return c, len(s.stack)
}

// behindMarker returns the place behind a > and the one column of blank that belongs to it.
func (s *Scanner) behindMarker(c cursor) cursor {
	c.pos, c.col = c.pos+1, c.col+1
	c, _ = s.skip(c, 1)
	return c
}

// continuation tells whether the line at p goes on with the open paragraph, and where its content begins. It changes nothing, so
// that searches for a closer may look ahead.
func (s *Scanner) continuation(p int) (content int, ok bool) {
	if p >= len(s.src) {
		return p, false
	}
	c, n := s.match(p)
	body, ind := s.skip(c, anyIndent)
	p = body.pos
	if s.atEnd(p) {
		return p, false
	}
	all := n == len(s.stack)
	switch ch := s.src[p]; {
	case ch == '`' || ch == '~':
		return p, s.fenceRun(p) == 0
	case isLetter(ch) || ind >= codeIndent && !s.asDeep(ind, n):
		return p, true
	case ch == '>':
		return p, false
	case ch == '#':
		return p, !s.isHeading(p)
	case ch == '<':
		return p, !strings.HasPrefix(s.src[p:], "<!--")
	case ch == '=' || ch == '-' && all:
		if all && s.isUnderline(p) {
			return p, false
		}
	}
	if s.isRule(p) {
		return p, false
	}
	width, empty := s.marker(p)
	return p, width == 0 || all && !s.mayInterrupt(p, empty)
}

// asDeep tells whether a line, indented by ind columns behind n containers, stands about as deep as the paragraph began: where
// authors indent the content of nested tags, structure begins there and not at the left.
func (s *Scanner) asDeep(ind, n int) bool {
	return s.deep > 0 && n == s.deepIn && ind < s.deep+codeIndent
}

// mayInterrupt tells whether a list marker at p may stand inside a paragraph of the same container.
func (s *Scanner) mayInterrupt(p int, empty bool) bool {
	return !empty && (!isDigit(s.src[p]) || s.src[p] == '1' && !isDigit(s.src[p+1]))
}

// startLine follows the block structure to the content of the line at pos: containers close and open, a fence is read whole.
func (s *Scanner) startLine() {
	s.bol, s.hasText, s.hasTag, s.line = false, false, false, s.pos
	if s.para {
		if content, ok := s.continuation(s.pos); ok {
			s.pos = content
			return
		}
	}
	c, n := s.match(s.pos)
	all := n == len(s.stack)
	s.truncate(n)
	body, ind := s.skip(c, anyIndent)
	for i := range s.stack {
		s.stack[i].empty = s.stack[i].empty && s.atEnd(body.pos)
	}
	if s.deep, s.deepIn = 0, n; ind >= codeIndent {
		s.deep = ind
	}
	inPara := s.para && all // a marker would stand inside a paragraph
	underline := inPara && ind < codeIndent && !s.atEnd(body.pos) && s.isUnderline(body.pos)
	s.endPara()
	s.multi = false
	for !underline && !s.atEnd(body.pos) {
		switch ch := s.src[body.pos]; {
		case (ch == '`' || ch == '~') && s.fenceRun(body.pos) > 0:
			s.fence(body)
			return
		case ch == '#' && s.isHeading(body.pos), ch == '<' && strings.HasPrefix(s.src[body.pos:], "<!--"), s.isRule(body.pos):
			s.pos = body.pos
			return
		}
		next, opened := s.openContainer(c, body, ind, inPara)
		if !opened {
			s.para, s.multi = true, true
			break
		}
		inPara, c = false, next
		body, ind = s.skip(c, anyIndent)
	}
	s.pos = body.pos
}

// openContainer opens the quote or list item whose marker stands at body, ind columns behind c, if there is one. It returns the place
// behind the marker.
func (s *Scanner) openContainer(c, body cursor, ind int, inPara bool) (cursor, bool) {
	if len(s.stack) >= maxContainers {
		return c, false
	}
	p := body.pos
	if s.src[p] == '>' {
		limit := codeIndent - 1
		if ind >= codeIndent {
			limit += ind
		}
		s.stack = append(s.stack, container{quote: true, indent: limit})
		s.quotes++
		return s.behindMarker(body), true
	}
	width, empty := s.marker(p)
	if width == 0 || inPara && !s.mayInterrupt(p, empty) {
		return c, false
	}
	body.pos, body.col = p+width, body.col+width
	after, blanks := s.skip(body, anyIndent)
	if empty || blanks > codeIndent {
		after, _ = s.skip(body, 1)
		blanks = 1
	}
	s.stack = append(s.stack, container{indent: ind + width + blanks, empty: empty})
	return after, true
}

// truncate closes all containers but the first n.
func (s *Scanner) truncate(n int) {
	for _, k := range s.stack[n:] {
		if k.quote {
			s.quotes--
		}
	}
	s.stack = s.stack[:n]
}

// endPara forgets what belongs to one paragraph.
func (s *Scanner) endPara() {
	s.para = false
	s.brackets, s.inactive, s.linkEnd = s.brackets[:0], 0, 0
}

// isHeading tells whether an ATX heading begins at p.
func (s *Scanner) isHeading(p int) bool {
	n := 0
	for p+n < len(s.src) && s.src[p+n] == '#' {
		n++
	}
	return n >= 1 && n <= 6 && (s.atEnd(p+n) || s.src[p+n] == ' ' || s.src[p+n] == '\t')
}

// isUnderline tells whether the line at p makes the paragraph before it a heading.
func (s *Scanner) isUnderline(p int) bool {
	ch := s.src[p]
	if ch != '=' && ch != '-' {
		return false
	}
	for p < len(s.src) && s.src[p] == ch {
		p++
	}
	for p < len(s.src) && (s.src[p] == ' ' || s.src[p] == '\t') {
		p++
	}
	return s.atEnd(p)
}

// isRule tells whether the line at p is a thematic break.
func (s *Scanner) isRule(p int) bool {
	ch := s.src[p]
	if ch != '-' && ch != '*' && ch != '_' {
		return false
	}
	n := 0
	for ; !s.atEnd(p); p++ {
		switch s.src[p] {
		case ch:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// marker returns the width of the list marker at p, 0 where there is none, and whether nothing stands behind it.
func (s *Scanner) marker(p int) (width int, empty bool) {
	q := p
	switch ch := s.src[q]; {
	case ch == '-' || ch == '+' || ch == '*':
		q++
	case isDigit(ch):
		for q < len(s.src) && q-p < 9 && isDigit(s.src[q]) {
			q++
		}
		if q >= len(s.src) || s.src[q] != '.' && s.src[q] != ')' {
			return 0, false
		}
		q++
	default:
		return 0, false
	}
	width = q - p
	for q < len(s.src) && (s.src[q] == ' ' || s.src[q] == '\t') {
		q++
	}
	if s.atEnd(q) {
		return width, true
	}
	if q == p+width {
		return 0, false
	}
	return width, false
}
