package diag

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// sarifSample holds a hint, related places, another file, a code without a row, and characters of all widths.
func sarifSample() ([]FileDiagnostics, []Code) {
	doc, card := NewSource("./docs/a b.xmd", "\uFEFFé漢😀 <Promt/>\nend"), NewSource("/abs/Card.xmd", "<B>\n")
	var list List
	list.Warn("XMD2001", Span{23, 26}, "late", "")
	list.Add("XMD1301", Span{13, 21}, "there is no component <Promt>", "did you mean <Prompt>?",
		Related{Summary: "used here", Span: Span{23, 26}}, Related{Summary: "there", Span: Span{0, 3}, Source: card})
	list.Add("XMD9999", Span{26, 26}, "at the end", "")
	var own List
	own.Add("XMD1001", Span{0, 3}, "<B> is not closed", "")
	list = append(list, own.From(card)...)
	list.Sort()
	rules := []Code{{"XMD1001", "an element is not closed"}, {"XMD1002", "never used"}, {"XMD1301", "there is no component of this name"}, {"XMD2001", "warning: something late"}}
	return []FileDiagnostics{{doc, list}, {NewSource("ok.xmd", ""), nil}}, rules
}

// TestSARIF compares the log with its golden, which was validated against the standard's schema when it was made.
func TestSARIF(t *testing.T) {
	files, rules := sarifSample()
	var b, again bytes.Buffer
	if WriteSARIF(&b, "1.2.3", files, rules) != nil || WriteSARIF(&again, "1.2.3", files, rules) != nil {
		t.Fatal("not written")
	}
	if b.String() != again.String() {
		t.Error("not the same bytes twice")
	}
	const path = "testdata/sample.sarif"
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("is now\n%s", b.String())
	}
}

// TestSARIFRequired: a log without findings has what the standard requires, as arrays, not null.
func TestSARIFRequired(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSARIF(&b, "", nil, nil); err != nil {
		t.Fatal(err)
	}
	var log map[string]any
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	run := log["runs"].([]any)[0].(map[string]any)
	driver := run["tool"].(map[string]any)["driver"].(map[string]any)
	if log["version"] != "2.1.0" || driver["name"] != "xmd" || run["columnKind"] != "unicodeCodePoints" {
		t.Errorf("%s", b.String())
	}
	if _, ok := run["results"].([]any); !ok {
		t.Errorf("results: %v", run["results"])
	}
	if _, ok := driver["rules"].([]any); !ok {
		t.Errorf("rules: %v", driver["rules"])
	}
}

func TestFileURI(t *testing.T) {
	for name, want := range map[string]string{
		"a.xmd": "a.xmd", "./x/../a b.xmd": "x/../a%20b.xmd", "/tmp/é#1?.xmd": "file:///tmp/%C3%A9%231%3F.xmd", `docs\a.xmd`: "docs/a.xmd",
		"a:b.xmd": "./a:b.xmd", "C:\\x\\a.xmd": "file:///C:/x/a.xmd", "stdin": "stdin", "50%.xmd": "50%25.xmd",
	} {
		if got := fileURI(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
