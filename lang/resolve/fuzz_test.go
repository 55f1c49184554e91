package resolve_test

import (
	"os"
	"path/filepath"
	"testing"

	"xmd/lang"
	"xmd/lang/resolve"
)

// FuzzResolve: no document panics, also one that does not parse; what is said stands inside; twice the same.
func FuzzResolve(f *testing.F) {
	files, _ := filepath.Glob("testdata/errors/*.xmd")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, _ := lang.Parse("f.xmd", text)
		_, list := resolve.Resolve(doc, resolve.Options{})
		for _, d := range list {
			if d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(text) || d.Summary == "" || d.Code == "" {
				t.Fatalf("%+v", d)
			}
		}
		once := check("f.xmd", text, resolve.Options{})
		if again := check("f.xmd", text, resolve.Options{}); again != once {
			t.Fatal("not the same twice")
		}
	})
}

// FuzzFrontmatter puts the text between the two lines.
func FuzzFrontmatter(f *testing.F) {
	for _, s := range []string{"a: 1", "props:\n  a: {type: string}\nrequired: [a]", "env: {A: {default: x}}", "a: &x [1, *x]", "a: |\n  b\n c: 1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, yaml string) {
		text := "---\nk: 1\n" + yaml + "\n---\n<Prompt>{props.a} {env.A} {meta.k}</Prompt>\n"
		doc, _ := lang.Parse("f.xmd", text)
		_, list := resolve.Resolve(doc, resolve.Options{})
		for _, d := range list {
			if d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(text) {
				t.Fatalf("%+v", d)
			}
		}
	})
}
