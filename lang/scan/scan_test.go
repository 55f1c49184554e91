package scan

import (
	"strings"
	"testing"

	"github.com/alecthomas/participle/v2/lexer"
)

// tokens scans all of a text and checks the contract: put together they are the text again, and places are valid.
func tokens(t testing.TB, src string) []Token {
	t.Helper()
	s := New(src)
	var out []Token
	at := 0
	for tok := s.Next(); tok.Kind != EOF; tok = s.Next() {
		if tok.Start != at || tok.End <= tok.Start || tok.End > len(src) {
			t.Fatalf("%v at %d..%d, want it at %d in %q", tok.Kind, tok.Start, tok.End, at, src)
		}
		at = tok.End
		out = append(out, tok)
	}
	if at != len(src) {
		t.Fatalf("tokens end at %d of %d in %q", at, len(src), src)
	}
	for _, d := range s.Diagnostics() {
		if d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(src) || d.Code == "" || d.Summary == "" {
			t.Fatalf("bad diagnostic %+v in %q", d, src)
		}
	}
	if s.Next().Kind != EOF {
		t.Fatal("no EOF after EOF")
	}
	return out
}

// show writes tokens down: Kind(text), plain text as it is.
func show(src string, list []Token) string {
	var b strings.Builder
	for _, t := range list {
		if t.Kind == Text {
			b.WriteString(src[t.Start:t.End])
		} else {
			b.WriteString("⟦" + t.Kind.String() + " " + src[t.Start:t.End] + "⟧")
		}
	}
	return strings.ReplaceAll(b.String(), "\n", "⏎")
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a <b> < c <https://x> <Dé> <T,U> <my-El/>", "a <b> < c <https://x> <Dé> <T,U> <my-El/>"},
		{"<A/>", "⟦TagOpen <A⟧⟦SelfEnd />⟧"},
		{"<A.B.c >", "<A.B.c >"},
		{"<A.Bc >", "⟦TagOpen <A.Bc⟧⟦Space  ⟧⟦TagEnd >⟧"},
		{"x<A", "x⟦TagOpen <A⟧"},
		{"<A a='>' b={ \"}\" } c d=e/>", "⟦TagOpen <A⟧⟦Space  ⟧⟦Name a⟧⟦Eq =⟧⟦String '>'⟧⟦Space  ⟧⟦Name b⟧⟦Eq =⟧⟦Expr { \"}\" }⟧⟦Space  ⟧⟦Name c⟧⟦Space  ⟧⟦Name d⟧⟦Eq =⟧⟦Bare e⟧⟦SelfEnd />⟧"},
		{"<A x={{\"a\": '}'}}>", "⟦TagOpen <A⟧⟦Space  ⟧⟦Name x⟧⟦Eq =⟧⟦Expr {{\"a\": '}'}}⟧⟦TagEnd >⟧"},
		{"<A x={`}`}/>", "⟦TagOpen <A⟧⟦Space  ⟧⟦Name x⟧⟦Eq =⟧⟦Expr {`}`}⟧⟦SelfEnd />⟧"},
		{"<A x={don't}/>", "⟦TagOpen <A⟧⟦Space  ⟧⟦Name x⟧⟦Eq =⟧⟦Expr {don't}⟧⟦SelfEnd />⟧"},
		{"</A ></B\n>", "⟦CloseTag </A >⟧⟦CloseTag </B⏎>⟧"},
		{"{a}{a.b[0][\"c}\\\"\"].d}{ a}{a }{1}{a.}{a[x]}{}{a..b}", "⟦Interp {a}⟧⟦Interp {a.b[0][\"c}\\\"\"].d}⟧{ a}{a }{1}{a.}{a[x]}{}{a..b}"},
		{"{/* <A> {x} */}b", "⟦Author {/* <A> {x} */}⟧b"},
		{"\\<A> \\</A> \\{x} \\{/* \\\\{x} \\\\\\{x}", "⟦Escape \\⟧<A> ⟦Escape \\⟧</A> ⟦Escape \\⟧{x} ⟦Escape \\⟧{/* ⟦Escape \\\\⟧⟦Interp {x}⟧ ⟦Escape \\\\\\⟧{x}"},
		{"\\{2} \\<b> \\\\ \\`a \\\\`b`", "\\{2} \\<b> \\\\ \\`a \\\\⟦CodeSpan `b`⟧"},
		{"`<A>` ``{x}`` `", "⟦CodeSpan `<A>`⟧ ⟦CodeSpan ``{x}``⟧ `"},
		{"`a\n\nb`", "`a⏎⏎b`"},
		{"`a\n<X>\nb`", "`a⏎⟦TagOpen <X⟧⟦TagEnd >⟧⏎b`"},
		{"`a\n<X>`", "⟦CodeSpan `a⏎<X>`⟧"},
		{"# `a\nb`", "# `a⏎b`"},
		{"<!-- <A>\n\n{x} --> {x}", "⟦Comment <!-- <A>⏎⏎{x} -->⟧ ⟦Interp {x}⟧"},
		{"\\<!-- {x}", "\\<!-- ⟦Interp {x}⟧"},
		{"<!--> {x} <!---> {x}", "⟦Comment <!-->⟧ ⟦Interp {x}⟧ ⟦Comment <!--->⟧ ⟦Interp {x}⟧"},
		{"```a\n<X>\n```\n<X/>", "⟦Fence ```a⏎<X>⏎```⟧⏎⟦TagOpen <X⟧⟦SelfEnd />⟧"},
		{"      ~~~\n{x}\n   ~~~  ", "      ⟦Fence ~~~⏎{x}⏎   ~~~  ⟧"},
		{"```\n    ```\n```\n{x}", "⟦Fence ```⏎    ```⏎```⟧⏎⟦Interp {x}⟧"},
		{"> ```\n> {x}\n{x}", "> ⟦Fence ```⏎> {x}⟧⏎⟦Interp {x}⟧"},
		{"- ```\n{x}\n  ```\n{x}", "- ⟦Fence ```⏎{x}⏎  ```⟧⏎⟦Interp {x}⟧"},
		{"```b exec as=\"r\"\r\nls\r\n```\r\n", "⟦FenceOpen ```b exec as=\"r\"⟧⟦FenceBody \r⏎ls\r⏎⟧⟦FenceClose ```⟧\r⏎"},
		{"``` exec\n```\n```exec x\n```", "⟦Fence ``` exec⏎```⟧⏎⟦Fence ```exec x⏎```⟧"},
		{"```j fill\n{x}\n```", "⟦FenceOpen ```j fill⟧⟦FenceBody ⏎{x}⏎⟧⟦FenceClose ```⟧"},
		{"> <A\n>  b='c\n> d'\n> >\n> x", "> ⟦TagOpen <A⟧⟦Space ⏎>  ⟧⟦Name b⟧⟦Eq =⟧⟦String 'c⏎> d'⟧⟦Space ⏎> ⟧⟦TagEnd >⟧⏎> x"},
		{"[`a`](b`c) `d`", "[⟦CodeSpan `a`⟧](b`c) ⟦CodeSpan `d`⟧"},
		{"[a](<{x}>)", "[a](<⟦Interp {x}⟧>)"},
		{"a\n    <A>\n        - b `c\n        # d` {x}", "a⏎    ⟦TagOpen <A⟧⟦TagEnd >⟧⏎        - b `c⏎        # d` ⟦Interp {x}⟧"},
	} {
		if got := show(c.in, tokens(t, c.in)); got != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestProlog(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"\uFEFF#!/usr/bin/env xmd\nA", "⟦Prolog \uFEFF#!/usr/bin/env xmd⏎⟧A"},
		{"---\na: 1\n---\n\n \nT", "⟦Front ---⏎a: 1⏎---⏎⟧⟦Prolog ⏎ ⏎⟧T"},
		{"#!x\n---\n\n# c\na:\n---\nT", "⟦Prolog #!x⏎⟧⟦Front ---⏎⏎# c⏎a:⏎---⏎⟧T"},
		{"\uFEFF--- \r\na: b\r\n---", "⟦Prolog \uFEFF⟧⟦Front --- \r⏎a: b\r⏎---⟧"},
		{"---\nhello\n---\n", "---⏎hello⏎---⏎"},
		{"---\nhttp://x\n---\n", "---⏎http://x⏎---⏎"},
		{"---\n---\n", "---⏎---⏎"},
		{"---\na: 1\n", "---⏎a: 1⏎"},
		{"\n---\na: 1\n---\n", "⏎---⏎a: 1⏎---⏎"},
		{"", ""}, {"\uFEFF", "⟦Prolog \uFEFF⟧"}, {"---", "---"}, {"#!", "⟦Prolog #!⟧"},
	} {
		if got := show(c.in, tokens(t, c.in)); got != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestDefinition(t *testing.T) {
	src := "a漢\n<A b='c'/>`d`"
	lex, err := Definition{}.Lex("f", strings.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	list, err := lexer.ConsumeAll(lex)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, tok := range list {
		b.WriteString(tok.Value)
	}
	if b.String() != src || !list[len(list)-1].EOF() || list[1].Pos.Line != 2 || list[1].Pos.Column != 1 || list[1].Pos.Filename != "f" {
		t.Errorf("%+v", list)
	}
	if (Definition{}).Symbols()["EOF"] != lexer.EOF {
		t.Error("EOF is not participle's")
	}
}

func TestUnindent(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"  a", 2, "a"}, {"  a", 4, "a"}, {"    a", 2, "  a"}, {"\ta", 4, "a"}, {"\ta", 2, "\ta"}, {" \ta", 4, "a"}, {"a", 3, "a"}, {"  ", 3, ""}, {"  a", 0, "  a"}, {"  \n", 4, "\n"}} {
		if got := Unindent(c.in, c.n); got != c.want {
			t.Errorf("Unindent(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

var seeds = []string{
	"A <If condition={x}>\n  <Prompt a=b text=\"c\n> d\"/>\n</If>\n", "```bash exec as=\"r\"\nls\n```\n", "> - ```\n> x\n\n`a\n<B>\n`", "---\na: b\n---\n{x.y[1][\"k\"]} \\\\{x} \\<A/>",
	"<!-- a\n\n{/* b", "<A b={ \" } ' `\n<C/ =\"x\n\n[a](b \"c`\n`d)", "- 1. > ~~~ fill\n  {x}\n~~~\n\t\t```", "\uFEFF#!x\r\n<A\r\n\r\n>", "<A a={ <A a={ \n<A a='\n\n",
}

func FuzzScan(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { tokens(t, src) })
}
