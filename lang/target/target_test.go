package target

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/syntax"
)

func parse(t testing.TB, src string) *syntax.Document {
	t.Helper()
	doc, list := lang.Parse("a.xmd", src)
	if list.HasErrors() {
		t.Fatalf("%q: %v", src, list)
	}
	return doc
}

func paths(doc *syntax.Document) string {
	var out []string
	for _, t := range List(doc) {
		out = append(out, t.Path)
	}
	return strings.Join(out, ", ")
}

func TestList(t *testing.T) {
	for src, want := range map[string]string{
		"# Title\n## A\n### B\n## C\n":                         "A, A/B, C",
		"# A\n## B\n# C\n":                                     "A, A/B, C",
		"## B\n# Title\n## C\n":                                "B, C",
		"### Deep\n# Title\n#### Skips\n## C\n### C\n":         "Deep, Skips, C, C/C",
		"Two\nlines\n===\nThree\n  ---\n\n---\nno\n\n---\n# B": "Two lines, Two lines/Three, B",
		"A\n==\nB\n==\n- item\n---\n> quote\n---\n":            "A, B",
		"1. a\n\n   # in an item\n\n> # in a quote\n # no":     "",
		"<If condition={true}>\n# inside\n</If>\n# A\n# B":     "A, B",
		"```\n# fence\n```\n<!--\n# comment\n-->\n{/*\n# author\n*/}\n# A ##\n# B #x\n#C\n####### D\n# #\n#": "A, B #x, , ",
		"```bash exec\n# program\n```\n~~~ fill\n# filled\n~~~\n":                                            "",
		"---\na: 1\n# yaml\n---\n# A\n# B\n":                                                                 "A, B",
		"\uFEFF# A\r\n# B\r\n## C\r\n":                                                                       "A, B, B/C",
		"# 50% of a/b * c\n# B\n":                                                                            "50%25 of a%2Fb %2A c, B",
		"<Let as=\"a\" value={1}/>\nText\n===\n# A\n":                                                        "Text, A",
		"text <If condition={true}>\n# a\n</If> on\n===\n# B\n# C\n":                                         "B, C",
		"## Step <Let as=\"a\" value={1}/> two {/* c */} three <!-- d -->\n":                                 "Step two three",
	} {
		if got := paths(parse(t, src)); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

func TestLabels(t *testing.T) {
	for in, want := range map[string]string{
		"plain   text\ttoo":                                  "plain text too",
		"`code *as* is` and ``a ` b``":                       "code *as* is and a ` b",
		"*a* **b** ***c*** _d_ __e__ ~~f~~":                  "a b c d e f",
		"2 * 3 * 4, snake_case_name, a ** b, 2*3":            "2 * 3 * 4, snake_case_name, a ** b, 2*3",
		"**bold `code` more**":                               "bold code more",
		"[text](https://a.b/c_d \"t\") ![alt](x) [r][1] [x]": "text alt r [x]",
		"[see `x`](y(z)) end":                                "see x end",
		`\*no\* \[a\](b) \# c\d`:                             `*no* [a](b) # c\d`,
		"{run.id} of \\{x}":                                  "{run.id} of {x}",
		"Straße *öffnen*":                                    "Straße öffnen",
		"a & b &amp; <b>c</b>":                               "a & b &amp; <b>c</b>",
	} {
		list := outline(rawDoc("# " + in + "\n"))
		if len(list) != 1 || list[0].label != want {
			t.Errorf("%q: %q, want %q", in, list[0].label, want)
		}
	}
}

func rawDoc(src string) *syntax.Document {
	doc, _ := syntax.Parse(diag.NewSource("a.xmd", src))
	return doc
}

const guide = `Preamble <Let as="pre" value={1}/> here.

# Guide

Of the title.

## Release

Of release.

### Build

<Let as="built" value={2}/>

### Publish

Publish {pre}.

#### Details

Deep.

## Other

### Publish

Elsewhere.
`

func TestSelect(t *testing.T) {
	doc := parse(t, guide)
	for path, want := range map[string]string{
		"Release/Publish": "Preamble  here.\n\n# Guide\n\nOf the title.\n\n## Release\n\nOf release.\n\n### Publish\n\nPublish {pre}.\n\n#### Details\n\nDeep.\n\n",
		"Other":           "Preamble  here.\n\n# Guide\n\nOf the title.\n\n## Other\n\n### Publish\n\nElsewhere.\n",
		"R*/Publish/*":    "Preamble  here.\n\n# Guide\n\nOf the title.\n\n## Release\n\nOf release.\n\n### Publish\n\nPublish {pre}.\n\n#### Details\n\nDeep.\n\n",
	} {
		s, err := Select(doc, path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := written(s.Document); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := paths(doc); got != "Release, Release/Build, Release/Publish, Release/Publish/Details, Other, Other/Publish" {
		t.Error(got)
	}
}

// written is what a document without steps renders: elements as nothing.
func written(doc *syntax.Document) string {
	var b strings.Builder
	syntax.Walk(doc.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Text:
			b.WriteString(n.Value)
		case *syntax.Interp:
			b.WriteString("{" + n.Path + "}")
		}
		return true
	})
	return b.String()
}

func TestErrors(t *testing.T) {
	doc := parse(t, guide)
	for path, want := range map[string]string{
		"Publish":           `a.xmd: there is no target "Publish"; a path begins at the outermost heading: Release/Publish, Other/Publish`,
		"Release/Publis":    `a.xmd: there is no target "Release/Publis"; did you mean Release/Publish?`,
		"*/Publish":         `a.xmd: the target "*/Publish" is 2 headings: Release/Publish (line 15), Other/Publish (line 25); write out the one that is meant`,
		"Guide":             `a.xmd: there is no target "Guide"; its targets are Release, Release/Build, Release/Publish, Release/Publish/Details, Other, Other/Publish`,
		"Release%2FPublish": `a.xmd: there is no target "Release%2FPublish"; its targets are Release, Release/Build, Release/Publish, Release/Publish/Details, Other, Other/Publish`,
		"Rel%zz":            `the target "Rel%zz" has a % that is no percent-encoding; write %25 for the sign itself`,
		"":                  `a.xmd: there is no target ""; its targets are Release, Release/Build, Release/Publish, Release/Publish/Details, Other, Other/Publish`,
	} {
		if _, err := Select(doc, path); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", path, err, want)
		}
	}
	for src, want := range map[string]string{
		"text\n":                            `a.xmd: there is no target "A"; the document has no headings to select, at the left margin and outside of elements`,
		"# Title\n":                         `a.xmd: there is no target "A"; the document has no headings to select, at the left margin and outside of elements`,
		"# A\n# B\n# A\n":                   `a.xmd: the target "A" is 2 headings: A (line 1), A (line 3); targets of one path cannot be told apart: give one of the headings another text`,
		strings.Repeat("# Long name\n", 12): `a.xmd: there is no target "A"; its targets are ` + strings.Repeat("Long name, ", 10) + "2 more",
	} {
		if _, err := Select(parse(t, src), "A"); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", src, err, want)
		}
	}
}

// TestPaths: every target that is listed selects itself, if its path is its own.
func TestPaths(t *testing.T) {
	doc := parse(t, guide+"## 100% *a*/b\n## `x*y`\n## Ünïcode {props.x}\n##\n")
	for _, target := range List(doc) {
		s, err := Select(doc, target.Path)
		if err != nil || s.Target != target {
			t.Errorf("%s: %v", target.Path, err)
		}
	}
	if s, err := Select(doc, "%C3%9Cn*%7Bprops.x%7D"); err != nil || s.Path != "Ünïcode {props.x}" {
		t.Errorf("percent-encoded: %v", err)
	}
}

// TestExplain: names of parts left out do not exist, and that is what is said.
func TestExplain(t *testing.T) {
	src := "# A\n<Let as=\"x\" value={1}/>\n```bash exec as=\"y\"\nls\n```\n# B\nProse {x} and {zz}.\n<Let as=\"n\" value={x + 1}/>\n<Let as=\"m\">{y.stdout}</Let>\n{n} {m}\n<Let as=\"x\" value={3}/> {x}\n"
	doc := parse(t, src)
	p, list, err := Compile(plan.Compiler{}, doc, "B")
	if p != nil || err != nil {
		t.Fatal(p, err)
	}
	var b strings.Builder
	_ = diag.WriteText(&b, doc.Source, list)
	want := `a.xmd:7:7: x is not bound here [XMD1401]
    Prose {x} and {zz}.
          ^~~
hint: x is bound in a part that #B leaves out; bind it before the first heading, or run the whole document
a.xmd:2:10: x is bound here, which is left out
a.xmd:8:20: x is not bound here [XMD1401]
    <Let as="n" value={x + 1}/>
                       ^
hint: x is bound in a part that #B leaves out; bind it before the first heading, or run the whole document
a.xmd:2:10: x is bound here, which is left out
a.xmd:9:14: y is not bound here [XMD1401]
    <Let as="m">{y.stdout}</Let>
                 ^
hint: y is bound in a part that #B leaves out; bind it before the first heading, or run the whole document
a.xmd:3:18: y is bound here, which is left out
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

// TestCompile: the whole document is checked, the plan is that of the selection alone.
func TestCompile(t *testing.T) {
	for src, want := range map[string]string{
		"# A\n<Prompt text=\"a\"/>\n# B\n<Prompt text=\"b\"/>\n":                     "Prompt1 at 4",
		"---\nprops: {n: {type: string}}\n---\n# A\n# B\n<Prompt text={props.n}/>\n": "Prompt1 at 6",
		"# A\n<Nope/>\n# B\n": "2:1 there is no component Nope",
		"# A\n# C\n":          `a.xmd: there is no target "B"; its targets are A, C`,
	} {
		doc := parse(t, src)
		p, list, err := Compile(plan.Compiler{}, doc, "B")
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case p == nil:
			line, col := doc.Source.Pos(list[0].Span.Start)
			got = fmt.Sprintf("%d:%d %s", line, col, list[0].Summary)
		default:
			for _, it := range p.Items() {
				line, _ := doc.Source.Pos(it.Pos.Start)
				got += fmt.Sprintf("%s at %d", it.ID, line)
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", src, got, want)
		}
	}
}

// otherwise finds what is no plain Markdown for xmd, or HTML, code by indentation and link definitions, which it does not know, and headings
// without text, whose places the other parser does not tell.
var otherwise = regexp.MustCompile(`<[A-Za-z/!?]|\{|\\|(?m)^    [^ ]|^\[[a-z]+\]: |^#+ *(#+ *)?$`)

// TestCommonMark compares the headings at the left margin with those that a CommonMark parser finds outside of quotes and lists.
func TestCommonMark(t *testing.T) {
	data, err := os.ReadFile("../testdata/commonmark/spec.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct{ Markdown string }
	if err := json.Unmarshal(data, &examples); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range examples {
		doc := rawDoc(e.Markdown)
		if otherwise.MatchString(e.Markdown) || doc.Front != nil {
			continue
		}
		var got []int
		for _, h := range outline(doc) {
			got = append(got, h.level, h.start)
		}
		want := commonMark(e.Markdown)
		n += len(want)
		if len(got) != len(want) {
			t.Errorf("%q: %v, want %v", e.Markdown, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q: %v, want %v", e.Markdown, got, want)
				break
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d headings", n/2)
	}
}

// commonMark gives level and start of each heading of a text that begins in the first column.
func commonMark(src string) (out []int) {
	root := goldmark.New().Parser().Parse(text.NewReader([]byte(src)))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		if h.Lines().Len() == 0 {
			continue
		}
		at := h.Lines().At(0).Start
		start := strings.LastIndexByte(src[:at], '\n') + 1
		if src[start] != ' ' && src[start] != '\t' {
			out = append(out, h.Level, start)
		}
	}
	return out
}

// TestLayout: a selection is laid out as the same text in a file of its own is.
func TestLayout(t *testing.T) {
	part := "# B\n\n<If condition={true}>\n  in\n  <Prompt>\n      x\n  </Prompt>\n</If>\n\nend\n"
	s, err := Select(parse(t, "# A\n- <Prompt>\n    a\n  </Prompt>\n"+part+"# C\nleft\n"), "B")
	if err != nil {
		t.Fatal(err)
	}
	alone := rawDoc(part)
	layout.Apply(alone)
	if a, b := written(s.Document), written(alone); a != b {
		t.Errorf("%q, alone %q", a, b)
	}
}
