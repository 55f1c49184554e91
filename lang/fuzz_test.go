package lang

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"xmd/lang/diag"
	"xmd/lang/syntax"
)

// FuzzParse checks the contract of Parse: it never panics, its places are valid, its list is sorted, the tree is at most MaxDepth
// deep, and a text without errors has been laid out.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"A <If condition={x}>\n  <Prompt a=b text=\"c\n> d\"/>\n</If>\n", "```bash exec as=\"r\"\nls\n```\n", "> - ```\n> x\n\n`a\n<B>\n`",
		"---\na: b\n---\n{x.y[1][\"k\"]} \\\\{x} \\<A/>", "<!-- a\n\n{/* b", "- 1. > ~~~ fill\n  {x}\n~~~\n\t\t```", "> <If>\n>   B\n> <Else>\n> C\n> </Else></If>\n",
		"  <Content>\n    a\n  </Content>\n", "- <Prompt>\n    a\n  </Prompt>\n", "<File>\r\n\r\n a\r\n</File> {/* c */}\r\n", "<A b={ \" } ' `\n<C/ =\"x\n\n", "<A></B></A></A>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		stuck := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("no end for %q", text)) })
		defer stuck.Stop()
		check(t, text)
	})
}

// actsOrGoes finds what may act or is not put out; a text without it is Markdown that comes out as it was written.
var actsOrGoes = regexp.MustCompile("[A-Z\\\\]|{/\\*|fill|exec|^\uFEFF|^#!")

// check parses a text and checks what is promised of any text.
func check(t *testing.T, text string) {
	t.Helper()
	doc, list := Parse("f", text)
	last := 0
	for _, d := range list {
		valid(t, text, d.Span)
		for _, r := range d.Related {
			valid(t, text, r.Span)
		}
		if d.Span.Start < last || d.Summary == "" || !strings.HasPrefix(d.Code, "XMD10") {
			t.Fatalf("bad diagnostic %+v in %q", d, text)
		}
		last = d.Span.Start
	}
	if err := diag.WriteText(discard{}, doc.Source, list); err != nil {
		t.Fatal(err)
	}
	walk(t, text, doc.Body, 0)
	if !list.HasErrors() && doc.Front == nil && !actsOrGoes.MatchString(text) {
		comesOutAsWritten(t, "fuzz", text)
	}
	if !list.HasErrors() {
		syntax.Walk(doc.Body, func(n syntax.Node) bool {
			if _, ok := n.(*syntax.Comment); ok {
				t.Fatalf("a comment is left in %q", text)
			}
			return true
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func valid(t *testing.T, text string, s syntax.Span) {
	t.Helper()
	if s.Start < 0 || s.End < s.Start || s.End > len(text) {
		t.Fatalf("bad place %+v in %q", s, text)
	}
}

// walk checks the places of nodes, and that elements are inside what they stand in.
func walk(t *testing.T, text string, nodes []syntax.Node, depth int) {
	t.Helper()
	if depth > syntax.MaxDepth {
		t.Fatalf("deeper than %d: %q", syntax.MaxDepth, text)
	}
	for _, n := range nodes {
		valid(t, text, n.Span())
		switch n := n.(type) {
		case *syntax.Element:
			for _, s := range []syntax.Span{n.NameSpan, n.Open, n.Close} {
				valid(t, text, s)
			}
			if text[n.NameSpan.Start:n.NameSpan.End] != n.Name || n.Close.Start < n.Open.End || n.Pos.End < n.Close.End {
				t.Fatalf("bad element %+v in %q", n, text)
			}
			for _, a := range n.Attrs {
				valid(t, text, a.Pos)
				valid(t, text, a.ValueSpan)
			}
			walk(t, text, n.Body, depth+1)
		case *syntax.Line:
			walk(t, text, n.Body, depth)
		case *syntax.Fill:
			walk(t, text, n.Body, depth)
		}
	}
}
