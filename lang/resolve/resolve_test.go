package resolve_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/resolve"
	"xmd/lang/syntax"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// check gives everything that is said about a document, as people read it.
func check(name, text string, o resolve.Options) string {
	doc, list := lang.Parse(name, text)
	_, more := resolve.Resolve(doc, o)
	list = append(list, more...)
	list.Sort()
	var b strings.Builder
	_ = diag.WriteText(&b, doc.Source, list)
	return b.String()
}

// TestErrors compares what is said about each document of the corpus with the golden beside it.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.xmd")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got := check(filepath.Base(f), string(text), resolve.Options{})
			golden := strings.TrimSuffix(f, ".xmd") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("is now:\n%s", got)
			}
		})
	}
}

// TestCodesAreTested: every code of the table is in a golden, or in another package's tests.
func TestCodesAreTested(t *testing.T) {
	var all strings.Builder
	files, _ := filepath.Glob("testdata/errors/*.golden")
	folders, _ := filepath.Glob("testdata/files/*/golden")
	for _, f := range slices.Concat(files, folders) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	elsewhere := []string{"XMD1206", resolve.CodeFrontEntry}
	last := ""
	for _, c := range resolve.Codes {
		if !strings.Contains(all.String(), c.Code) && !slices.Contains(elsewhere, c.Code) {
			t.Errorf("no test for %s, %s", c.Code, c.Title)
		}
		if c.Code <= last {
			t.Errorf("%s stands behind %s", c.Code, last)
		}
		last = c.Code
	}
}

func TestTableIsComplete(t *testing.T) {
	names := map[string]bool{}
	for _, c := range resolve.Components {
		names[c.Name] = true
		if _, ok := syntax.Builtins[c.Name]; !ok {
			t.Errorf("syntax does not know %s", c.Name)
		}
	}
	for name := range syntax.Builtins {
		if !names[name] {
			t.Errorf("the table of components lacks %s", name)
		}
	}
}

func TestEntries(t *testing.T) {
	doc, _ := lang.Parse("repl[1]", `<Let as="n" value={{"x": 1}}/><If condition={true}><Let as="m" value={1}/></If>`)
	info, list := resolve.Resolve(doc, resolve.Options{Entry: true})
	if len(list) > 0 {
		t.Fatal(list)
	}
	for text, want := range map[string]string{
		"<Prompt>{n.x}</Prompt>":       "",
		"<Prompt>{n.x.y}</Prompt>":     "n.x is a number and has no member y",
		"<Prompt>{m}</Prompt>":         "m is bound on some paths only",
		"<Prompt>{o}</Prompt>":         "o is not bound here",
		"---\na: 1\n---\n":             "frontmatter belongs in a file",
		"<Return value={1}/>":          "Return belongs in a file",
		"<Output>x</Output>":           "Output belongs in a file",
		"<Let as=\"n\" value={1}/>{n}": "",
	} {
		got := check("repl[2]", text, resolve.Options{Entry: true, Bound: info.Bound})
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: want %q, got\n%s", text, want, got)
		}
	}
	if _, again := info.Bound["n"]; !again || len(info.Bound) != 2 {
		t.Errorf("bound names changed: %v", info.Bound)
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]int64{"1ms": 1, "30s": 30_000, "2m": 120_000, "1h": 3_600_000,
		"0s": -1, "": -1, "30": -1, "-1s": -1, "+1s": -1, "1.5s": -1, "1 s": -1, "1d": -1, "1S": -1, "99999999999999999999s": -1, "99999999h": -1} {
		got, err := resolve.Duration(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestSessionName(t *testing.T) {
	for name, ok := range map[string]bool{"a": true, "fix/issue-12 v1.2_x": true, "Größe": true, strings.Repeat("é", 128): true,
		"": false, " a": false, "a ": false, "a@1": false, "a:b": false, "a\nb": false, strings.Repeat("é", 129): false, "a\\b": false} {
		if err := resolve.SessionName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestParsePermission(t *testing.T) {
	for entry, want := range map[string]string{"read": "read|", "execute:rm *": "execute|rm *", "fetch:https://*": "fetch|https://*", "edit:a:b": "edit|a:b",
		"": "", "Read": "", "exec": "", "read:": "", "read: ": "", "*": ""} {
		p, err := resolve.ParsePermission(entry)
		if (err != nil) != (want == "") || err == nil && p.Kind+"|"+p.Glob != want {
			t.Errorf("%q is %+v, %v", entry, p, err)
		}
	}
}
