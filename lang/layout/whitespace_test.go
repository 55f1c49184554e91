package layout_test

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"xmd/lang"
	"xmd/lang/layout"
	"xmd/lang/syntax"
)

// examples are the worked examples of white space: input, right output or error.
type examples struct {
	Components map[string]string
	Vars       map[string]any
	Examples   []struct {
		N     int
		Name  string
		In    string
		Out   string
		Error bool
		Files map[string]string
	}
}

// wrongAt says where and with which code the examples that are errors fail.
var wrongAt = map[int]struct {
	offset int
	code   string
}{79: {0, "XMD1020"}, 88: {2, "XMD1022"}, 89: {7, "XMD1001"}}

func load(t *testing.T) (ex examples) {
	t.Helper()
	data, err := os.ReadFile("testdata/white-space.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &ex); err != nil {
		t.Fatal(err)
	}
	return ex
}

func TestWhiteSpace(t *testing.T) {
	ex := load(t)
	components := map[string]*syntax.Document{}
	for name, text := range ex.Components {
		components[name] = mustParse(name, text)
	}
	if len(ex.Examples) != 100 {
		t.Fatalf("%d examples", len(ex.Examples))
	}
	for _, c := range ex.Examples {
		doc, list := lang.Parse("in.xmd", c.In)
		if c.Error {
			want := wrongAt[c.N]
			if len(list) != 1 || list[0].Span.Start != want.offset || list[0].Code != want.code {
				t.Errorf("%d %s: %+v, want %s at %d", c.N, c.Name, list, want.code, want.offset)
			}
			continue
		}
		if len(list) > 0 {
			t.Errorf("%d %s: %+v", c.N, c.Name, list)
			continue
		}
		e := &evaluator{components: components, files: map[string]string{}}
		var out layout.Buffer
		if err := e.nodes(doc.Body, &names{vars: maps.Clone(ex.Vars)}, &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.Out || len(e.files) != len(c.Files) || !maps.Equal(e.files, orEmpty(c.Files)) {
			t.Errorf("%d %s\nin    %q\ngot   %q\nwant  %q\nfiles %q\nwant  %q", c.N, c.Name, c.In, out.String(), c.Out, e.files, c.Files)
		}
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
