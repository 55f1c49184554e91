package target

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/syntax"
)

// heading is one heading of a document.
type heading struct {
	level      int // 1 to 6
	label      string
	start, end int       // its lines, with the last line end
	text       diag.Span // what the label is made of
	parent     *heading  // nil: none
	title      bool
}

// outline finds the headings of a document as syntax.Parse made it. ATX headings begin in the first column; setext headings are
// paragraphs whose first line does.
func outline(doc *syntax.Document) []*heading {
	if len(doc.Body) == 0 {
		return nil
	}
	f := &finder{doc: doc, src: doc.Source.Text, nodes: doc.Body, para: -1}
	for n := 1; n <= doc.Source.Lines(); n++ {
		start, end := doc.Source.LineSpan(n)
		if end >= doc.Body[0].Span().Start {
			f.line(max(start, doc.Body[0].Span().Start), end)
		}
	}
	nest(f.found)
	for _, h := range f.found {
		h.label = label(doc, h.text)
	}
	return f.found
}

// finder goes through the lines of a document.
type finder struct {
	doc   *syntax.Document
	src   string
	nodes []syntax.Node // those that the lines to come may stand in
	found []*heading

	para  int  // start of the paragraph that the line before belongs to, -1: none
	plain bool // it stands at the left margin and in no quote or list
}

// line looks at the line src[start:end].
func (f *finder) line(start, end int) {
	inside, block := f.at(start)
	text := f.src[start:end]
	trimmed := strings.TrimRight(text, " \t")
	level := atxLevel(text)
	inPara := f.para >= 0
	switch {
	case inside || block || trimmed == "":
		f.para = -1
	case level > 0:
		f.add(level, start, start, end, atxText(f.src, start+level, end))
	case inPara && f.plain && underline(trimmed) > 0:
		f.add(underline(trimmed), f.para, start, end, diag.Span{Start: f.para, End: start})
	case isRule(text):
		f.para = -1
	case opens(text):
		f.para, f.plain = start, false
	case !inPara:
		f.para, f.plain = start, text[0] != ' ' && text[0] != '\t'
	}
}

// add notes a heading that begins at start and whose last line is src[last:end].
func (f *finder) add(level, start, last, end int, text diag.Span) {
	if nl := strings.IndexByte(f.src[end:], '\n'); nl >= 0 {
		end += nl + 1
	}
	f.found = append(f.found, &heading{level: level, start: start, end: max(end, last), text: text})
	f.para = -1
}

// at tells whether the line that begins at an offset does so inside of something that is no part of a paragraph (an element, a comment, a
// fence), or begins with it.
func (f *finder) at(start int) (inside, block bool) {
	for len(f.nodes) > 1 && f.nodes[1].Span().Start <= start {
		f.nodes = f.nodes[1:]
	}
	first := start + len(f.src[start:]) - len(strings.TrimLeft(f.src[start:], " \t"))
	for _, n := range f.nodes[:min(2, len(f.nodes))] {
		if isInline(n) {
			continue
		}
		s := n.Span()
		inside = inside || s.Start < start && start < s.End
		block = block || s.Start == first
	}
	return inside, block
}

// isInline tells whether a node is part of a paragraph.
func isInline(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Text:
		return !n.Block
	case *syntax.Interp:
		return true
	}
	return false
}

// atxLevel returns the level of the ATX heading that a line is, or 0.
func atxLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n > 6 || n < len(line) && line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}

// atxText returns what stands in an ATX heading: without blanks and # signs at its end.
func atxText(src string, start, end int) diag.Span {
	text := strings.TrimRight(src[start:end], " \t")
	if cut := strings.TrimRight(text, "#"); cut != strings.TrimRight(cut, " \t") || cut == "" {
		text = cut
	}
	return diag.Span{Start: start, End: start + len(text)}
}

// underline returns the level of the setext heading whose last line is line, or 0.
func underline(line string) int {
	mark := strings.TrimLeft(line, " ")
	switch {
	case len(line)-len(mark) > 3:
	case mark == strings.Repeat("=", len(mark)):
		return 1
	case mark == strings.Repeat("-", len(mark)):
		return 2
	}
	return 0
}

// isRule tells whether a line is a thematic break.
func isRule(line string) bool {
	solid := strings.NewReplacer(" ", "", "\t", "").Replace(line)
	return len(solid) >= 3 && strings.IndexByte("-*_", solid[0]) >= 0 && solid == strings.Repeat(solid[:1], len(solid))
}

// opens tells whether a quote or list item begins with a line.
func opens(line string) bool {
	line = strings.TrimLeft(line, " \t")
	digits := line[:len(line)-len(strings.TrimLeft(line, "0123456789"))]
	marker := 1
	switch {
	case line[0] == '>':
		return true
	case digits != "" && len(digits) < len(line):
		if marker += len(digits); line[len(digits)] != '.' && line[len(digits)] != ')' {
			return false
		}
	case strings.IndexByte("-+*", line[0]) < 0:
		return false
	}
	return marker == len(line) || line[marker] == ' ' || line[marker] == '\t'
}

// nest finds the heading around each, and the title.
func nest(list []*heading) {
	var open []*heading
	var first *heading
	lone := true
	for _, h := range list {
		for len(open) > 0 && open[len(open)-1].level >= h.level {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			h.parent = open[len(open)-1]
		}
		open = append(open, h)
		if h.level == 1 {
			lone, first = first == nil, h
		}
	}
	if first != nil && lone {
		first.title = true
	}
}

// path returns the labels of a heading, that of the outermost first.
func (h *heading) path() []string {
	if h == nil || h.title {
		return nil
	}
	return append(h.parent.path(), h.label)
}
