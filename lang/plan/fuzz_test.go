package plan_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"xmd/lang"
	"xmd/lang/plan"
)

// FuzzCompile: what was resolved without errors has a plan, and that can be written; twice the same.
func FuzzCompile(f *testing.F) {
	for _, pattern := range []string{"testdata/*.xmd", "testdata/library/*.xmd", "testdata/library/components/*.xmd", "../resolve/testdata/errors/*.xmd", "testdata/graph/*.xmd"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	files := fileMap{"components/Box.xmd": "<Content/><Content slot=\"a\">x</Content>", "components/Ui/Panel.xmd": "---\nprops: {title: {}, level: {}}\n---\n<Content/><Content slot=\"foot\"/>",
		"schemas/note.json": "{}", "components/Review.xmd": "---\nprops: {subject: {}}\nreturns: true\n---\n<Return value={1}/>"}
	f.Fuzz(func(t *testing.T, text string) {
		doc, list := lang.Parse("f.xmd", text)
		p, more := plan.Compiler{Files: files}.Compile(doc)
		if (p == nil) != more.HasErrors() {
			t.Fatal(more)
		}
		if p == nil || list.HasErrors() {
			return
		}
		if err := p.WriteText(io.Discard); err != nil {
			t.Fatal(err)
		}
		if err := p.WriteJSON(io.Discard); err != nil {
			t.Fatal(err)
		}
		again, _ := lang.Parse("f.xmd", text)
		if q, _ := (plan.Compiler{Files: files}).Compile(again); q.Digest != p.Digest {
			t.Fatal("not the same digest twice")
		}
	})
}
