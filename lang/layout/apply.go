package layout

import (
	"strings"

	"xmd/lang/syntax"
)

// Apply lays out a document as Parse made it: its Body and those of all elements are replaced by what is rendered. Text loses the lines
// and indents that go, lines of whole elements become syntax.Line, author comments are gone. It must be called once, and not for a
// document with errors: a tree that is not whole has no white space to speak of.
func Apply(doc *syntax.Document) {
	s := survey{els: map[*syntax.Element]*tagLines{}}
	s.walk(doc.Body)
	s.endLine()
	l := &layouter{src: doc.Source.Text, els: s.els}
	if strings.HasPrefix(l.src, "\uFEFF") {
		l.start = len("\uFEFF")
	}
	b := body{layouter: l, root: true, atLineStart: true}
	doc.Body = b.layout(doc.Body)
}

// layouter holds what all bodies of one document share.
type layouter struct {
	src   string
	els   map[*syntax.Element]*tagLines
	start int           // where the first line begins
	texts []syntax.Text // room for text nodes
}

// newText makes a text node.
func (l *layouter) newText(pos syntax.Span, value string) *syntax.Text {
	if len(l.texts) == 0 {
		l.texts = make([]syntax.Text, 64)
	}
	t := &l.texts[0]
	l.texts = l.texts[1:]
	t.Pos, t.Value = pos, value
	return t
}

// element lays out the body of an element that stands in a body which moves as outer says.
func (l *layouter) element(el *syntax.Element, outer *move) {
	if el.SelfClosing || len(el.Body) == 0 {
		return
	}
	info := l.els[el]
	b := body{layouter: l, el: el, info: info, move: outer}
	captured := syntax.Captured(el.Name)
	if captured || info.openTags && !info.openWhole {
		b.own = startsOwnLine(el.Body)
	}
	if b.own {
		info.own = true
		b.move = l.moveOf(el, outer)
	}
	el.Body = b.layout(el.Body)
}

// startsOwnLine tells whether a body begins on a line of its own: nothing that may render stands before its first line end.
func startsOwnLine(nodes []syntax.Node) bool {
	for _, n := range nodes {
		switch n := n.(type) {
		case *syntax.Comment:
		case *syntax.Text:
			if n.Inert {
				return false
			}
			if i := strings.IndexByte(n.Value, '\n'); i >= 0 {
				return strings.Trim(n.Value[:i], blanks) == ""
			}
			if strings.Trim(n.Value, blanks) != "" {
				return false
			}
		case *syntax.Element:
			if mayRender(n) {
				return false
			}
		default:
			return false
		}
	}
	return false
}
