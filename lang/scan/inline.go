package scan

import (
	"strings"

	"xmd/lang/diag"
)

// special marks the bytes at which inline scanning stops.
var special = [256]bool{'\n': true, '<': true, '{': true, '`': true, '\\': true, '[': true, ']': true}

// inline scans from pos until something was emitted or the line ends.
func (s *Scanner) inline() {
	src := s.src
	for p := s.pos; ; {
		from := p
		for p < len(src) && !special[src[p]] {
			p++
		}
		if !s.hasText && p > from && !isBlank(src[from:p]) {
			s.hasText = true
		}
		if p >= len(src) {
			s.pos = p
			return
		}
		s.pos = p
		switch src[p] {
		case '\n':
			s.endLine()
			return
		case '<':
			p = s.angle(p)
		case '{':
			p = s.brace(p)
		case '`':
			p = s.backtick(p)
		case '\\':
			p = s.backslash(p)
		case '[', ']':
			p = s.bracket(p)
		}
		if s.head < len(s.queue) {
			return
		}
		s.hasText = true
	}
}

// endLine goes to the next line. A line of nothing but tags ends its paragraph: it will not be there when the text is read.
func (s *Scanner) endLine() {
	if s.hasTag && !s.hasText {
		s.endPara()
	}
	s.pos++
	s.bol = true
}

// angle scans what begins with < and returns where to go on. What is not a component, a closing tag or a comment is text.
func (s *Scanner) angle(p int) int {
	rest := s.src[p:]
	switch {
	case len(rest) < 2:
	case isUpper(rest[1]):
		if n := componentName(rest[1:]); n > 0 {
			s.hasTag = true
			s.tag(p, p+1+n)
		}
	case rest[1] == '/':
		if n := componentName(rest[2:]); n > 0 {
			s.hasTag = true
			s.closeTag(p, p+2+n)
		}
	case rest[1] == '!' && p >= s.linkEnd && strings.HasPrefix(rest, "<!--"):
		s.hasText = true
		s.comment(p)
	}
	if s.pos > p {
		return s.pos
	}
	return p + 1
}

// componentName returns the length of the component name at the start of s, 0 where there is none. A name ends before white
// space, /, > or the end.
func componentName(s string) int {
	i := 0
	for {
		if i >= len(s) || !isUpper(s[i]) {
			return 0
		}
		for i < len(s) && (isLetter(s[i]) || isDigit(s[i])) {
			i++
		}
		if i >= len(s) || s[i] != '.' {
			break
		}
		i++
	}
	if i < len(s) && strings.IndexByte(" \t\r\n/>", s[i]) < 0 {
		return 0
	}
	return i
}

// isTagAt tells whether an opening or closing tag begins at p.
func (s *Scanner) isTagAt(p int) bool {
	if !strings.HasPrefix(s.src[p:], "<") {
		return false
	}
	return componentName(strings.TrimPrefix(s.src[p+1:], "/")) > 0
}

// comment scans <!-- … -->. One that a paragraph's end would cut off in Markdown goes on to its --> all the same.
func (s *Scanner) comment(p int) {
	rest := s.src[p+len("<!--"):]
	for _, short := range []string{">", "->"} {
		if strings.HasPrefix(rest, short) {
			s.emit(Comment, p, p+len("<!--")+len(short))
			return
		}
	}
	n := -1
	if !s.noComment {
		n = strings.Index(rest, "-->")
	}
	if n >= 0 {
		s.emit(Comment, p, p+len("<!--")+n+len("-->"))
		return
	}
	s.noComment = true
	s.unclosedComment(p, Comment, diag.CodeCommentOpen, len("<!--"), `write --> or \<!--`)
}

// author scans {/* … */}.
func (s *Scanner) author(p int) {
	s.hasTag = true
	n := -1
	if !s.noAuthor {
		n = strings.Index(s.src[p+len("{/*"):], "*/}")
	}
	if n >= 0 {
		s.emit(Author, p, p+len("{/*")+n+len("*/}"))
		return
	}
	s.noAuthor = true
	s.unclosedComment(p, Author, diag.CodeAuthorOpen, len("{/*"), `write */} or \{/*`)
}

// unclosedComment reports a comment without end. The rest of its line is taken for it, and scanning goes on behind, so that one pass
// finds what else is wrong.
func (s *Scanner) unclosedComment(p int, k Kind, code string, width int, hint string) {
	span := diag.Span{Start: p, End: p + width}
	s.diags.Add(code, span, "comment is not closed", hint)
	s.open = append(s.open, Open{"comment", span})
	s.emit(k, p, s.lineEndAt(p))
}

// brace scans what begins with {: an author comment or an interpolation; anything else is text.
func (s *Scanner) brace(p int) int {
	if strings.HasPrefix(s.src[p:], "{/*") {
		s.author(p)
		return s.pos
	}
	if n := Path(s.src[p:]); n > 0 {
		s.hasText = true
		s.emit(Interp, p, p+n)
		return s.pos
	}
	return p + 1
}

// Path returns the length of the interpolation {path} at the start of s, braces included, or 0. A path is
// name(.name | [int] | ["key"])*, without blanks.
func Path(s string) int {
	i := nameEnd(s, 1)
	for i > 1 && i < len(s) {
		switch s[i] {
		case '}':
			return i + 1
		case '.':
			n := nameEnd(s, i+1)
			if n == i+1 {
				return 0
			}
			i = n
		case '[':
			n := indexEnd(s, i+1)
			if n == 0 {
				return 0
			}
			i = n
		default:
			return 0
		}
	}
	return 0
}

// nameEnd returns where the name at i ends; i where there is none.
func nameEnd(s string, i int) int {
	if i >= len(s) || !isWord(s[i]) || isDigit(s[i]) {
		return i
	}
	for i < len(s) && isWord(s[i]) {
		i++
	}
	return i
}

// indexEnd returns where int] or "key"] at i ends, 0 where there is none. A key is a JSON string on one line.
func indexEnd(s string, i int) int {
	from := i
	if i < len(s) && s[i] == '"' {
		for i++; i < len(s) && s[i] != '"'; i++ {
			if s[i] == '\n' {
				return 0
			}
			if s[i] == '\\' {
				i++
			}
		}
		i++
	} else {
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	if i == from || i >= len(s) || s[i] != ']' {
		return 0
	}
	return i + 1
}

// backslash scans a run of backslashes. Before something that acts they are read in pairs, and half of them go; before anything
// else they stay, and an odd one keeps a backtick, bracket or comment from acting.
func (s *Scanner) backslash(p int) int {
	s.hasText = true
	q := p
	for q < len(s.src) && s.src[q] == '\\' {
		q++
	}
	odd := (q-p)%2 == 1
	if s.acts(q) {
		s.emit(Escape, p, q)
		if odd { // what follows is text; its first byte is not looked at
			s.pos++
		}
		return s.pos
	}
	if odd && q < len(s.src) && isPunct(s.src[q]) {
		s.escaped = q
		return q + 1
	}
	return q
}

// acts tells whether a tag, an interpolation or an author comment begins at p.
func (s *Scanner) acts(p int) bool {
	if p >= len(s.src) {
		return false
	}
	switch s.src[p] {
	case '<':
		return s.isTagAt(p)
	case '{':
		return strings.HasPrefix(s.src[p:], "{/*") || Path(s.src[p:]) > 0
	}
	return false
}
