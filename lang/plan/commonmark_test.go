package plan_test

import (
	"encoding/json"
	"os"
	"testing"

	"xmd/lang/layout"
)

// TestCommonMark: Markdown without components comes out byte for byte, through all stages.
func TestCommonMark(t *testing.T) {
	data, err := os.ReadFile("../testdata/commonmark/spec.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Example  int
		Markdown string
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Example == 152 || e.Example == 163 {
			continue // they hold names of components; package resolve has their errors
		}
		p := compile(t, "spec.md", e.Markdown)
		var out layout.Buffer
		if err := (&renderer{names: map[string]any{}}).nodes(p.Body, &out); err != nil || out.String() != e.Markdown {
			t.Errorf("%d: %v\ngot  %q\nwant %q", e.Example, err, out.String(), e.Markdown)
		}
	}
}
