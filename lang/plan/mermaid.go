package plan

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// WriteMermaid writes the plan as a Mermaid flow chart: its steps in the order in which they run, with arms, rounds and branches, and
// the sessions of its turns. The same plan gives the same bytes. The first write error is returned.
func (p *Plan) WriteMermaid(w io.Writer) error {
	d := draw(p)
	m := &mermaid{}
	m.line("%%%% plan of %s, digest %.12s", strings.Map(oneLine, p.Source.Name), p.Digest)
	m.line("flowchart TD")
	m.frame(&d.root, "  ")
	for _, e := range d.edges {
		arrow := [...]string{solid: "-->", dashed: "-.->", dotted: "-.-"}[e.stroke]
		if e.label != "" {
			arrow += "|" + mermaidText(e.label) + "|"
		}
		m.line("  %s %s %s", mermaidID(e.from), arrow, mermaidID(e.to))
	}
	_, err := io.WriteString(w, m.out.String())
	return err
}

type mermaid struct{ out strings.Builder }

func (m *mermaid) line(format string, args ...any) { fmt.Fprintf(&m.out, format+"\n", args...) }

func (m *mermaid) frame(f *frame, indent string) {
	for _, part := range f.parts {
		switch n := part.(type) {
		case *vertex:
			b := mermaidShapes[n.shape]
			m.line("%s%s%s%s%s", indent, mermaidID(n.id), b[0], mermaidText(n.label), b[1])
		case *frame:
			m.line("%ssubgraph %s[%s]", indent, n.id, mermaidText(n.label))
			m.frame(n, indent+"  ")
			m.line("%send", indent)
		}
	}
}

// mermaidShapes are the brackets around the labels of vertices.
var mermaidShapes = [...][2]string{
	boxed: {"[", "]"}, turn: {"(", ")"}, decision: {"{", "}"}, cycle: {"{{", "}}"}, fork: {"[/", `\]`}, join: {`[\`, "/]"},
	file: {"[[", "]]"}, terminal: {"([", "])"}, cylinder: {"[(", ")]"},
}

// mermaidID is the name of a vertex; "end" closes frames.
func mermaidID(id string) string {
	if id == "end" {
		return "finish"
	}
	return id
}

// mermaidText writes a label: in quotes, with codes for all that may mean something there.
func mermaidText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("<br/>")
		case strings.ContainsRune("\"#<>&`$%\\;*_~|", r):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(oneLine(r))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// oneLine puts a blank in place of what could end a line or move a cursor.
func oneLine(r rune) rune {
	if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}
