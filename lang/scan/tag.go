package scan

import (
	"strings"

	"xmd/lang/diag"
)

// tag scans an opening tag from its < at p; its name ends at nameEnd. It ends behind > or />, or where it breaks off: at a
// blank line, at another <, or behind a string or brace that is not closed. Then no TagEnd comes, and the reason is in the diagnostics.
func (s *Scanner) tag(p, nameEnd int) {
	s.emit(TagOpen, p, nameEnd)
	for afterEq := false; ; {
		next, more := s.tagSpace(s.pos)
		gap := next > s.pos
		if gap {
			s.emit(Space, s.pos, next)
		}
		if !more || s.src[next] == '<' {
			s.unfinished(p, nameEnd)
			return
		}
		switch ch := s.src[next]; {
		case ch == '>':
			s.emit(TagEnd, next, next+1)
			return
		case ch == '/' && strings.HasPrefix(s.src[next:], "/>"):
			s.emit(SelfEnd, next, next+2)
			return
		case ch == '=' && !afterEq:
			s.emit(Eq, next, next+1)
			afterEq = true
			continue
		case ch == '"' || ch == '\'':
			if !s.string(next) {
				return
			}
		case ch == '{':
			if !s.expr(next) {
				return
			}
		case afterEq && !gap:
			s.emit(Bare, next, s.wordEnd(next))
		case isLetter(ch) || ch == '_':
			s.emit(Name, next, s.attrNameEnd(next))
		default:
			s.emit(Bad, next, s.badEnd(next))
		}
		afterEq = false
	}
}

// unfinished reports a tag without its end.
func (s *Scanner) unfinished(p, nameEnd int) {
	span := diag.Span{Start: p, End: nameEnd}
	if s.pos >= len(s.src) {
		s.open = append(s.open, Open{"tag", span})
	}
	name := s.src[p:nameEnd]
	s.diags.Add(diag.CodeTagUnfinished, span, name+" is not finished: its > or /> is missing",
		"end the tag with > or />; to write it as text, write \\"+name+" or use backticks; HTML tags are lower-case")
}

// tagSpace returns the offset behind blanks inside a tag, and whether the tag goes on there. A blank line ends it. The quote markers of
// continuation lines are blanks.
func (s *Scanner) tagSpace(p int) (int, bool) {
	for p < len(s.src) {
		switch s.src[p] {
		case ' ', '\t', '\r':
			p++
		case '\n':
			content := s.lineContent(p + 1)
			if s.blankFrom(content) {
				return p, false
			}
			p = content
		default:
			return p, true
		}
	}
	return p, false
}

// lineContent returns the offset behind the markers of the open quotes at the start of a line, as many as are there.
func (s *Scanner) lineContent(line int) int {
	for n := s.quotes; n > 0; n-- {
		p := line
		for p < len(s.src) && (s.src[p] == ' ' || s.src[p] == '\t') {
			p++
		}
		if p >= len(s.src) || s.src[p] != '>' {
			break
		}
		if line = p + 1; line < len(s.src) && s.src[line] == ' ' {
			line++
		}
	}
	return line
}

// blankFrom tells whether nothing but blanks follows on the line; at the end of the text there is no line.
func (s *Scanner) blankFrom(p int) bool {
	if p >= len(s.src) {
		return false
	}
	for p < len(s.src) && (s.src[p] == ' ' || s.src[p] == '\t' || s.src[p] == '\r') {
		p++
	}
	return p < len(s.src) && s.src[p] == '\n'
}

// string scans an attribute's string. It may hold line ends, and ends at a blank line as unclosed.
func (s *Scanner) string(p int) bool {
	stop := s.src[p : p+1]
	for line := p + 1; ; {
		end := s.lineAfter(line)
		if n := strings.Index(s.src[line:end], stop); n >= 0 {
			s.emit(String, p, line+n+1)
			return true
		}
		line = s.lineContent(end)
		if end < len(s.src) && !s.blankFrom(line) {
			continue
		}
		span := diag.Span{Start: p, End: p + 1}
		if end >= len(s.src) {
			s.open = append(s.open, Open{"string", span})
		}
		s.diags.Add(diag.CodeStringOpen, span, "string is not closed", "end it with "+stop+"; a string cannot hold a blank line")
		s.emit(Bad, p, s.lineEndAt(p))
		return false
	}
}

// afterBudget is how far a search for a closing brace looks once too many were fruitless.
const afterBudget = 1 << 10

// expr scans {…} in a tag, to the brace that balances the first; strings are skipped.
func (s *Scanner) expr(p int) bool {
	limit := len(s.src)
	if s.exprBudget <= 0 {
		limit = min(limit, p+afterBudget)
	}
	if end := exprEnd(s.src[:limit], p); end > 0 {
		s.emit(Expr, p, end)
		return true
	}
	s.exprBudget -= limit - p
	span := diag.Span{Start: p, End: p + 1}
	s.open = append(s.open, Open{"brace", span})
	s.diags.Add(diag.CodeBraceOpen, span, "brace is not closed", "end the expression with }")
	s.emit(Bad, p, s.lineEndAt(p))
	return false
}

// exprEnd returns the offset behind the brace that balances the one at p, or 0. A quote that is not closed on its line
// opens no string: the expression's own compiler says what is wrong with it.
func exprEnd(src string, p int) int {
	depth := 0
	var plain [2]int // ' and " before these offsets open no string
	for ; p < len(src); p++ {
		switch c := src[p]; c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return p + 1
			}
		case '`':
			if n := strings.IndexByte(src[p+1:], '`'); n >= 0 {
				p += n + 1
			}
		case '\'', '"':
			kind := 0
			if c == '"' {
				kind = 1
			}
			if p < plain[kind] {
				continue
			}
			end, closed := quotedEnd(src, p)
			if closed {
				p = end
			} else {
				plain[kind] = end
			}
		}
	}
	return 0
}

// quotedEnd returns the offset of the quote that closes the one at p, or the end of its line and false.
func quotedEnd(src string, p int) (int, bool) {
	q := src[p]
	for p++; p < len(src); p++ {
		switch src[p] {
		case q:
			return p, true
		case '\n':
			return p, false
		case '\\':
			p++
		}
	}
	return len(src), false
}

// wordEnd returns the end of a value without quotes.
func (s *Scanner) wordEnd(p int) int {
	from := p
	for p < len(s.src) {
		c := s.src[p]
		if c <= ' ' || c == '>' || c == '<' || c == '/' && p+1 < len(s.src) && s.src[p+1] == '>' {
			break
		}
		p++
	}
	return max(p, from+1)
}

// attrNameEnd returns the end of an attribute's name.
func (s *Scanner) attrNameEnd(p int) int {
	for p < len(s.src) && (isWord(s.src[p]) || strings.IndexByte("-.:", s.src[p]) >= 0) {
		p++
	}
	return p
}

// badEnd returns the end of what is no part of a tag.
func (s *Scanner) badEnd(p int) int {
	for p++; p < len(s.src); p++ {
		c := s.src[p]
		if c <= ' ' || isWord(c) || strings.IndexByte(`>/<="'{`, c) >= 0 {
			break
		}
	}
	return p
}

// closeTag scans a closing tag from its < at p; its name ends at nameEnd.
func (s *Scanner) closeTag(p, nameEnd int) {
	next, more := s.tagSpace(nameEnd)
	if more && s.src[next] == '>' {
		s.emit(CloseTag, p, next+1)
		return
	}
	end := nameEnd
	line := s.src[nameEnd:s.lineEndAt(nameEnd)]
	if n := strings.IndexByte(line, '>'); n >= 0 && strings.IndexByte(line[:n], '<') < 0 {
		end = nameEnd + n + 1
	}
	if !more && next >= len(s.src) {
		s.open = append(s.open, Open{"tag", diag.Span{Start: p, End: nameEnd}})
	}
	name := s.src[p:nameEnd]
	s.diags.Add(diag.CodeCloserBad, diag.Span{Start: p, End: end}, "a closing tag is "+name+"> and nothing else", "to write it as text, write \\"+name+" or use backticks")
	s.emit(CloseTag, p, end)
}
