package lang

import (
	"fmt"
	"strings"
	"testing"

	"xmd/lang/syntax"
)

// find returns the first element of a name.
func find(t *testing.T, doc *syntax.Document, name string) *syntax.Element {
	t.Helper()
	var found *syntax.Element
	syntax.Walk(doc.Body, func(n syntax.Node) bool {
		if el, ok := n.(*syntax.Element); ok && el.Name == name && found == nil {
			found = el
		}
		return true
	})
	if found == nil {
		t.Fatalf("no <%s> in %q", name, doc.Source.Text)
	}
	return found
}

// clean parses a text that has nothing wrong.
func clean(t *testing.T, text string) *syntax.Document {
	t.Helper()
	doc, list := Parse("a.xmd", text)
	if len(list) > 0 {
		t.Fatalf("%q: %+v", text, list)
	}
	return doc
}

func TestAttributes(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`<A a/>`, `a true ""`},
		{`<A a="x &lt;&gt;&amp;&quot;&apos;&#65;&#x42; &nbsp; &#0; & &;" b='"'/>`, `a string "x <>&\"'AB &nbsp; &#0; & &;"; b string "\""`},
		{"<A a='1\n2' />", `a string "1\n2"`},
		{"<A a = \"b\"\n\tc ={d}/>", `a string "b"; c expr "d"`},
		{`<A schema={{"type": "object"}}/>`, `schema expr "{\"type\": \"object\"}"`},
		{"> <A a=\"1\n> 2\" b={[1,\n>  2]}/>", `a string "1\n2"; b expr "[1,\n   2]"`},
		{"<A\n  a-b.c:d=\"{x}\"\n>x</A>", `a-b.c:d string "{x}"`},
	} {
		doc := clean(t, c.in)
		var parts []string
		for _, a := range find(t, doc, "A").Attrs {
			parts = append(parts, fmt.Sprintf("%s %s %q", a.Name, []string{"true", "string", "expr"}[a.Kind], a.Value))
			at := func(s syntax.Span) string { return c.in[s.Start:s.End] }
			if at(a.NameSpan) != a.Name || !strings.HasPrefix(at(a.Pos), a.Name) || a.Kind == syntax.AttrExpr && len(at(a.ValueSpan)) != len(a.Value) {
				t.Errorf("%q: places of %+v", c.in, a)
			}
		}
		if got := strings.Join(parts, "; "); got != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.in, got, c.want)
		}
	}
}

// TestCases holds the cases of documents that are parsing's: code spans and fences are text, an escape is text, a tag over lines in a list
// item is one element at its <, and a first line of a byte order mark and #! is no trouble.
func TestCases(t *testing.T) {
	for _, text := range []string{"`<Nope/>`\n", "```\n<Nope/>\n```\n", "    ~~~\n<Nope>\n    ~~~\n"} {
		comesOutAsWritten(t, "inert", text)
	}
	var b strings.Builder
	plain(&b, clean(t, "\\<Prompt text=\"x\"/>\n").Body)
	if b.String() != "<Prompt text=\"x\"/>\n" {
		t.Errorf("escaped tag: %q", b.String())
	}
	doc := clean(t, "- a\n  <Prompt\n    text=\"x\"\n    as=\"r\"\n  />\n- b\n")
	el := find(t, doc, "Prompt")
	if line, col := doc.Source.Pos(el.Pos.Start); line != 2 || col != 3 || !el.SelfClosing || len(el.Attrs) != 2 {
		t.Errorf("tag over lines: %+v", el)
	}
	doc = clean(t, "\uFEFF#!/usr/bin/env xmd\n---\n# c\nprops: {}\n---\n\n<A/>\n")
	if doc.Front == nil || doc.Front.YAML != "# c\nprops: {}\n" || doc.Source.Text[doc.Front.Off:][:3] != "# c" || find(t, doc, "A") == nil {
		t.Errorf("prolog: %+v", doc.Front)
	}
}

func TestExec(t *testing.T) {
	doc := clean(t, "> - ~~~~python exec as=\"r\" with='a b@f'  timeout=30s silent\n>   a\n>\n>  \tb\n>     c\n>   ~~~~\n")
	var got string
	syntax.Walk(doc.Body, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.Exec); ok {
			got = fmt.Sprintf("%s %q", e.Lang, e.Program)
			for _, w := range e.Words {
				got += fmt.Sprintf(" %s:%v:%q@%s", w.Name, w.HasValue, w.Value, doc.Source.Text[w.Pos.Start:w.Pos.End])
			}
		}
		return true
	})
	want := `python "a\n\n\tb\n  c\n" as:true:"r"@as="r" with:true:"a b@f"@with='a b@f' timeout:true:"30s"@timeout=30s silent:false:""@silent`
	if got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

func TestFill(t *testing.T) {
	for in, want := range map[string]string{
		"```json  fill\n{a}\n```\n":          "```json\n|{a}|\n|```",
		"~~~ fill x\n\\{a} \\{/* <B/>\n~~~~": "~~~ x\n|{a} \\{/* <B/>\n|~~~~",
		"```fill\n{a}":                       "```\n|{a}|",
		"```x fill\n```":                     "```x\n||```",
	} {
		doc := clean(t, in)
		f, ok := doc.Body[0].(*syntax.Fill)
		if !ok {
			t.Fatalf("%q: %T", in, doc.Body[0])
		}
		var b strings.Builder
		b.WriteString(f.Open + "|")
		for i, n := range f.Body {
			if _, interp := n.(*syntax.Interp); i > 0 && !interp {
				if _, before := f.Body[i-1].(*syntax.Interp); before {
					b.WriteString("|")
				}
			}
			plain(&b, []syntax.Node{n})
		}
		if got := b.String() + "|" + f.Close; got != want {
			t.Errorf("%q\ngot  %q\nwant %q", in, got, want)
		}
	}
}

func TestIncomplete(t *testing.T) {
	for text, want := range map[string]bool{
		"a": false, "<Prompt text=\"x\"/>\n": false, "</If>": false, "<Prompt a=b/>": false, "<Prompt a=b>": false, "a\n</If>\n<If condition={a}>\n": false,
		"<If condition={a}>\nb\n": true, "<If condition={a}>\n<Prompt>": true, "<Prompt": true, "<Prompt\n  text=\"a": true, "<Prompt text={a": true, "</If": true, "<If></If": true,
		"```\na\n": true, "```bash exec\nls\n": true, "```\na\n```\n": false, "{/* a": true, "<!-- a\n</If>\n": true, "{/* a\n<If b=c>": true, "<If><Prompt></If>": false,
		"<Prompt text=\"a\n\n": false, "<If condition={a}>\n```\n": true, "<If condition={a}>\n</Iff>\n": false, "> ```bash exec\n> a\n\nb": false, "<Prompt text={{\n\"a\": 1,\n\n": true,
	} {
		if doc, _ := Parse("repl", text); doc.Incomplete != want {
			t.Errorf("%q: incomplete is %v", text, doc.Incomplete)
		}
	}
}

func TestTooManyErrors(t *testing.T) {
	_, list := Parse("a", strings.Repeat("<A b=c/>\n", 1500))
	if len(list) != syntax.MaxErrors+1 || list[syntax.MaxErrors].Code != "XMD1031" {
		t.Errorf("%d diagnostics", len(list))
	}
}
