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
	mains, _ := filepath.Glob("testdata/files/*/main.xmd")
	for _, name := range mains {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, _ := lang.Parse("f.xmd", text)
		o := resolve.Options{Files: itself{text}}
		_, list := resolve.Resolve(doc, o)
		for _, d := range list {
			if text := d.In(doc.Source).Text; d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(text) || d.Summary == "" || d.Code == "" {
				t.Fatalf("%+v", d)
			}
		}
		once := check("f.xmd", text, o)
		if again := check("f.xmd", text, o); again != once {
			t.Fatal("not the same twice")
		}
	})
}

// itself gives the same text for every component, and one schema.
type itself struct{ text string }

func (f itself) Component(_, name string) (resolve.File, bool, error) {
	return resolve.File{Name: name + ".xmd", Text: f.text}, len(name) < 6, nil
}

func (f itself) Components(string) []string { return []string{"Card", "Let"} }

func (f itself) Schema(_, path string) (resolve.File, error) {
	return resolve.File{Name: path, Text: f.text}, nil
}

// FuzzSchemaFile: whatever a schema file holds, what is said about it stands inside.
func FuzzSchemaFile(f *testing.F) {
	for _, s := range []string{`{"type": "object", "properties": {"a\"b": 3, "c": [1, {"x": -1.5e3}]}}`, "\uFEFF[1", "{", `"\\"`, `{"items": 3, "items": {"type": 1}}`, " 1 2", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, _ := lang.Parse("f.xmd", `<Prompt text="x" schema="s.json"/>`)
		_, list := resolve.Resolve(doc, resolve.Options{Files: itself{text}})
		for _, d := range list {
			if in := d.In(doc.Source).Text; d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(in) {
				t.Fatalf("%+v in %q", d, in)
			}
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
