package format

import (
	"cmp"
	"slices"
	"strings"
)

// edit puts a text in place of src[start:end].
type edit struct {
	start, end int
	text       string
}

// renderer writes the text once, with the units that are on.
type renderer struct {
	*survey
	on    []bool
	lines []edit // by line: its indentation; start is -1 where it stays
}

// render returns the text with the edits of the units that are on.
func (s *survey) render(on []bool) string {
	r := &renderer{survey: s, on: on, lines: make([]edit, len(s.lines))}
	for i := range s.lines {
		r.lines[i] = r.indent(&s.lines[i])
	}
	var edits []edit
	if on[0] && s.front.end > s.front.start {
		edits = append(edits, s.front)
	}
	for i, e := range r.lines {
		if l := &s.lines[i]; e.start >= 0 && !(l.tag != nil && on[l.tag.unit]) {
			edits = append(edits, e)
		}
	}
	for _, g := range s.tags {
		if on[g.unit] {
			edits = append(edits, edit{g.Start, g.End, s.write(g, r.prefix(g), r.shift)})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	return apply(s.src, 0, len(s.src), edits)
}

// apply returns src[from:to] with edits, which are in order and do not overlap.
func apply(src string, from, to int, edits []edit) string {
	var out strings.Builder
	out.Grow(to - from)
	for _, e := range edits {
		out.WriteString(src[from:e.start])
		out.WriteString(e.text)
		from = e.end
	}
	out.WriteString(src[from:to])
	return out.String()
}

// indent works out where a line begins, which depends on the lines before it.
func (r *renderer) indent(l *line) edit {
	quotes := 0
	if l.owner != nil {
		quotes = l.owner.el.Quotes
	} else if l.open != nil {
		quotes = l.open.el.Quotes
	}
	b := l.owner
	for b != nil && !r.on[b.unit] {
		b = b.outer
	}
	marks, old, rest := r.split(l, quotes)
	indent := old
	switch {
	case b == nil || l.fixed:
	case l.end-len(rest) == b.el.Close.Start:
		indent = b.newBase
	case l.branch && b == l.owner && old == b.base:
		indent = b.newBase
	case l.branch && b == l.owner:
		indent = b.target
	default:
		if indent = old[commonPrefix(old, b.common):]; rest != "" || indent != "" {
			indent = b.target + indent
		}
	}
	if l.open != nil {
		l.open.enter(indent)
	}
	if indent == old {
		return edit{start: -1}
	}
	at := l.start + len(marks)
	if strings.HasSuffix(marks, ">") && indent != "" {
		indent = " " + indent // the first blank belongs to the marker
	}
	return edit{at, at + len(old), indent}
}

// enter works out where a body stands whose opening tag is indented so: two blanks behind it, or level with it where the author
// indented nothing.
func (b *body) enter(indent string) {
	b.newBase, b.target = indent, indent
	if len(b.common) > len(b.base) && strings.HasPrefix(b.common, b.base) {
		b.target = indent + step
	}
}

// prefix returns what stands before a tag that is first on its line.
func (r *renderer) prefix(g *tag) string {
	if !g.first {
		return ""
	}
	l := &r.survey.lines[g.line]
	return r.shift(l.start, g.Start)
}

// shift returns a piece of the source with its lines where they belong.
func (r *renderer) shift(from, to int) string {
	i := r.lineOf(from)
	if r.survey.lines[i].start < from {
		i++
	}
	var edits []edit
	for ; i < len(r.lines) && r.survey.lines[i].start < to; i++ {
		if e := r.lines[i]; e.start >= 0 && e.end <= to {
			edits = append(edits, e)
		}
	}
	return apply(r.src, from, to, edits)
}
