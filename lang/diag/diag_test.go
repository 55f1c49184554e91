package diag

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestPos(t *testing.T) {
	src := NewSource("a.xmd", "\uFEFFa漢b\r\ncd\n")
	for _, c := range []struct{ off, line, col int }{
		{0, 1, 1}, {3, 1, 1}, {4, 1, 2}, {7, 1, 3}, {8, 1, 4}, {9, 1, 5}, {10, 2, 1}, {12, 2, 3}, {13, 3, 1}, {99, 3, 1}, {-1, 1, 1},
	} {
		if line, col := src.Pos(c.off); line != c.line || col != c.col {
			t.Errorf("Pos(%d) = %d:%d, want %d:%d", c.off, line, col, c.line, c.col)
		}
	}
	for n, want := range []string{"", "a漢b", "cd", "", ""} {
		if got := src.Line(n); got != want {
			t.Errorf("Line(%d) = %q, want %q", n, got, want)
		}
	}
	if src.Lines() != 3 {
		t.Errorf("Lines() = %d", src.Lines())
	}
}

func TestWriteText(t *testing.T) {
	src := NewSource("a.xmd", "\t漢 <Promt x/>\r\nend")
	var list List
	list.Warn("XMD2", Span{17, 20}, "late", "")
	list.Add("XMD1", Span{5, 11}, "no component Promt", "did you mean Prompt?", Related{Summary: "used here", Span: Span{17, 20}})
	list.Add("XMD1", Span{5, 11}, "no component Promt", "")
	list.Sort()
	var b bytes.Buffer
	if err := WriteText(&b, src, list); err != nil {
		t.Fatal(err)
	}
	want := "a.xmd:1:4: no component Promt [XMD1]\n    \t漢 <Promt x/>\n    \t   ^~~~~~\nhint: did you mean Prompt?\na.xmd:2:1: used here\n" +
		"a.xmd:2:1: warning: late [XMD2]\n    end\n    ^~~\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if !list.HasErrors() || len(list.Errors()) != 1 || len(list.Warnings()) != 1 || list.Warnings().HasErrors() {
		t.Error("errors and warnings are not told apart")
	}
}

func TestLongLineIsCut(t *testing.T) {
	src := NewSource("a", strings.Repeat("x", 1000)+"!"+strings.Repeat("\x1b", 1000))
	var b bytes.Buffer
	_ = WriteText(&b, src, List{{Summary: "s", Span: Span{1000, 2000}}})
	lines := strings.Split(b.String(), "\n")
	if len(lines[1]) > 4*excerptWidth || strings.Contains(b.String(), "\x1b") || strings.Index(lines[2], "^") != len("    ")+61 {
		t.Errorf("bad excerpt:\n%s", b.String())
	}
}

func TestRecords(t *testing.T) {
	src := NewSource("a.xmd", "x <Y>\n")
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	list := List{{Code: "XMD1", Summary: "<Y> is bad", Span: Span{2, 5}, Related: []Related{{Summary: "here", Span: Span{0, 1}}}}}
	if err := enc.Encode(Records(src, list)); err != nil {
		t.Fatal(err)
	}
	want := `[{"file":"a.xmd","line":1,"col":3,"endLine":1,"endCol":6,"offset":2,"severity":"error","code":"XMD1","message":"<Y> is bad","related":[{"file":"a.xmd","line":1,"col":1,"offset":0,"message":"here"}]}]` + "\n"
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
	if out, _ := json.Marshal(Records(src, nil)); string(out) != "[]" {
		t.Errorf("an empty list is %s", out)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"session", "schema", "text", "as", "If"}
	for in, want := range map[string]string{"sesion": "session", "tetx": "text", "Text": "text", "xyz": "", "a": "as", "q": "", "shcema": "schema", "sesssionn": "session", "iff": "", "IF": "If", "session": ""} {
		if got := Nearest(in, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestSources: what is about other files names them, and comes behind what is about the document itself.
func TestSources(t *testing.T) {
	doc, card, box := NewSource("a.xmd", "one\n"), NewSource("c/Card.xmd", "two\n"), NewSource("c/Box.xmd", "three\n")
	var cards, boxes List
	cards.Add("XMD1", Span{1, 2}, "second", "", Related{Summary: "there", Span: Span{2, 3}, Source: box})
	boxes.Add("XMD1", Span{0, 1}, "third", "")
	var list List
	list = append(list, cards.From(card)...)
	list = append(list, boxes.From(box)...)
	list.Add("XMD2", Span{3, 3}, "first", "", Related{Summary: "own", Span: Span{0, 1}})
	list.Sort()
	var b bytes.Buffer
	if err := WriteText(&b, doc, list); err != nil {
		t.Fatal(err)
	}
	want := "a.xmd:1:4: first [XMD2]\n    one\n       ^\na.xmd:1:1: own\nc/Card.xmd:1:2: second [XMD1]\n    two\n     ^\nc/Box.xmd:1:3: there\nc/Box.xmd:1:1: third [XMD1]\n    three\n    ^\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	r := Records(doc, list)
	if r[0].File != "a.xmd" || r[1].File != "c/Card.xmd" || r[1].Related[0].File != "c/Box.xmd" || r[1].Col != 2 {
		t.Errorf("%+v", r)
	}
}
