package scan

// bracket is a [ that may open a link's text, or ![ an image's.
type bracket struct{ image bool }

// bracket scans [ and ]. Links matter for one thing: what stands in a link's target is no code span and no comment.
func (s *Scanner) bracket(p int) int {
	if p < s.linkEnd {
		return p + 1
	}
	if s.src[p] == '[' {
		s.brackets = append(s.brackets, bracket{image: p > 0 && s.src[p-1] == '!' && s.escaped != p-1})
		return p + 1
	}
	top := len(s.brackets) - 1
	if top < 0 {
		return p + 1
	}
	image, active := s.brackets[top].image, top >= s.inactive
	s.brackets = s.brackets[:top]
	s.inactive = min(s.inactive, top)
	if !image && !active || p+1 >= len(s.src) || s.src[p+1] != '(' {
		return p + 1
	}
	if end := s.target(p + 2); end > 0 {
		s.linkEnd = end
		if !image { // a link holds no other link
			s.inactive = top
		}
	}
	return p + 1
}

// maxParens is how deep parentheses may be nested in a link's destination.
const maxParens = 32

// target returns the offset behind the link target whose ( stands before p, or 0: destination, title and ). It is as lenient as Markdown
// parsers in use are: parentheses of a destination need not balance before a blank, and a title may stand right behind <…>.
func (s *Scanner) target(p int) int {
	dest, ok := s.blanks(p)
	if !ok {
		return 0
	}
	p = s.destination(dest)
	if p < 0 {
		return 0
	}
	if p, ok = s.blanks(p); !ok {
		return 0
	}
	if end := s.title(p); end > 0 && p > dest {
		if p, ok = s.blanks(end); !ok {
			return 0
		}
	}
	if s.src[p] != ')' {
		return 0
	}
	return p + 1
}

// blanks returns the offset behind blanks and at most one line end that the paragraph goes on behind.
func (s *Scanner) blanks(p int) (int, bool) {
	for lines := 0; p < len(s.src); {
		switch s.src[p] {
		case ' ', '\t', '\r', '\v', '\f':
			p++
		case '\n':
			next, ok := s.nextLine(p)
			if !ok || lines > 0 {
				return p, false
			}
			p, lines = next, lines+1
		default:
			return p, true
		}
	}
	return p, false
}

// nextLine returns where the paragraph's content goes on behind the line end at p.
func (s *Scanner) nextLine(p int) (int, bool) {
	if !s.multi {
		return p, false
	}
	return s.continuation(p + 1)
}

// destination returns the offset behind the link destination at p, which may be empty, or -1.
func (s *Scanner) destination(p int) int {
	if s.src[p] == '<' {
		return s.angled(p)
	}
	for depth := 0; p < len(s.src); p++ {
		switch c := s.src[p]; {
		case c == '(':
			if depth++; depth > maxParens {
				return -1
			}
		case c == ')':
			if depth--; depth < 0 {
				return p
			}
		case c == '\\' && p+1 < len(s.src) && isPunct(s.src[p+1]):
			p++
		case c == ' ' || c >= '\t' && c <= '\r':
			return p
		}
	}
	return -1
}

// angled returns the offset behind the destination <…> at p, or -1. That nothing closes it on this line is remembered.
func (s *Scanner) angled(p int) int {
	if p < s.noAngle {
		return -1
	}
	for p++; p < len(s.src) && s.src[p] != '\n'; p++ {
		switch s.src[p] {
		case '>':
			return p + 1
		case '\\':
			if p+1 < len(s.src) && isPunct(s.src[p+1]) {
				p++
			}
		}
	}
	s.noAngle = p
	return -1
}

// title returns the offset behind the link title at p, or 0.
func (s *Scanner) title(p int) int {
	open := s.src[p]
	end := open
	switch open {
	case '"', '\'':
	case '(':
		end = ')'
	default:
		return 0
	}
	for p++; p < len(s.src); p++ {
		switch c := s.src[p]; {
		case c == end:
			return p + 1
		case c == '(' && open == '(':
			return 0
		case c == '\\' && p+1 < len(s.src) && isPunct(s.src[p+1]):
			p++
		case c == '\n':
			next, ok := s.nextLine(p)
			if !ok {
				return 0
			}
			p = next - 1
		}
	}
	return 0
}
