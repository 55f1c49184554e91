package lang

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/lang/diag"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestErrors puts the error corpus through: each document's messages stand beside it, in NAME.err.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.xmd")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		src := diag.NewSource(filepath.Base(f), string(text))
		_, list := Parse(src.Name, src.Text)
		for _, d := range list {
			seen[d.Code] = true
		}
		var b strings.Builder
		if err := diag.WriteText(&b, src, list); err != nil {
			t.Fatal(err)
		}
		golden := strings.TrimSuffix(f, ".xmd") + ".err"
		if *update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s\ngot\n%s\nwant\n%s", f, b.String(), want)
		}
	}
	for _, c := range diag.ParseCodes {
		if !seen[c.Code] && c.Code != diag.CodeTooManyErrors {
			t.Errorf("no document of the corpus has %s: %s", c.Code, c.Title)
		}
	}
}

func TestCodesAreUnique(t *testing.T) {
	if !slices.IsSortedFunc(diag.ParseCodes, func(a, b diag.Code) int { return strings.Compare(a.Code, b.Code) }) {
		t.Error("the table of codes is not in order")
	}
	for i, c := range diag.ParseCodes[1:] {
		if c.Code == diag.ParseCodes[i].Code || c.Title == "" {
			t.Errorf("bad row %+v", c)
		}
	}
}
