package plan

import (
	"fmt"
	"io"
	"strings"
)

// WriteDOT writes the plan as a graph in Graphviz's language; see WriteMermaid for what it shows. The same plan gives the same
// bytes. The first write error is returned.
func (p *Plan) WriteDOT(w io.Writer) error {
	d := draw(p)
	g := &dot{}
	g.line("// plan of %s, digest %.12s", strings.Map(oneLine, p.Source.Name), p.Digest)
	g.line("digraph plan {")
	g.line("  node [shape=box fontname=sans];")
	g.line("  edge [fontname=sans];")
	g.line("  graph [fontname=sans labeljust=l];")
	g.frame(&d.root, "  ")
	for _, e := range d.edges {
		var attrs []string
		if e.label != "" {
			attrs = append(attrs, "label="+dotText(e.label))
		}
		switch e.stroke {
		case dashed:
			attrs = append(attrs, "style=dashed")
		case dotted:
			attrs = append(attrs, "style=dotted arrowhead=none constraint=false")
		}
		list := ""
		if len(attrs) > 0 {
			list = " [" + strings.Join(attrs, " ") + "]"
		}
		g.line("  %s -> %s%s;", e.from, e.to, list)
	}
	g.line("}")
	_, err := io.WriteString(w, g.out.String())
	return err
}

type dot struct{ out strings.Builder }

func (g *dot) line(format string, args ...any) { fmt.Fprintf(&g.out, format+"\n", args...) }

func (g *dot) frame(f *frame, indent string) {
	for _, part := range f.parts {
		switch n := part.(type) {
		case *vertex:
			look := dotShapes[n.shape]
			if look != "" {
				look = " " + look
			}
			g.line("%s%s [label=%s%s];", indent, n.id, dotText(n.label), look)
		case *frame:
			g.line("%ssubgraph cluster_%s {", indent, n.id)
			g.line("%s  label=%s;", indent, dotText(n.label))
			g.frame(n, indent+"  ")
			g.line("%s}", indent)
		}
	}
}

// dotShapes are the attributes of vertices.
var dotShapes = [...]string{
	boxed: "", turn: "style=rounded", decision: "shape=diamond", cycle: "shape=hexagon", fork: "shape=trapezium", join: "shape=invtrapezium",
	file: "shape=component", terminal: "shape=oval", cylinder: "shape=cylinder",
}

// dotText writes a label as a string of Graphviz's language, in which \ begins an escape and & an entity.
func dotText(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(s)
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.Map(oneLine, lines[i])
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
