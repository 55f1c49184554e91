package format

import (
	"strings"

	"xmd/lang/scan"
	"xmd/lang/syntax"
)

const blanks = " \t"

// line is one line of the source.
type line struct {
	start, end int             // without its line end
	owner      *body           // innermost body that is put into form; nil: none
	inside     *syntax.Element // innermost element that it begins in
	part       bool            // it begins inside a tag, a fence or a comment: its indentation is not measured
	fixed      bool            // it begins inside a string, which nothing may touch
	tag        *tag            // it begins inside this tag
	open       *body           // of the element whose opening tag is first on it
	branch     bool            // an Else or Catch of the owner is first on it
}

// body is the body of an element whose tags stand first on their lines, so that its indentation can be put into form.
type body struct {
	el     *syntax.Element
	outer  *body // the one around it
	unit   int
	base   string // blanks before the opening tag
	common string // blanks that the measured lines have in common

	newBase, target string // what stands in their place; set while rendering
}

// survey is a document taken apart for formatting. Units are what can be put into form or left apart from all others.
type survey struct {
	src   string
	eol   string
	start int // where the first line begins
	lines []line
	tags  []*tag
	front edit // of the frontmatter
	units int

	next   int // the first line that is not assigned yet
	bodies map[*syntax.Element]*body
}

func newSurvey(doc *syntax.Document) *survey {
	s := &survey{src: doc.Source.Text, eol: "\n", bodies: map[*syntax.Element]*body{}}
	if strings.HasPrefix(s.src, "\uFEFF") {
		s.start = len("\uFEFF")
	}
	if nl := strings.IndexByte(s.src, '\n'); nl > 0 && s.src[nl-1] == '\r' {
		s.eol = "\r\n"
	}
	for n := 1; n <= doc.Source.Lines(); n++ {
		from, to := doc.Source.LineSpan(n)
		s.lines = append(s.lines, line{start: max(from, s.start), end: max(to, s.start)})
	}
	s.units = 1 // the frontmatter
	s.assign(doc.Body, nil, nil)
	s.advance(len(s.src)+1, line{})
	s.measure()
	s.scan()
	return s
}

// advance says of the lines that begin before an offset what they are like.
func (s *survey) advance(before int, like line) {
	for ; s.next < len(s.lines) && s.lines[s.next].start < before; s.next++ {
		l := &s.lines[s.next]
		l.owner, l.inside, l.part = like.owner, like.inside, like.part
	}
}

// assign says of the lines of a list of nodes whose they are.
func (s *survey) assign(nodes []syntax.Node, owner *body, inside *syntax.Element) {
	own, part := line{owner: owner, inside: inside}, line{owner: owner, inside: inside, part: true}
	for _, n := range nodes {
		switch n := n.(type) {
		case *syntax.Text:
			if n.Block {
				s.advance(n.Pos.Start+1, own)
				s.advance(n.Pos.End, part)
			}
		case *syntax.Exec, *syntax.Fill, *syntax.Comment:
			s.advance(n.Span().Start+1, own)
			s.advance(n.Span().End, part)
		case *syntax.Element:
			s.advance(n.Open.Start+1, own)
			s.advance(n.Open.End, part)
			s.element(n, owner)
			s.advance(n.Close.End, part)
		}
	}
}

// element says of the lines of an element's body whose they are, that of its closing tag included.
func (s *survey) element(el *syntax.Element, owner *body) {
	if el.SelfClosing {
		return
	}
	if b := s.bodyOf(el, owner); b != nil {
		s.bodies[el], owner = b, b
	}
	s.assign(el.Body, owner, el)
	s.advance(el.Close.Start+1, line{owner: owner, inside: el})
}

// bodyOf returns the body of an element if its indentation can be put into form: both tags are first on their lines, nothing
// stands behind the opening tag on its line, and no quote begins between it and the body around it.
func (s *survey) bodyOf(el *syntax.Element, outer *body) *body {
	base, ok := s.before(el.Open.Start, el.Quotes)
	if !ok || el.Quotes != el.CloseQuotes || outer != nil && outer.el.Quotes != el.Quotes {
		return nil
	}
	nl := strings.IndexByte(s.src[el.Open.End:el.Close.Start], '\n')
	if nl < 0 || strings.Trim(s.src[el.Open.End:el.Open.End+nl], " \t\r") != "" {
		return nil
	}
	if _, ok := s.before(el.Close.Start, el.CloseQuotes); !ok {
		return nil
	}
	s.units++
	return &body{el: el, outer: outer, unit: s.units - 1, base: base}
}

// before returns the blanks between the start of a line, behind its quote markers, and an offset on it; not ok if there is more.
func (s *survey) before(at, quotes int) (indent string, ok bool) {
	indent = scan.Unquote(s.src[s.lines[s.lineOf(at)].start:at], quotes)
	return indent, strings.Trim(indent, blanks) == ""
}

// split cuts a line into the quote markers of a body, its blanks and the rest.
func (s *survey) split(l *line, quotes int) (marks, indent, rest string) {
	text := s.src[l.start:l.end]
	rest = scan.Unquote(text, quotes)
	marks = text[:len(text)-len(rest)]
	trimmed := strings.TrimLeft(rest, blanks)
	return marks, rest[:len(rest)-len(trimmed)], trimmed
}

// measure finds what the lines of each body have in common, as layout does: blank lines, lines inside of fences, comments, tags and inner
// elements, and those of Else and Catch are left out; the latter count where there is nothing else.
func (s *survey) measure() {
	type common struct {
		indent string
		any    bool
	}
	lines, branches := map[*body]common{}, map[*body]common{}
	add := func(m map[*body]common, b *body, indent string) {
		if c := m[b]; c.any {
			indent = c.indent[:commonPrefix(c.indent, indent)]
		}
		m[b] = common{indent, true}
	}
	for i := range s.lines {
		l := &s.lines[i]
		if l.owner == nil || l.part || l.inside != l.owner.el {
			continue
		}
		_, indent, rest := s.split(l, l.owner.el.Quotes)
		switch first := l.end - len(rest); {
		case rest == "", first == l.owner.el.Close.Start, onlyComment(rest):
		case isBranch(rest):
			l.branch = true
			add(branches, l.owner, indent)
		default:
			add(lines, l.owner, indent)
		}
	}
	for _, b := range s.bodies {
		if c := lines[b]; c.any {
			b.common = c.indent
		} else {
			b.common = branches[b].indent
		}
	}
}

// onlyComment tells whether a line begins with an author comment behind which nothing stands; one that goes on on other lines
// counts as such, and what is made of it is tried anyway.
func onlyComment(rest string) bool {
	if !strings.HasPrefix(rest, "{/*") {
		return false
	}
	end := strings.Index(rest, "*/}")
	return end < 0 || strings.Trim(rest[end+len("*/}"):], blanks) == ""
}

// isBranch tells whether a line begins with the tag of Else or Catch.
func isBranch(rest string) bool {
	for _, name := range []string{"<Else", "<Catch"} {
		if after, ok := strings.CutPrefix(rest, name); ok && (after == "" || strings.IndexByte(" \t/>", after[0]) >= 0) {
			return true
		}
	}
	return false
}

// commonPrefix returns how many bytes a and b begin with alike.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
