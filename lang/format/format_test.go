package format_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/format"
	"xmd/lang/plan"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestGoldens formats each text of testdata and compares it with the form that stands beside it.
func TestGoldens(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.in")
	if len(files) == 0 {
		t.Fatal("no test data")
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got := check(t, string(text))
		path := strings.TrimSuffix(f, ".in") + ".out"
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; is now:\n%s", path, got)
		}
	}
}

// check formats a text and checks what is promised of any: the form is a document of the same digest, and stays as it is.
func check(t testing.TB, text string) string {
	t.Helper()
	before, list := lang.Parse("f", text)
	got, said := format.Source(diag.NewSource("f", text))
	if list.HasErrors() {
		if got != "" || !said.HasErrors() {
			t.Fatalf("%q has errors and is formatted to %q", text, got)
		}
		return ""
	}
	after, list := lang.Parse("f", got)
	if list.HasErrors() {
		t.Fatalf("%q became %q, which has errors: %v", text, got, list)
	}
	if again, _ := format.Source(diag.NewSource("f", got)); again != got {
		t.Fatalf("%q became %q and then %q", text, got, again)
	}
	a, wrongA := plan.Compile(before)
	b, wrongB := plan.Compile(after)
	switch {
	case (a == nil) != (b == nil):
		t.Fatalf("%q became %q: %v, then %v", text, got, wrongA, wrongB)
	case a != nil && a.Digest != b.Digest:
		t.Fatalf("%q became %q, which has another digest", text, got)
	}
	return got
}

func TestFrontmatter(t *testing.T) {
	for text, want := range map[string]string{
		"---\na: 1\n---\nx\n":                     "---\na: 1\n---\n\nx\n",
		"---\na: 1\n---\n \n\t\n\n  x\n":          "---\na: 1\n---\n\n  x\n",
		"--- \na: |+\n  b\n\n---\t\n":             "---\na: |+\n  b\n\n---\n",
		"---\na: 1\n---":                          "---\na: 1\n---",
		"---\na: 1\n---\n\n \n":                   "---\na: 1\n---\n",
		"---\r\na: 1\r\n---\r\nx":                 "---\r\na: 1\r\n---\r\n\r\nx",
		"\uFEFF#!/usr/bin/xmd\n---\na: 1\n---\nx": "\uFEFF#!/usr/bin/xmd\n---\na: 1\n---\n\nx",
		"\n---\na: 1\n---\nx":                     "\n---\na: 1\n---\nx",
		"---\n\n---\nx":                           "---\n\n---\nx",
	} {
		if got := check(t, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestWhatStays: what would change the document is left out, and only that.
func TestWhatStays(t *testing.T) {
	for text, want := range map[string]string{
		// joined, the tag's line holds a backtick, and the span before it would reach over it
		"`a\n<Break\n  />`\n<Break  />\n": "`a\n<Break\n  />`\n<Break/>\n",
		// the body's least indented line and the tag do not compare
		"<If condition={true}>\n\ta\n  b\n</If  >\n": "<If condition={true}>\n\ta\n  b\n</If>\n",
		// an indentation before the quote would be no part of it
		"<Output>\n    > <If   condition={true}>\n    >     a\n    > </If>\n</Output>\n": "<Output>\n  > <If condition={true}>\n  >     a\n  > </If>\n</Output>\n",
		"text {a   } `<B   />` <!-- <B   /> --> \\<B   /> {/* <B   /> */}\n":             "text {a   } `<B   />` <!-- <B   /> --> \\<B   /> {/* <B   /> */}\n",
	} {
		if got := check(t, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestErrorsRefuse: a document with errors comes back as nothing, with all its errors.
func TestErrorsRefuse(t *testing.T) {
	got, list := format.Source(diag.NewSource("f", "<If condition={x}>\n<Prompt a=b/>\n"))
	if got != "" || len(list.Errors()) != 2 {
		t.Errorf("%q, %v", got, list)
	}
}

// TestManyTags: a document of many tags on many lines, and of many on one, takes no more than linear time; the bound is generous.
func TestManyTags(t *testing.T) {
	begin := time.Now()
	for _, unit := range []string{"<Let  as='a'  value={ 1 }/>\n<If   condition={true}>\n    text\n</If>\n", "<Let  as='a'  value={ 1 }/> "} {
		text := strings.Repeat(unit, 5_000)
		if got := check(t, text); len(got) >= len(text) || strings.Contains(got, "  as") {
			t.Error("not formatted")
		}
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("took %s", d)
	}
}

// corpus holds the texts that the tests of the language run on.
func corpus(t testing.TB) []string {
	t.Helper()
	var texts []string
	for _, pattern := range []string{"testdata/*.in", "../testdata/errors/*.xmd", "../testdata/readmes/*.md", "../plan/testdata/*.xmd", "../../examples/*.xmd"} {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			t.Fatalf("no files %s", pattern)
		}
		for _, f := range files {
			texts = append(texts, read(t, f))
		}
	}
	for file, key := range map[string]string{"../layout/testdata/white-space.json": "In", "../testdata/commonmark/spec.json": "markdown"} {
		var v any
		if err := json.Unmarshal([]byte(read(t, file)), &v); err != nil {
			t.Fatal(err)
		}
		n := len(texts)
		if texts = under(texts, v, key); len(texts) == n {
			t.Fatalf("%s: nothing under %s", file, key)
		}
	}
	return texts
}

// under appends all strings under a key, wherever they stand in a JSON value.
func under(texts []string, v any, key string) []string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			texts = under(texts, e, key)
		}
	case map[string]any:
		for k, e := range v {
			if s, ok := e.(string); ok && k == key {
				texts = append(texts, s)
				continue
			}
			texts = under(texts, e, key)
		}
	}
	return texts
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCorpus formats each text of the corpus, with line ends of both kinds.
func TestCorpus(t *testing.T) {
	for _, text := range corpus(t) {
		check(t, text)
		check(t, strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n"))
	}
}

// FuzzFormat checks what is promised of any text: see check.
func FuzzFormat(f *testing.F) {
	for _, text := range corpus(f) {
		if len(text) < 4096 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		stuck := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("no end for %q", text)) })
		defer stuck.Stop()
		check(t, text)
	})
}
