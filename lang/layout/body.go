package layout

import (
	"strings"

	"xmd/lang/syntax"
)

// body lays out one body, line by line. A line here is what stands between two line ends of the body's own text: an element
// on it may span many lines of the source.
type body struct {
	*layouter
	el   *syntax.Element // nil: the document
	info *tagLines
	root bool
	own  bool // it begins on a line of its own: its first line, behind the opening tag, goes
	move *move

	out         []syntax.Node
	line        []syntax.Node
	atLineStart bool // the line begins where one of the source does
	first       bool // it is the one behind the opening tag
	text        bool // it holds something but elements, comments and blanks
	elements    bool // it holds an element or exec block
	comments    bool
}

func (b *body) layout(nodes []syntax.Node) []syntax.Node {
	b.first = !b.root
	b.out = make([]syntax.Node, 0, len(nodes))
	for _, n := range nodes {
		switch n := n.(type) {
		case *syntax.Text:
			b.addText(n)
			continue
		case *syntax.Comment:
			b.comments = true
		case *syntax.Element:
			b.elements = true
			b.element(n, b.move)
		case *syntax.Exec:
			b.elements = true
		case *syntax.Fill:
			b.text = true
			b.fill(n)
		default:
			b.text = true
		}
		b.line = append(b.line, n)
	}
	b.lastLine()
	return b.out
}

// fill moves the lines of a filled fence.
func (b *body) fill(f *syntax.Fill) {
	for _, n := range f.Body {
		if t, ok := n.(*syntax.Text); ok {
			t.Value = b.move.text(t.Value, b.bol(t.Pos.Start))
		}
	}
	if strings.HasSuffix(f.Open, "\n") {
		f.Close = b.move.text(f.Close, true)
	}
}

// addText adds a text, which may end lines.
func (b *body) addText(t *syntax.Text) {
	bol := b.bol(t.Pos.Start)
	if t.Inert {
		t.Value = b.move.text(t.Value, bol)
		b.text = true
		b.line = append(b.line, t)
		return
	}
	first := strings.IndexByte(t.Value, '\n')
	if first < 0 {
		b.addPart(t, t.Value, bol)
		return
	}
	last := strings.LastIndexByte(t.Value, '\n')
	if len(b.line) == 0 && !(b.first && b.own) && strings.Trim(t.Value[:first], blanks) != "" || b.plain() {
		first = -1 // the whole text up to its last line end goes as one
	} else {
		eol := lineEnd(t.Value)
		b.addPart(t, t.Value[:eol], bol)
		b.endLine(t, t.Value[eol:first+1])
		bol = true
	}
	if first < last {
		b.flush()
		b.put(t, b.move.text(t.Value[first+1:last+1], bol))
	}
	b.begin()
	b.addPart(t, t.Value[last+1:], true)
}

// plain tells whether the line so far is only text, so that its end needs no thought.
func (b *body) plain() bool {
	return b.text && !b.elements && !b.comments && !(b.first && b.own)
}

// begin starts a new line.
func (b *body) begin() {
	b.line = b.line[:0]
	b.atLineStart, b.first, b.text, b.elements, b.comments = true, false, false, false, false
}

// addPart adds text without a line end to the line.
func (b *body) addPart(t *syntax.Text, value string, bol bool) {
	if value == "" {
		return
	}
	if solid := strings.Trim(value, blanks); solid != "" && (!bol || strings.Trim(solid, "> \t") != "") {
		b.text = true
	}
	b.line = append(b.line, b.newText(t.Pos, b.move.text(value, bol)))
}

// put puts out text.
func (b *body) put(t *syntax.Text, value string) {
	if value == "" {
		return
	}
	b.out = append(b.out, b.newText(t.Pos, value))
}

// flush puts out the line as it stands, without comments.
func (b *body) flush() {
	for _, n := range b.line {
		if _, ok := n.(*syntax.Comment); !ok {
			b.out = append(b.out, n)
		}
	}
	b.line = b.line[:0]
}

// endLine ends the line with a line end that stands in t.
func (b *body) endLine(t *syntax.Text, eol string) {
	switch {
	case b.first && b.own:
		b.dropBlanks()
		b.flush()
	case b.whole() && (b.atLineStart || b.first && b.info.openTags):
		b.wholeLine(eol)
	case b.text && b.endsOwnLine():
		b.trimTail()
		b.addLine("", eol)
	default:
		b.flush()
		b.put(t, eol)
	}
}

// lastLine ends the body where its closing tag stands, or the document.
func (b *body) lastLine() {
	switch closes := !b.root && b.info.closeTags; {
	case b.first && b.own: // no line end came: nothing to take away
		b.flush()
	case b.atLineStart && (closes || b.root) && b.whole():
		b.wholeLine("")
	case b.atLineStart && closes && !b.text, b.closesFile():
		b.dropBlanks()
		b.flush()
	default:
		b.flush()
	}
}

// closesFile tells whether the line is only what stands before the closing tag of a File on its line.
func (b *body) closesFile() bool {
	return b.el != nil && b.el.CloseFirst && b.atLineStart && !b.text && !b.elements
}

// whole tells whether the line holds whole elements or comments and nothing else. Quote markers before the first count as blanks.
func (b *body) whole() bool {
	if b.text || !b.elements && !b.comments {
		return false
	}
	markers := 0
	for _, n := range b.line {
		switch n := n.(type) {
		case *syntax.Text:
			markers += strings.Count(n.Value, ">")
		case *syntax.Element:
			return markers <= n.Quotes
		case *syntax.Exec:
			return markers <= n.Quotes
		case *syntax.Comment:
			return markers <= n.Quotes
		}
	}
	return false
}

// dropBlanks takes the blanks out of the line.
func (b *body) dropBlanks() {
	kept := b.line[:0]
	for _, n := range b.line {
		if _, ok := n.(*syntax.Text); !ok {
			kept = append(kept, n)
		}
	}
	b.line = kept
}

// trimTail takes blanks and comments off the end of the line.
func (b *body) trimTail() {
	for i := len(b.line) - 1; i >= 0; i-- {
		switch n := b.line[i].(type) {
		case *syntax.Comment:
		case *syntax.Text:
			if n.Inert || strings.Trim(n.Value, blanks) != "" {
				return
			}
		default:
			return
		}
		b.line = b.line[:i]
	}
}

// endsOwnLine tells whether the last element of the line ends on a line of the source that holds only tags, or is an exec block.
func (b *body) endsOwnLine() bool {
	for i := len(b.line) - 1; i >= 0; i-- {
		switch n := b.line[i].(type) {
		case *syntax.Comment:
		case *syntax.Text:
			if n.Inert || strings.Trim(n.Value, blanks) != "" {
				return false
			}
		case *syntax.Exec:
			return true
		case *syntax.Element:
			info := b.els[n]
			return !n.SelfClosing && !info.joined && info.closeTags
		default:
			return false
		}
	}
	return false
}

// wholeLine puts out a line of whole elements.
func (b *body) wholeLine(eol string) {
	b.trimTail()
	indent := ""
	if len(b.line) > 0 && b.atLineStart {
		if t, ok := b.line[0].(*syntax.Text); ok {
			indent = t.Value
			b.line = b.line[1:]
		}
	}
	b.addLine(indent, eol)
}

// addLine puts out the line as a syntax.Line. Else and Catch are put out themselves, with a line inside.
func (b *body) addLine(indent, eol string) {
	var inner []syntax.Node
	for _, n := range b.line {
		switch n := n.(type) {
		case *syntax.Comment:
			continue
		case *syntax.Text:
			n.Gap = !b.text
		case *syntax.Element:
			if syntax.Builtins[n.Name].Branch {
				b.putLine(indent, eol, inner)
				inner = nil
				b.branch(n, indent, eol)
				continue
			}
		}
		inner = append(inner, n)
	}
	b.putLine(indent, eol, inner)
	b.line = b.line[:0]
}

// branch puts out an Else or Catch that has its line for itself: the line is inside, so that nothing stays where it is not rendered.
func (b *body) branch(el *syntax.Element, indent, eol string) {
	if len(el.Body) > 0 {
		if b.els[el].own {
			indent = ""
		}
		el.Body = []syntax.Node{b.newLine(indent, eol, el.Body)}
	}
	b.out = append(b.out, el)
}

func (b *body) putLine(indent, eol string, nodes []syntax.Node) {
	if len(nodes) > 0 {
		b.out = append(b.out, b.newLine(indent, eol, nodes))
	}
}

// newLine makes a line. It has no indent where the first thing that may render brings its own. What stands in place of a Content's
// children begins behind the indent, as they do.
func (b *body) newLine(indent, eol string, nodes []syntax.Node) *syntax.Line {
	line := &syntax.Line{Indent: indent, EOL: eol, Body: nodes}
	line.Pos = syntax.Span{Start: nodes[0].Span().Start, End: nodes[len(nodes)-1].Span().End}
	if indent == "" {
		return line
	}
	switch first, own := b.firstRendered(nodes); {
	case own:
		line.Indent = ""
	case first != nil && first.Name == "Content" && b.els[first].own:
		cutIndent(first.Body, indent)
	}
	return line
}

// firstRendered finds what renders first, and tells whether that is a body that begins on a line of its own, with its own
// indent. The element is nil where it is none, or nothing may render.
func (b *body) firstRendered(nodes []syntax.Node) (first *syntax.Element, own bool) {
	el, own, _ := b.search(nodes)
	return el, own
}

func (b *body) search(nodes []syntax.Node) (el *syntax.Element, own, found bool) {
	for _, n := range nodes {
		switch n := n.(type) {
		case *syntax.Text:
			found = !n.Gap && strings.Trim(n.Value, blanks) != ""
		case *syntax.Comment:
		case *syntax.Exec:
			found = !hasWord(n, "as")
		case *syntax.Line:
			el, own, found = b.search(n.Body)
		case *syntax.Element:
			el, own, found = b.searchElement(n)
		default:
			found = true
		}
		if found {
			return el, own, true
		}
	}
	return nil, false, false
}

func (b *body) searchElement(el *syntax.Element) (_ *syntax.Element, own, found bool) {
	switch {
	case !mayRender(el) || syntax.Builtins[el.Name].Branch:
		return nil, false, false
	case el.SelfClosing || syntax.Captured(el.Name) || el.Name == "Content":
		return el, false, true
	case b.els[el].own:
		return nil, true, true
	}
	return b.search(el.Body)
}

// cutIndent takes the indent off the first line of a body.
func cutIndent(nodes []syntax.Node, indent string) {
	if len(nodes) == 0 {
		return
	}
	switch n := nodes[0].(type) {
	case *syntax.Text:
		n.Value = strings.TrimPrefix(n.Value, indent)
	case *syntax.Line:
		n.Indent = strings.TrimPrefix(n.Indent, indent)
	}
}
