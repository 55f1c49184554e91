package agenttest

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Evidence is one line of the table of what was shown with real programs.
type Evidence struct {
	Agent    string `json:"agent"`    // as shown: "Codex"
	Versions string `json:"versions"` // "0.153.2 → 0.162.1"
	Over     string `json:"over"`     // the transport with its version: "codex-acp 2.6.0"
	Shown    string `json:"shown"`    // what the test shows, in a few words
	Result   string `json:"result"`   // passed, failed, or not run with the reason
}

// evidenceDir is where tests leave their lines for the table.
func evidenceDir() (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "evidence"), nil
}

// Record notes, when the test ends, how it ended. A test that is skipped where a program is missing counts as not run; where
// all are installed it does not apply, and is no line of the table.
func Record(t *testing.T, e Evidence) {
	t.Cleanup(func() {
		switch {
		case t.Failed():
			e.Result = "failed"
		case t.Skipped() && complete():
			return
		case t.Skipped():
			e.Result = "not run"
		default:
			e.Result = "passed"
		}
		if err := e.save(t.Name()); err != nil {
			t.Errorf("evidence: %v", err)
		}
	})
}

// complete says whether every program is installed.
func complete() bool {
	for _, p := range Programs() {
		if _, err := p.Installed(); err != nil {
			return false
		}
	}
	return true
}

func (e Evidence) save(test string) error {
	dir, err := evidenceDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' {
			return '-'
		}
		return r
	}, test)
	return os.WriteFile(filepath.Join(dir, name+".json"), data, 0o644)
}

// ClearEvidence forgets what earlier runs left.
func ClearEvidence() error {
	dir, err := evidenceDir()
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// ReadEvidence reads what the tests left, in the order of the table.
func ReadEvidence() ([]Evidence, error) {
	dir, err := evidenceDir()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var rows []Evidence
	for _, file := range files {
		var e Evidence
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err != nil {
			return nil, fmt.Errorf("evidence %s: %w", file, err)
		}
		rows = append(rows, e)
	}
	slices.SortFunc(rows, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Shown, b.Shown), cmp.Compare(a.Versions, b.Versions), cmp.Compare(a.Over, b.Over))
	})
	return rows, nil
}

// acceptancePage lists what was asked for and the tests that show it.
//
//go:embed acceptance.md
var acceptancePage string

// EvidenceTable is the page of the table, in Markdown.
func EvidenceTable(rows []Evidence) string {
	var b strings.Builder
	b.WriteString(`# Evidence

Written by ` + "`make real`" + `; not edited by hand. Real programs of the pinned versions, each with a scripted model on
loopback that knows a codeword only from the conversation it is given. These are the versions that were run, not a list of
what is allowed. "not run" says that a program could not be installed there.

| agent | versions | over | shown | result |
|---|---|---|---|---|
`)
	for _, e := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", e.Agent, e.Versions, e.Over, e.Shown, e.Result)
	}
	b.WriteString(acceptancePage)
	return b.String()
}
