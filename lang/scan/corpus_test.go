package scan

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gtext "github.com/yuin/goldmark/text"
)

// definition finds lines that may belong to link reference definitions.
var definition = regexp.MustCompile(`(?m)^[> \t\-*+]*\[[^\n]*\n?[^\n]*\]:.*\n?.*$`)

// uncompared marks the bytes of a document that are not compared: indented code, HTML blocks other than comments, reference definitions, and
// whole blocks of text that hold a raw tag or an autolink.
func uncompared(src string) []bool {
	skip := make([]bool, len(src))
	lines := func(segs *gtext.Segments) {
		for i := range segs.Len() {
			seg := segs.At(i)
			for j := seg.Start; j < seg.Stop; j++ {
				skip[j] = true
			}
		}
	}
	root := goldmark.DefaultParser().Parse(gtext.NewReader([]byte(src)))
	_ = ast.Walk(root, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		switch h := n.(type) {
		case *ast.CodeBlock:
			lines(n.Lines())
		case *ast.HTMLBlock:
			if h.HTMLBlockType == ast.HTMLBlockType2 {
				break
			}
			lines(n.Lines())
			for j := max(h.ClosureLine.Start, 0); j < h.ClosureLine.Stop; j++ {
				skip[j] = true
			}
		case *ast.RawHTML, *ast.AutoLink:
			for ; n.Type() != ast.TypeBlock; n = n.Parent() {
			}
			lines(n.Lines())
		}
		return ast.WalkContinue, nil
	})
	for _, m := range behindComment.FindAllStringSubmatchIndex(src, -1) {
		for j := m[2]; j < m[3]; j++ {
			skip[j] = true
		}
	}
	for _, m := range definition.FindAllStringIndex(src, -1) {
		for j := m[0]; j < m[1]; j++ {
			skip[j] = true
		}
	}
	return skip
}

// TestOracleCorpus compares the specification's examples and some long files of the world.
func TestOracleCorpus(t *testing.T) {
	type example struct {
		Example  int
		Markdown string
	}
	data, err := os.ReadFile("../testdata/commonmark/spec.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []example
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../testdata/readmes/*.md")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for i, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, example{1000 + i, string(text)})
	}
	letters := 0
	for _, e := range list {
		theirs, _ := oracle(e.Markdown)
		ours, _ := inert(e.Markdown)
		if theirs == nil || ours == nil {
			t.Logf("example %d is not compared: a fence or comment goes on behind its item or paragraph", e.Example)
			continue
		}
		skip := uncompared(e.Markdown)
		for i := range ours {
			if !isLetter(e.Markdown[i]) || skip[i] {
				continue
			}
			letters++
			if ours[i] != theirs[i] {
				t.Errorf("example %d differs at %d:\n%q\nours   %s\ntheirs %s", e.Example, i, e.Markdown[max(0, i-100):min(len(e.Markdown), i+100)], ours[max(0, i-100):min(len(e.Markdown), i+100)], theirs[max(0, i-100):min(len(e.Markdown), i+100)])
				break
			}
		}
	}
	t.Logf("%d letters compared", letters)
}
