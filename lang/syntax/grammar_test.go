package syntax

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"xmd/lang/diag"
	"xmd/lang/scan"
)

// tagTokens scans one tag.
func tagTokens(src string) (out []scan.Token) {
	s := scan.New(src)
	for t := s.Next(); t.Kind >= scan.TagOpen; t = s.Next() {
		out = append(out, t)
	}
	return out
}

// written shows items as kinds and texts.
func written(items []tagItem) string {
	var b strings.Builder
	for _, it := range items {
		for _, t := range it.Tokens {
			fmt.Fprintf(&b, "%d:%s@%d ", t.Type, t.Value, t.Pos.Offset)
		}
		b.WriteString("| ")
	}
	return b.String()
}

// TestGrammar puts random tags through the grammar: it accepts all of them, keeps every token, and takes apart what is well formed
// exactly as the shortcut does.
func TestGrammar(t *testing.T) {
	pieces := []string{" a", " b", "=", "=\"s\"", "='s'", "={e}", "=x", "{e}", "\"s\"", " ", "\n", ",", " c=\"d\"", " e={f}", " {...g}", "?"}
	r := rand.New(rand.NewPCG(3, 4))
	wellFormed := 0
	for range 5000 {
		src := "<A"
		for range r.IntN(7) {
			src += pieces[r.IntN(len(pieces))]
		}
		src += []string{">", "/>", ""}[r.IntN(3)]
		tokens := tagTokens(src)
		if len(tokens) == 0 {
			continue
		}
		var lex tagLexer
		lex.load(src, tokens)
		plain, ok := lex.wellFormed()
		var want string
		if ok {
			wellFormed++
			want = written(plain)
		}
		got := lex.grammar()
		if ok && written(got) != want {
			t.Fatalf("%q: grammar %s, shortcut %s", src, written(got), want)
		}
		n := 0
		for _, it := range got {
			n += len(it.Tokens)
		}
		for _, tok := range tokens {
			switch tok.Kind {
			case scan.TagOpen, scan.Space, scan.TagEnd, scan.SelfEnd:
				n++
			}
		}
		if n != len(tokens) {
			t.Fatalf("%q: %d of %d tokens are kept", src, n, len(tokens))
		}
	}
	if wellFormed < 500 {
		t.Errorf("only %d tags were well formed", wellFormed)
	}
}

func TestGrammarText(t *testing.T) {
	want := "TagTree = TagItem* .\nTagItem = (<name> <eq>? <value>?) | <eq> | <value> | <bad> ."
	if got := Grammar(); got != want {
		t.Errorf("got %q", got)
	}
}

func TestLongTag(t *testing.T) {
	src := "<A" + strings.Repeat(" a={1} ?", 5000) + ">x</A>"
	doc, list := Parse(diag.NewSource("f", src))
	if el, ok := doc.Body[0].(*Element); !ok || len(el.Attrs) != 5000 || len(list) != MaxErrors+1 {
		t.Errorf("%d diagnostics", len(list))
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "&lt;&gt;&amp;&quot;&apos;": "<>&\"'", "&amp;lt;": "&lt;", "&#10;&#x1F600;": "\n😀", "&nbsp;&#;&#x;&#0;&#1114112;&#xD800;&": "&nbsp;&#;&#x;&#0;&#1114112;&#xD800;&",
		"&#00000000000065;": "&#00000000000065;", "a&b;c": "a&b;c", "&LT;": "&LT;",
	} {
		if got := Unescape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestChildren(t *testing.T) {
	a, b := &Text{Value: "a"}, &Element{Name: "B"}
	var got []Node
	for n := range Children([]Node{a, &Line{Body: []Node{b, a}}, b}) {
		got = append(got, n)
		if len(got) == 3 {
			break
		}
	}
	if len(got) != 3 || got[0] != a || got[1] != b || got[2] != a {
		t.Errorf("%v", got)
	}
}
