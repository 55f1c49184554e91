package format

import (
	"strings"
	"unicode/utf8"

	"xmd/lang/diag"
	"xmd/lang/scan"
)

// width is how many characters the line of a tag may have.
const width = 100

// step is how far a body stands behind its tag, and an attribute that has its own line.
const step = "  "

// tag is an opening or closing tag.
type tag struct {
	diag.Span
	unit   int
	tokens []scan.Token // of an opening tag: its name, its attributes, its end; empty for a closing tag
	quotes int
	line   int  // the line it begins on
	first  bool // nothing but blanks and quote markers stands before it there
}

// scan finds the tags, what inside of them may not be touched, and the frontmatter.
func (s *survey) scan() {
	sc := scan.New(s.src)
	at := 0 // the line that the scan is on
	var open *tag
	for t := sc.Next(); t.Kind != scan.EOF; t = sc.Next() {
		for at+1 < len(s.lines) && s.lines[at+1].start <= t.Start {
			at++
		}
		switch t.Kind {
		case scan.Front:
			s.frontEdit(t)
		case scan.CloseTag:
			s.addTag(t, at)
			s.inside(t, at, s.tags[len(s.tags)-1], false)
		case scan.TagOpen:
			open = s.addTag(t, at)
		}
		if t.Kind >= scan.TagOpen {
			open.tokens = append(open.tokens, t)
			open.End = t.End
			s.inside(t, at, open, t.Kind == scan.String || t.Kind == scan.Expr && strings.Contains(s.src[t.Start:t.End], "`"))
		}
	}
	for el, b := range s.bodies {
		s.lines[s.lineOf(el.Open.Start)].open = b
	}
}

func (s *survey) addTag(t scan.Token, at int) *tag {
	g := &tag{Span: t.Span(), unit: s.units, quotes: int(t.Quotes), line: at}
	_, g.first = s.before(t.Start, g.quotes)
	s.units++
	s.tags = append(s.tags, g)
	return g
}

// inside notes the lines that begin in or at a token of a tag; at is the line that the token begins on.
func (s *survey) inside(t scan.Token, at int, g *tag, fixed bool) {
	for i := at; i < len(s.lines) && s.lines[i].start < t.End; i++ {
		if l := &s.lines[i]; l.start > g.Start && l.start >= t.Start {
			l.tag, l.fixed = g, fixed && l.start > t.Start
		}
	}
}

// lineOf returns the number of the line that an offset stands on.
func (s *survey) lineOf(at int) int {
	lo, hi := 0, len(s.lines)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; s.lines[mid].start <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// frontEdit makes the edit of the frontmatter: its two lines lose the blanks at their ends, and one blank line follows if anything does.
func (s *survey) frontEdit(t scan.Token) {
	block := s.src[t.Start:t.End]
	ended := strings.HasSuffix(block, "\n")
	first := strings.IndexByte(block, '\n') + 1
	last := first + strings.LastIndexByte(strings.TrimRight(block[first:], " \t\r\n"), '\n') + 1
	end := t.End
	for next := end; next < len(s.src); {
		nl := strings.IndexByte(s.src[next:], '\n')
		stop := len(s.src)
		if nl >= 0 {
			stop = next + nl + 1
		}
		if strings.Trim(s.src[next:stop], " \t\r\n") != "" {
			break
		}
		next, end = stop, stop
	}
	text := "---" + lineEnd(block[:first]) + block[first:last] + "---"
	if ended {
		text += lineEnd(block)
	}
	if end < len(s.src) {
		text += s.eol
	}
	s.front = edit{t.Start, end, text}
}

// lineEnd returns the line end that s ends with.
func lineEnd(s string) string {
	if strings.HasSuffix(s, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// attribute is one attribute of a tag, or its end, as it is to be written.
type attribute struct {
	text   string
	broken bool   // a line end stands before it
	space  string // what stands before it
}

// write returns a tag in its form. prefix is what stands before it on its line, if it is first there; shift puts the lines of a piece of the
// source where they belong.
func (s *survey) write(g *tag, prefix string, shift func(from, to int) string) string {
	if len(g.tokens) == 0 {
		name := s.src[g.Start:g.End]
		return name[:strings.IndexAny(name, " \t\r\n>")] + ">"
	}
	name := s.src[g.tokens[0].Start:g.tokens[0].End]
	attrs, end := s.attributes(g, shift)
	joined, several, breaks := name, false, end.broken
	for _, a := range attrs {
		joined += " " + a.text
		several = several || strings.Contains(a.text, "\n")
		breaks = breaks || a.broken
	}
	joined += end.text
	size := utf8.RuneCountInString(joined)
	switch {
	case !g.first && (several || breaks && size > width): // the author's lines stay
		return name + laid(attrs, end)
	case !g.first:
		return joined
	case !several && (len(attrs) < 2 || utf8.RuneCountInString(prefix)+size <= width):
		return joined
	}
	for i := range attrs {
		attrs[i].broken, attrs[i].space = attrs[i].broken || !several, s.eol+prefix+step
	}
	end.broken, end.space = end.broken || !several, s.eol+prefix
	return name + laid(attrs, end)
}

// laid writes attributes and the end of a tag over several lines.
func laid(attrs []attribute, end attribute) string {
	var out strings.Builder
	for _, a := range attrs {
		if !a.broken {
			a.space = " "
		}
		out.WriteString(a.space + a.text)
	}
	if end.broken {
		out.WriteString(end.space)
	}
	out.WriteString(end.text)
	return out.String()
}

// attributes puts the tokens of a tag together to its attributes and its end.
func (s *survey) attributes(g *tag, shift func(from, to int) string) (attrs []attribute, end attribute) {
	var gap, next attribute
	for _, t := range g.tokens[1:] {
		switch t.Kind {
		case scan.Space:
			space := shift(t.Start, t.End)
			gap = attribute{space: space, broken: strings.Contains(space, "\n")}
			continue
		case scan.Name, scan.TagEnd, scan.SelfEnd:
			if next.text != "" {
				attrs = append(attrs, next)
			}
			next = gap
		}
		next.text += s.value(t, shift)
		gap = attribute{}
	}
	return attrs, next
}

// value returns a token of a tag in its form: a string in double quotes if it holds none, an expression without blanks at its ends.
func (s *survey) value(t scan.Token, shift func(from, to int) string) string {
	switch raw := s.src[t.Start:t.End]; {
	case t.Kind == scan.String && raw[0] == '\'' && !strings.Contains(raw, `"`):
		return `"` + raw[1:len(raw)-1] + `"`
	case t.Kind == scan.Expr:
		raw = shift(t.Start, t.End)
		if !strings.Contains(raw, "\n") {
			return "{" + strings.Trim(raw[1:len(raw)-1], blanks) + "}"
		}
		return raw
	default:
		return raw
	}
}
