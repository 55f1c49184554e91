package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"xmd/lang"
	"xmd/lang/plan"
	"xmd/runtime"
)

// The page about troubles has a line for every kind, with its exit code.
func TestTroublesHaveEveryKind(t *testing.T) {
	page, err := os.ReadFile("../../specs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range runtime.Kinds {
		if line := fmt.Sprintf("| `%s` | %d |", k, k.ExitCode()); !strings.Contains(string(page), line) {
			t.Errorf("no line begins %q", line)
		}
	}
}

// fences are the blocks of a page that hold a document.
var fences = regexp.MustCompile("(?ms)^````md\n(.*?)^````$")

// The documents on the pages for newcomers are right.
func TestDocumentsOfPages(t *testing.T) {
	for _, page := range []string{"../../README.md", "../../specs/from-shell.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fences.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "{text}") { // a piece of an example that is tested as a whole
				continue
			}
			doc, list := lang.Parse(filepath.Base(page), m[1])
			_, more := plan.Compile(doc)
			for _, d := range append(list, more...) {
				t.Errorf("%s: %s: %s\n%s", page, d.Code, d.Summary, m[1])
			}
		}
	}
}

// The workflow for GitHub is YAML, and each flag in it exists.
func TestWorkflowExample(t *testing.T) {
	text, err := os.ReadFile("../../examples/ci/github-actions.yml")
	if err != nil {
		t.Fatal(err)
	}
	var flow struct {
		Jobs map[string]struct {
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(text, &flow); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, job := range flow.Jobs {
		for _, step := range job.Steps {
			words := strings.Fields(step.Run)
			if len(words) == 0 || words[0] != "xmd" {
				continue
			}
			calls++
			for _, c := range commands() {
				if c.name != words[1] {
					continue
				}
				if _, err := newFlagTable(c.flags).split(words[2:], nil); err != nil {
					t.Errorf("%s: %v", step.Run, err)
				}
			}
		}
	}
	if calls != 2 {
		t.Errorf("%d calls of xmd", calls)
	}
}

// Every test that the page about security names is there, every fuzz target of the project is on it, and each has a corpus.
func TestSecurityNamesTests(t *testing.T) {
	page, err := os.ReadFile("../../specs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			there[m[1]] = true
			if !strings.HasPrefix(m[1], "Fuzz") {
				continue
			}
			if !strings.Contains(string(page), "`"+m[1]+"`") {
				t.Errorf("%s is not on the page", m[1])
			}
			if kept, err := os.ReadDir(filepath.Join(filepath.Dir(path), "testdata", "fuzz", m[1])); err != nil || len(kept) == 0 {
				t.Errorf("%s of %s has no corpus: %v", m[1], path, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+|\\w+\\.txtar)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 100 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, m := range named {
		if name := m[1]; strings.HasSuffix(name, ".txtar") {
			if _, err := os.Stat(filepath.Join("testdata/script", name)); err != nil {
				t.Errorf("there is no script %s", name)
			}
		} else if !there[name] {
			t.Errorf("there is no test %s", name)
		}
	}
}
