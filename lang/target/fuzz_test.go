package target

import (
	"strings"
	"testing"

	"xmd/lang/diag"
	"xmd/lang/syntax"
)

// FuzzSelect: every listed target whose path is its own selects itself; the selection is made of whole pieces of the document, in order, and
// holds its own heading.
func FuzzSelect(f *testing.F) {
	for _, s := range []string{guide, "A\n=\n\n- b\n-\n<If>\n# c\n</If>\n# `*d*`\n## \\{e} [f](g)\n", "# *a_ **b*\n# *a_ **b*\n# c/d\r\n## %\n### *\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, list := syntax.Parse(diag.NewSource("f", text))
		if list.HasErrors() {
			return
		}
		own := map[string]int{}
		targets := List(doc)
		for _, h := range targets {
			own[h.Path]++
		}
		for _, h := range targets[:min(len(targets), 20)] {
			s, err := Select(doc, h.Path)
			if own[h.Path] > 1 {
				if err == nil {
					t.Fatalf("%q: %s is not its own", text, h.Path)
				}
				continue
			}
			if err != nil || s.Target != h {
				t.Fatalf("%q: %s: %v", text, h.Path, err)
			}
			last, holds := 0, false
			for _, n := range s.Document.Body {
				if n.Span().Start < last {
					t.Fatalf("%q: %s: out of order", text, h.Path)
				}
				last = n.Span().Start
				holds = holds || last <= h.Pos.Start && h.Pos.Start < n.Span().End
			}
			if !holds && strings.TrimSpace(text[h.Pos.Start:h.Pos.End]) != "" {
				t.Fatalf("%q: %s is not in its selection", text, h.Path)
			}
		}
	})
}
