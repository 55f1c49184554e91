package layout

import (
	"strings"

	"xmd/lang/syntax"
)

// tagLines is what the lines of an element's tags are like. Lines that a tag or comment joins count as one.
type tagLines struct {
	openTags  bool // the opening tag's line holds nothing but tags, author comments and blanks
	openWhole bool // but also an element that is whole on it and may render something
	closeTags bool // the closing tag's line holds nothing but tags, author comments and blanks
	joined    bool // both tags stand on one line
	own       bool // its body begins on a line of its own (set by the layout)
}

// lineState is the line that the survey is in.
type lineState struct {
	n       int  // number, from 0
	text    bool // it holds something but tags, author comments and blanks
	started bool // something but blanks and quote markers was seen
	other   bool // something but closing tags and comments was seen
	whole   bool // it holds an element that may render something
	markers int  // > signs at its start, not yet known to belong to a quote
	opens   []*tagLines
	closes  []*tagLines
}

// survey walks a document in order of its text and notes what lines the tags stand on.
type survey struct {
	els  map[*syntax.Element]*tagLines
	room []tagLines
	line lineState
}

func (s *survey) walk(nodes []syntax.Node) {
	for _, n := range nodes {
		switch n := n.(type) {
		case *syntax.Text:
			s.text(n)
		case *syntax.Element:
			s.element(n)
		case *syntax.Exec:
			s.tag(n.Quotes)
			s.line.other = true
			s.line.whole = s.line.whole || !hasWord(n, "as")
		case *syntax.Comment:
			s.tag(n.Quotes)
		default:
			s.solid()
		}
	}
}

// solid notes something that is no tag.
func (s *survey) solid() { s.line.text, s.line.started, s.line.other = true, true, true }

// tag notes a tag or comment that stands in so many quotes: their markers before it count as blanks.
func (s *survey) tag(quotes int) {
	if s.line.markers > quotes {
		s.line.text = true
	}
	s.line.started = true
}

func (s *survey) text(t *syntax.Text) {
	if t.Inert {
		s.solid()
		if strings.Contains(t.Value, "\n") {
			s.endLine()
			s.solid()
		}
		return
	}
	first := strings.IndexByte(t.Value, '\n')
	if first < 0 {
		s.part(t.Value)
		return
	}
	s.part(t.Value[:first])
	s.endLine()
	s.part(t.Value[strings.LastIndexByte(t.Value, '\n')+1:])
}

// part notes text without a line end.
func (s *survey) part(text string) {
	solid := strings.Trim(text, blanks)
	switch {
	case solid == "":
	case !s.line.started && strings.Trim(solid, "> \t") == "":
		s.line.markers += strings.Count(solid, ">")
	default:
		s.solid()
	}
}

func (s *survey) element(el *syntax.Element) {
	if len(s.room) == 0 {
		s.room = make([]tagLines, 64)
	}
	info := &s.room[0]
	s.room = s.room[1:]
	s.els[el] = info
	s.tag(el.Quotes)
	s.line.other = true
	line := s.line.n
	if el.SelfClosing {
		s.line.whole = s.line.whole || mayRender(el)
		s.line.opens = append(s.line.opens, info)
		return
	}
	if s.line.whole {
		info.openWhole = true
	}
	s.line.opens = append(s.line.opens, info)
	s.walk(el.Body)
	el.CloseFirst = !s.line.text && !s.line.other && s.line.markers <= el.CloseQuotes
	s.tag(el.CloseQuotes)
	if info.joined = line == s.line.n; info.joined || syntax.Captured(el.Name) { // what a captured body makes has no line end of its own
		s.line.whole = s.line.whole || mayRender(el)
	}
	s.line.closes = append(s.line.closes, info)
}

// endLine settles what the tags on the line are told.
func (s *survey) endLine() {
	l := &s.line
	for _, info := range l.opens {
		info.openTags = !l.text
	}
	for _, info := range l.closes {
		info.closeTags = !l.text
	}
	*l = lineState{n: l.n + 1, opens: l.opens[:0], closes: l.closes[:0]}
}

// mayRender tells whether an element may put something where it stands.
func mayRender(el *syntax.Element) bool {
	traits := syntax.Builtins[el.Name]
	if traits.Silent || el.Name == "File" && !el.SelfClosing {
		return false
	}
	if traits.Branch || el.Name == "TempDir" {
		return true
	}
	for _, a := range el.Attrs {
		if a.Name == "as" {
			return false
		}
	}
	return true
}

// hasWord tells whether an exec block has a word.
func hasWord(e *syntax.Exec, name string) bool {
	for _, w := range e.Words {
		if w.Name == name {
			return true
		}
	}
	return false
}
