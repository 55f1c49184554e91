package target

import (
	"xmd/lang/diag"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/resolve"
	"xmd/lang/syntax"
)

// Target is a heading that can be selected.
type Target struct {
	Path  string    // as it is written behind #, its labels encoded where they hold %, / or *
	Level int       // of the heading, 1 to 6
	Pos   diag.Span // its lines, without the last line end
}

// List returns the targets of a document in its order. The document may be laid out or not; it is not changed.
func List(doc *syntax.Document) []Target {
	whole, _ := syntax.Parse(doc.Source)
	var out []Target
	for _, h := range outline(whole) {
		if !h.title {
			out = append(out, targetOf(h))
		}
	}
	return out
}

func targetOf(h *heading) Target {
	return Target{Path: encode(h.path()), Level: h.level, Pos: diag.Span{Start: h.start, End: h.end}}
}

// Selection is a part of a document.
type Selection struct {
	Target
	Document *syntax.Document // laid out; its places are those in the whole source

	bound map[string]diag.Span // names that the parts left out bind, with the first place of each
}

// Select returns the part of a document that a path names: what stands before the first heading, the own content of each heading around
// the one named, and that heading with all below it. The frontmatter stays. The document may be laid out or not; it is not changed. It
// should have been checked as a whole before: what the selection is checked for is only what the parts left out gave it.
//
// An error is an *Error: the path is malformed, or names no heading, or several.
func Select(doc *syntax.Document, path string) (*Selection, error) {
	whole, _ := syntax.Parse(doc.Source)
	list := outline(whole)
	h, err := find(doc.Source, list, path)
	if err != nil {
		return nil, err
	}
	kept, left := cut(whole, ranges(list, h, len(doc.Source.Text)))
	s := &Selection{Target: targetOf(h), bound: bindings(left)}
	s.Document = &syntax.Document{Source: doc.Source, Front: whole.Front, Body: kept}
	layout.Apply(s.Document)
	return s, nil
}

// Compile makes the plan of the part of a document that a path names. The whole document is checked first, as a Compiler does, and with
// errors nothing is selected; then the selection is. A name that only the parts left out bind is an error in it that says so, also
// where prose puts it in. The list holds the warnings of both, sorted by place; with an error in it the Plan is nil. The error is that of
// Select.
func Compile(c plan.Compiler, doc *syntax.Document, path string) (*plan.Plan, diag.List, error) {
	whole, list := resolve.Resolve(doc, resolve.Options{Files: c.Files})
	if list.HasErrors() {
		return nil, list, nil
	}
	s, err := Select(doc, path)
	if err != nil {
		return nil, list, err
	}
	part, more := resolve.Resolve(s.Document, resolve.Options{Files: c.Files})
	list = append(list, s.explain(more, whole, part)...)
	list.Sort()
	if list.HasErrors() {
		return nil, list, nil
	}
	return plan.Build(s.Document, part), list, nil
}

// ranges returns the pieces of a source of size bytes that the selection of h keeps, in order.
func ranges(list []*heading, h *heading, size int) []diag.Span {
	keep := map[*heading]bool{}
	for a := h.parent; a != nil; a = a.parent {
		keep[a] = true
	}
	out := []diag.Span{{Start: 0, End: list[0].start}}
	for i, each := range list {
		end := size
		if i+1 < len(list) {
			end = list[i+1].start
		}
		if keep[each] || each == h || within(each, h) {
			out = append(out, diag.Span{Start: each.start, End: end})
		}
	}
	return out
}

// within tells whether a heading stands below another.
func within(h, outer *heading) bool {
	for ; h != nil; h = h.parent {
		if h == outer {
			return true
		}
	}
	return false
}

// cut divides the nodes of a document: kept are those in the ranges, left the others. Texts are cut where a range begins or ends.
func cut(doc *syntax.Document, keep []diag.Span) (kept, left []syntax.Node) {
	at := 0
	for _, n := range doc.Body {
		for {
			s := n.Span()
			for at < len(keep) && keep[at].End <= s.Start {
				at++
			}
			isKept, next := false, len(doc.Source.Text)+1 // where the next range begins or this one ends
			switch {
			case at == len(keep):
			case s.Start >= keep[at].Start:
				isKept, next = true, keep[at].End
			default:
				next = keep[at].Start
			}
			head, rest := n, syntax.Node(nil)
			if t, ok := n.(*syntax.Text); ok && next < s.End {
				head, rest = part(doc, t, s.Start, next), part(doc, t, next, s.End)
			}
			if isKept {
				kept = append(kept, head)
			} else {
				left = append(left, head)
			}
			if rest == nil {
				break
			}
			n = rest
		}
	}
	return kept, left
}

// part returns a piece of a text; no heading begins inside of one that is not as it was written.
func part(doc *syntax.Document, t *syntax.Text, start, end int) *syntax.Text {
	return &syntax.Text{Pos: diag.Span{Start: start, End: end}, Value: doc.Source.Text[start:end], Inert: t.Inert, Block: t.Block}
}
