package target

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/resolve"
	"xmd/lang/syntax"
)

// bindings finds the names that nodes bind, with the first place of each. Names of bodies that have their own scope are left out.
func bindings(nodes []syntax.Node) map[string]diag.Span {
	found := map[string]diag.Span{}
	add := func(name string, at diag.Span) {
		if _, before := found[name]; !before && expr.IsName(name) {
			found[name] = at
		}
	}
	syntax.Walk(nodes, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Exec:
			for _, w := range n.Words {
				if w.Name == "as" {
					add(w.Value, w.ValueSpan)
				}
			}
		case *syntax.Element:
			for _, a := range n.Attrs {
				if a.Name == "as" && n.Name != "Catch" {
					add(a.Value, a.ValueSpan)
				}
			}
			return n.Name != "Each" && n.Name != "Tool"
		}
		return true
	})
	return found
}

// explain says of names that only the parts left out bind that this is what is wrong with them. list is what resolving the selection
// found, part its annotations, and whole those of the whole document. An interpolation in prose that is a value in the whole document and
// would be text in the selection is an error, too. The list is returned, sorted.
func (s *Selection) explain(list diag.List, whole, part *resolve.Info) diag.List {
	for i := range list {
		d := &list[i]
		if d.Source != nil || d.Code != resolve.CodeUnbound && d.Code != resolve.CodeSometimes {
			continue
		}
		if name := s.nameAt(d.Span); name != "" {
			d.Hint = s.hint(name)
			d.Related = append(d.Related, s.place(name))
		}
	}
	acts := map[int]bool{}
	for n := range whole.Paths {
		acts[n.Pos.Start] = true
	}
	said := map[int]bool{}
	for _, d := range list {
		said[d.Span.Start] = said[d.Span.Start] || d.Source == nil && d.Severity == diag.Error
	}
	syntax.Walk(s.Document.Body, func(n syntax.Node) bool {
		in, ok := n.(*syntax.Interp)
		if !ok || !acts[in.Pos.Start] || part.Paths[in] != nil || said[in.Pos.Start] || said[in.Pos.Start+1] {
			return true
		}
		if name := s.nameAt(diag.Span{Start: in.Pos.Start + 1, End: in.Pos.End}); name != "" {
			list.Add(resolve.CodeUnbound, in.Pos, name+" is not bound here", s.hint(name), s.place(name))
		}
		return true
	})
	list.Sort()
	return list
}

// nameAt returns the name that begins at a place, if a part left out binds it.
func (s *Selection) nameAt(at diag.Span) string {
	text := strings.TrimLeft(s.Document.Source.Text[at.Start:at.End], "{ \t")
	end := 0
	for end < len(text) && expr.IsName(text[:end+1]) {
		end++
	}
	if _, ok := s.bound[text[:end]]; ok {
		return text[:end]
	}
	return ""
}

func (s *Selection) hint(name string) string {
	return name + " is bound in a part that #" + s.Path + " leaves out; bind it before the first heading, or run the whole document"
}

func (s *Selection) place(name string) diag.Related {
	return diag.Related{Summary: name + " is bound here, which is left out", Span: s.bound[name]}
}
