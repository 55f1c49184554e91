package runtime

import (
	"bytes"
	"strings"
	"testing"
)

func TestHeadTail(t *testing.T) {
	half := func(c string) string { return strings.Repeat(c, keepHalf) }
	for _, c := range []struct {
		name   string
		pieces []string
		want   string
		lost   int64
	}{
		{"small", []string{"a", "b"}, "ab", 0},
		{"exactly all", []string{half("a"), half("b")}, half("a") + half("b"), 0},
		{"one too many", []string{half("a"), "x", half("b")}, half("a") + "\n[1 bytes left out]\n" + half("b"), 1},
		{"much", []string{half("a"), half("x"), half("x"), half("x"), half("x"), "x", half("b")}, half("a") + "\n[33554433 bytes left out]\n" + half("b"), 33554433},
		{"a character cut", []string{half("a")[1:] + "é", "xx", half("b")[1:], "b"}, half("a")[1:] + "\n[3 bytes left out]\n" + half("b"), 3},
		{"not UTF-8", []string{"a\xffb"}, "a\uFFFDb", 0},
	} {
		var h headTail
		for _, p := range c.pieces {
			h.add([]byte(p))
		}
		if got := h.String(); got != c.want || h.lost() != c.lost {
			t.Errorf("%s: %d bytes, lost %d, want %d bytes, lost %d", c.name, len(got), h.lost(), len(c.want), c.lost)
		}
		if h.bad() != (c.name == "not UTF-8") {
			t.Errorf("%s: bad is %v", c.name, h.bad())
		}
	}
}

func TestWholeRunes(t *testing.T) {
	const text = "aé漢😀z\x00"
	for size := 1; size <= len(text); size++ {
		var w wholeRunes
		got := ""
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			piece := w.add(bytes.Clone(rest[:n]))
			if strings.ContainsRune(piece, '\uFFFD') {
				t.Errorf("pieces of %d: %q", size, piece)
			}
			got += piece
			rest = rest[n:]
		}
		if got += w.rest(); got != text || w.bad {
			t.Errorf("pieces of %d: %q", size, got)
		}
	}
	var w wholeRunes
	if got := w.add([]byte("a\xffb\xc3")) + w.add([]byte("x\xe6\xbc")) + w.rest(); got != "a\uFFFDb\uFFFDx\uFFFD" || !w.bad {
		t.Errorf("%q", got)
	}
}
