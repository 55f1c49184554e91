package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares a text with what it was.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%s is not what the report is (%v); go test ./cmd/xmd/report -update writes it:\n%s", file, err, got)
	}
}

// The three reports of one run, whole.
func TestGolden(t *testing.T) {
	junit := NewJUnit()
	page, err := NewHTML()
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	var log strings.Builder
	hub := NewGitHub(NewLines(&log), "TOKEN")
	told("say <this> & that", junit, page, hub)
	hub.Close()
	var xml, html strings.Builder
	if _, err := junit.WriteTo(&xml); err != nil {
		t.Fatal(err)
	}
	if _, err := page.WriteTo(&html); err != nil {
		t.Fatal(err)
	}
	golden(t, "junit.xml", xml.String())
	golden(t, "page.html", html.String())
	golden(t, "github.log", log.String())
	golden(t, "summary.md", hub.Summary())
}
