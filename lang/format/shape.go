package format

import (
	"strconv"
	"strings"

	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// canons remembers the canonical forms of expressions: the same ones come again with every trial.
type canons map[string]string

// of returns an expression as its meaning has it; one that is malformed stands for itself.
func (c canons) of(source string) string {
	if form, ok := c[source]; ok {
		return form
	}
	form := strings.TrimSpace(source)
	if e, errs := expr.Compile(source, 0); len(errs) == 0 {
		form = e.Canonical()
	}
	c[source] = form
	return form
}

// shape writes what a laid-out document renders and does, apart from where that stands in the text. Documents of one shape have plans
// of one digest, whatever their components and schemas are: all that a plan is made of is in it.
func (c canons) shape(doc *syntax.Document) string {
	w := &shaper{canons: c}
	if doc.Front != nil {
		w.text("front", doc.Front.YAML)
	}
	w.nodes(doc.Body)
	return w.out.String()
}

type shaper struct {
	canons
	out strings.Builder
}

// text writes a word and texts with their lengths, so that no two shapes are written alike.
func (w *shaper) text(kind string, values ...string) {
	w.out.WriteString(kind)
	for _, v := range values {
		w.out.WriteByte(' ')
		w.out.WriteString(strconv.Itoa(len(v)))
		w.out.WriteByte(':')
		w.out.WriteString(v)
	}
	w.out.WriteByte('\n')
}

// nodes writes a list. Texts that stand side by side are one: how layout cut them is no matter.
func (w *shaper) nodes(list []syntax.Node) {
	var text strings.Builder
	gap := false
	flush := func() {
		if text.Len() > 0 {
			w.text("text", strconv.FormatBool(gap), text.String())
			text.Reset()
		}
	}
	for _, n := range list {
		if t, ok := n.(*syntax.Text); ok {
			if t.Gap != gap {
				flush()
				gap = t.Gap
			}
			text.WriteString(t.Value)
			continue
		}
		flush()
		w.node(n)
	}
	flush()
	w.text("end")
}

func (w *shaper) node(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Interp:
		w.text("value", n.Path)
	case *syntax.Line:
		w.text("line", n.Indent, n.EOL)
		w.nodes(n.Body)
	case *syntax.Fill:
		w.text("fill", n.Open, n.Close, n.Marker)
		w.nodes(n.Body)
	case *syntax.Exec:
		w.text("exec", n.Lang, n.Program)
		for _, word := range n.Words {
			w.text("word", word.Name, strconv.FormatBool(word.HasValue), word.Value)
		}
	case *syntax.Element:
		w.element(n)
	}
}

func (w *shaper) element(el *syntax.Element) {
	closeFirst := el.Name == "File" && el.CloseFirst // elsewhere it says nothing
	w.text("element", el.Name, strconv.FormatBool(el.SelfClosing), strconv.FormatBool(closeFirst))
	for _, a := range el.Attrs {
		value := a.Value
		if a.Kind == syntax.AttrExpr {
			value = w.of(value)
		}
		w.text("attribute", a.Name, strconv.Itoa(int(a.Kind)), value)
	}
	w.nodes(el.Body)
}
