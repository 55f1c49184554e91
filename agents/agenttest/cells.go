package agenttest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Row is a row of the table: an agent over a transport.
type Row struct {
	Agent string // as shown: "Codex"
	Over  string // the transport, with the version of an adapter: "codex-acp 2.6.0"
}

// column is what a cell of the table is about.
type column string

// The columns.
const (
	colStart        column = "start"
	colPrompt       column = "prompt"
	colStream       column = "stream"
	colTools        column = "tools"
	colReject       column = "reject"
	colCancel       column = "cancel"
	colLoad         column = "load in a new process"
	colUpgrade      column = "upgrade"
	colDowngrade    column = "downgrade"
	colMissing      column = "missing id"
	colDamaged      column = "damaged history"
	colInstructions column = "instructions"
	colFailure      column = "model failure"
	colTeardown     column = "teardown"
)

// columns are all of them, in the order of the table.
var columns = []column{
	colStart, colPrompt, colStream, colTools, colReject, colCancel, colLoad, colUpgrade, colDowngrade,
	colMissing, colDamaged, colInstructions, colFailure, colTeardown,
}

// suiteColumns are those that Run fills; versions are changed by Upgrade.
var suiteColumns = []column{
	colStart, colPrompt, colStream, colTools, colReject, colCancel, colLoad,
	colMissing, colDamaged, colInstructions, colFailure, colTeardown,
}

// cell is what one test, in one run, says of a said.
type cell struct {
	Row
	Version string   `json:"version"` // of the agent; "0.153.2 → 0.162.1" where it changes
	Column  column   `json:"column"`
	Test    string   `json:"test"`
	Result  result   `json:"result"`
	Why     string   `json:"why,omitempty"`     // it was not run
	Differs []string `json:"differs,omitempty"` // how what was seen differs from what most agents do, although it passed
}

// result is how a test ended.
type result string

// The results.
const (
	passed  result = "passed"
	failed  result = "failed"
	skipped result = "not run"
)

// book is what the tests of this process have said so far.
var book = struct {
	mu      sync.Mutex
	why     map[string]string   // by test: why it does not run
	differs map[string][]string // by test
	said    map[string]bool     // by test and column
}{why: map[string]string{}, differs: map[string][]string{}, said: map[string]bool{}}

// NotRun skips a test of real programs, or of a case that a target does not have, and keeps why for the evidence.
func NotRun(t testing.TB, why string) {
	t.Helper()
	book.mu.Lock()
	book.why[t.Name()] = why
	book.mu.Unlock()
	t.Skip("not run: " + why)
}

// differs notes that what a test sees is not what most agents do. It is shown in the test's cells if the test passes.
func differs(t testing.TB, format string, args ...any) {
	how := fmt.Sprintf(format, args...)
	t.Log("differs: " + how)
	book.mu.Lock()
	defer book.mu.Unlock()
	book.differs[t.Name()] = append(book.differs[t.Name()], how)
}

// claim says that a test shows what is in a cell: how it ends is recorded.
func claim(t *testing.T, target Target, c column) {
	t.Cleanup(func() { record(t, target, c) })
}

// doubt says that a test prepares what the tests in it show. If it does not pass, the cells of which none of them said anything get its
// own result; that it passes shows nothing.
func doubt(t *testing.T, target Target, shown ...column) {
	t.Cleanup(func() {
		if !t.Failed() && !t.Skipped() {
			return
		}
		for _, c := range shown {
			if !saidWithin(t.Name(), c) {
				record(t, target, c)
			}
		}
	})
}

func saidWithin(test string, c column) bool {
	book.mu.Lock()
	defer book.mu.Unlock()
	for key := range book.said {
		if name, shown, _ := strings.Cut(key, "\n"); shown == string(c) && strings.HasPrefix(name, test+"/") {
			return true
		}
	}
	return false
}

func record(t *testing.T, target Target, c column) {
	said := cell{Row: target.Row, Version: target.Release, Column: c, Test: t.Name()}
	book.mu.Lock()
	book.said[t.Name()+"\n"+string(c)] = true
	said.Result, said.Why = outcome(t), book.why[t.Name()]
	for name, how := range book.differs {
		if name == t.Name() || strings.HasPrefix(name, t.Name()+"/") {
			said.Differs = append(said.Differs, how...)
		}
	}
	book.mu.Unlock()
	if target.Agent == "" {
		return // no real program
	}
	if err := save(cellKind, said.Test+"\n"+string(c), said); err != nil {
		t.Errorf("evidence: %v", err)
	}
}

// outcome is how a test ended; called in its clean-up.
func outcome(t *testing.T) result {
	switch {
	case t.Failed():
		return failed
	case t.Skipped():
		return skipped
	}
	return passed
}
