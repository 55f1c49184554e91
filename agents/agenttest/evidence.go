package agenttest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Evidence is one line of the list of what was shown with real programs.
type Evidence struct {
	Agent    string `json:"agent"`    // as shown: "Codex"; of several "Codex, Claude"
	Versions string `json:"versions"` // "0.153.2 → 0.162.1"
	Over     string `json:"over"`     // the transport with its version: "codex-acp 2.6.0"
	Shown    string `json:"shown"`    // what the test shows, in a few words
	Test     string `json:"test"`     // the test; set by Record
	Result   result `json:"result"`   // how it ended; set by Record
	Why      string `json:"why,omitempty"`
}

// Variables of the environment that `make real` sets for the tests.
const (
	// runKey names the folder in which the tests of one run leave their evidence; each run has its own. Not set: nothing is kept.
	runKey = "XMD_REAL_EVIDENCE"
	// agentsKey narrows the tests to these agents, by xmd's names with commas between them; "": all. With Installed among them, what is on
	// PATH is tested instead of the pinned programs.
	agentsKey = "XMD_REAL_AGENTS"
)

// What is kept in the folder of a run.
const (
	shownKind = "shown"
	cellKind  = "cell"
)

// Wanted skips the test unless real programs are asked for; then nothing is recorded. Otherwise the test goes on beside others. It may be
// called again by the same test.
func Wanted(t *testing.T) {
	t.Helper()
	if os.Getenv("XMD_REAL") != "1" {
		t.Skip("real programs run with XMD_REAL=1 only: make real")
	}
	if _, again := beside.LoadOrStore(t.Name(), true); !again {
		t.Parallel()
	}
}

// beside has the names of the tests that run beside others.
var beside sync.Map

// Record notes, when the test ends, how it ended. It skips the test, and notes nothing, if it is of an agent that was not asked for. A test
// that is skipped by NotRun counts as not run; skipped otherwise it does not apply, and is no line of the list. The test is a
// subtest, and goes on beside others once the test it belongs to has begun them all.
func Record(t *testing.T, e Evidence) {
	if !wants(e.Agent) {
		t.Skip("not asked for")
	}
	t.Parallel()
	t.Cleanup(func() {
		book.mu.Lock()
		e.Test, e.Result, e.Why = t.Name(), outcome(t), book.why[t.Name()]
		book.mu.Unlock()
		if e.Result == skipped && e.Why == "" {
			return
		}
		if err := save(shownKind, e.Test, e); err != nil {
			t.Errorf("evidence: %v", err)
		}
	})
}

// wants says whether all agents of a piece of evidence are asked for.
func wants(shown string) bool {
	_, names := asked()
	return names == nil || !slices.ContainsFunc(strings.Split(strings.ToLower(shown), ", "), func(name string) bool { return !slices.Contains(names, name) })
}

// asked are the agents that the tests are narrowed to, nil for all, and whether those on PATH are meant instead of the pinned ones.
func asked() (installed bool, names []string) {
	for name := range strings.SplitSeq(os.Getenv(agentsKey), ",") {
		switch name {
		case "":
		case Installed:
			installed = true
		default:
			names = append(names, name)
		}
	}
	return installed, names
}

// save keeps one piece of evidence in the folder of this run, if it has one. Two of the same kind have different keys.
func save(kind, key string, v any) error {
	dir := os.Getenv(runKey)
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%x.json", kind, sha256.Sum256([]byte(key)))
	return os.WriteFile(filepath.Join(dir, name), data, 0o644)
}

// readAll reads what the tests of a run left of one kind, in no particular order.
func readAll[T any](dir, kind string) ([]T, error) {
	files, err := filepath.Glob(filepath.Join(dir, kind+"-*.json"))
	if err != nil {
		return nil, err
	}
	var all []T
	for _, file := range files {
		var one T
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &one)
		}
		if err != nil {
			return nil, fmt.Errorf("evidence %s: %w", file, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// RunEvidence is the evidence of one run of the tests.
type RunEvidence struct {
	Shown []Evidence
	cells []cell
	when  string // its day
	on    string // the kind of machine: "linux/amd64"
}

// ReadEvidence reads what the tests of one run left in its folder, in the order of the page. A run of which nothing was left is an error.
func ReadEvidence(dir string) (RunEvidence, error) {
	r := RunEvidence{when: time.Now().UTC().Format(time.DateOnly), on: runtime.GOOS + "/" + runtime.GOARCH}
	var err error
	if r.cells, err = readAll[cell](dir, cellKind); err != nil {
		return r, err
	}
	if r.Shown, err = readAll[Evidence](dir, shownKind); err != nil {
		return r, err
	}
	if len(r.cells)+len(r.Shown) == 0 {
		return r, fmt.Errorf("there is no evidence in %s: set %s for the tests, as make real does", dir, runKey)
	}
	slices.SortFunc(r.Shown, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Shown, b.Shown), cmp.Compare(a.Versions, b.Versions), cmp.Compare(a.Over, b.Over))
	})
	slices.SortFunc(r.cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Over, b.Over), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Test, b.Test))
	})
	return r, nil
}
