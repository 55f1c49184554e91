package lang

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/lang/syntax"
)

// specExample is one example of the CommonMark specification 0.31.2.
type specExample struct {
	Example  int
	Section  string
	Markdown string
}

func specExamples(t testing.TB) []specExample {
	t.Helper()
	data, err := os.ReadFile("testdata/commonmark/spec.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []specExample
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 652 {
		t.Fatalf("%d examples", len(list))
	}
	return list
}

// plain renders a document in which nothing is bound: it comes out as it was written.
func plain(b *strings.Builder, nodes []syntax.Node) {
	for _, n := range nodes {
		switch n := n.(type) {
		case *syntax.Text:
			b.WriteString(n.Value)
		case *syntax.Interp:
			b.WriteString("{" + n.Path + "}")
		case *syntax.Fill:
			b.WriteString(n.Open)
			plain(b, n.Body)
			b.WriteString(n.Close)
		default:
			b.WriteString("<<component>>")
		}
	}
}

func comesOutAsWritten(t *testing.T, name, text string) {
	t.Helper()
	doc, list := Parse(name, text)
	if len(list) > 0 {
		t.Errorf("%s: %+v\n%q", name, list, text)
		return
	}
	var b strings.Builder
	plain(&b, doc.Body)
	if b.String() != text {
		t.Errorf("%s changed\ngot  %q\nwant %q", name, b.String(), text)
	}
}

// TestCommonMark puts the examples of the specification through: Markdown without components comes out byte for byte. Two of them hold
// names that are components here; that there are no such components is found later.
func TestCommonMark(t *testing.T) {
	holds := map[int]string{152: "DIV", 163: "Warning"}
	for _, e := range specExamples(t) {
		want, component := holds[e.Example]
		if !component {
			comesOutAsWritten(t, e.Section, e.Markdown)
			continue
		}
		doc, list := Parse("spec", e.Markdown)
		found := ""
		syntax.Walk(doc.Body, func(n syntax.Node) bool {
			if el, ok := n.(*syntax.Element); ok {
				found += el.Name
			}
			return true
		})
		if found != want || len(list) > 0 {
			t.Errorf("example %d: %q %+v", e.Example, found, list)
		}
	}
}

func TestReadmes(t *testing.T) {
	files, err := filepath.Glob("testdata/readmes/*.md")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		comesOutAsWritten(t, f, string(text))
	}
}
