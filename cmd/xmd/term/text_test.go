package term_test

import (
	"strings"
	"testing"

	"xmd/cmd/xmd/term"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"short", 5, "short"}, {"shorter", 5, "shor…"}, {"漢字漢字", 5, "漢字…"}, {"漢字漢字", 4, "漢…"}, {"漢字漢字", 8, "漢字漢字"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"}, {"x", 0, ""}, {"xy", 1, "…"}, {"x", -3, ""},
	} {
		if got := term.Fit(c.line, c.columns); got != c.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.line, c.columns, got, c.want)
		}
	}
}

func TestPaintLinesByThemselves(t *testing.T) {
	if got := term.Paint(true, term.Red, "a\n\nb"); got != "\x1b[31ma\x1b[0m\n\n\x1b[31mb\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := term.Paint(false, term.Red, "a\n"); got != "a\n" {
		t.Errorf("%q", got)
	}
}

func TestDiff(t *testing.T) {
	before := "one\ntwo\nthree\n"
	if got := term.Diff(false, "a\x1b.go", &before, "one\n2\nthree\n"); got != "--- a.go\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" {
		t.Errorf("%q", got)
	}
	if got := term.Diff(true, "n", nil, "-- x\n"); got != "\x1b[1m--- n (new)\x1b[0m\n\x1b[36m@@ -0,0 +1,1 @@\x1b[0m\n\x1b[32m+-- x\x1b[0m\n" {
		t.Errorf("%q", got)
	}
	same := "x"
	if got := term.Diff(false, "n", &same, "x"); got != "--- n\n" {
		t.Errorf("%q", got)
	}
	hostile := strings.Repeat("\x1b[2J\u202e漢"+strings.Repeat("w", 1000)+"\n", 1000)
	got := term.Diff(false, "n", nil, hostile)
	if strings.Count(got, "\n") != 42 || len(got) > 42*300 || strings.ContainsAny(got, "\x1b\u202e") || !strings.HasSuffix(got, "… 961 more lines\n") {
		t.Errorf("%d lines, %d bytes, ends %q", strings.Count(got, "\n"), len(got), got[len(got)-40:])
	}
	if got := term.Diff(false, "n", nil, strings.Repeat("x", 2<<20)); !strings.Contains(got, "0 bytes become 2097152; too large to be shown") {
		t.Errorf("%q", got)
	}
}
