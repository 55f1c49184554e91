package agenttest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// inRun has the tests leave their evidence in a folder of this test's own.
func inRun(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv(runKey, dir)
	t.Setenv(agentsKey, "")
	return dir
}

// What is left by tests that passed, that did not run and that saw something else is read again, and nothing else.
func TestEvidence(t *testing.T) {
	dir := inRun(t)
	gemini := Target{Row: Row{"Gemini", overItself}, Release: "0.58.0"}
	t.Run("a", func(t *testing.T) {
		claim(t, gemini, colStart)
		t.Run("b", func(t *testing.T) { differs(t, "it is slow") })
	})
	t.Run("a b", func(t *testing.T) {
		claim(t, gemini, colLoad)
		NotRun(t, "no disk")
	})
	t.Run("c", func(t *testing.T) {
		doubt(t, gemini, colCancel, colTools)
		t.Run("d", func(t *testing.T) { claim(t, gemini, colTools) })
		NotRun(t, "it was late")
	})
	t.Run("passes", func(t *testing.T) { doubt(t, gemini, colPrompt) })
	t.Run("no real one", func(t *testing.T) { claim(t, Target{}, colPrompt) })
	got, err := ReadEvidence(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range got.cells {
		lines = append(lines, fmt.Sprint(c.Test, " ", c.Row, " ", c.Version, " ", c.Column, " ", c.Result, " ", c.Why, c.Differs))
	}
	want := `TestEvidence/c {Gemini its own ACP} 0.58.0 cancel not run it was late[]
TestEvidence/a_b {Gemini its own ACP} 0.58.0 load in a new process not run no disk[]
TestEvidence/a {Gemini its own ACP} 0.58.0 start passed [it is slow]
TestEvidence/c/d {Gemini its own ACP} 0.58.0 tools passed []`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("cells\n%s\nwant\n%s", got, want)
	}
	if _, err := ReadEvidence(t.TempDir()); err == nil {
		t.Error("there is evidence of a run that left none")
	}
}

// A test of an agent that was not asked for leaves nothing.
func TestNarrowed(t *testing.T) {
	const inner = "AGENTTEST_NARROWED"
	if os.Getenv(inner) != "" { // in a process of its own, since they run beside others
		for _, agent := range []string{"Codex", "Grok"} {
			t.Run(agent, func(t *testing.T) { Record(t, Evidence{Agent: agent, Versions: "1", Over: "acp", Shown: "x"}) })
		}
		return
	}
	dir := t.TempDir()
	if out, err := again(t, "^TestNarrowed$", inner+"=1", runKey+"="+dir, agentsKey+"=grok,opencode"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := ReadEvidence(dir)
	if err != nil || len(got.Shown) != 1 || got.Shown[0].Agent != "Grok" || got.Shown[0].Result != passed {
		t.Errorf("%+v, %v", got.Shown, err)
	}
}

// cellsOf makes the cells of a row, "column: result" for each.
func cellsOf(row Row, version, test string, says ...string) []cell {
	var all []cell
	for _, one := range says {
		c, how, _ := strings.Cut(one, ": ")
		next := cell{Row: row, Version: version, Column: column(c), Test: test, Result: passed}
		switch kind, rest, _ := strings.Cut(how, " "); kind {
		case "not":
			next.Result, next.Why = skipped, rest
		case "failed":
			next.Result = failed
		case "differs":
			next.Differs = []string{rest}
		}
		all = append(all, next)
	}
	return all
}

// A cell needs a test that passed in this run; failures win, and versions that differ are named.
func TestPageCells(t *testing.T) {
	gemini, grok := Row{"Gemini", overItself}, kinds[5].Row
	var r RunEvidence
	r.cells = append(r.cells, cellsOf(gemini, "0.58.0", "TestA", "start: passed", "prompt: differs it sings", "tools: failed", "cancel: not installed", "cancel: passed", "reject: not | here")...)
	r.cells = append(r.cells, cellsOf(gemini, "0.61.0", "TestA", "start: passed", "prompt: passed", "tools: passed", "cancel: passed", "reject: not | here")...)
	r.cells = append(r.cells, cellsOf(gemini, "0.58.0 → 0.61.0 → 0.58.0", "TestUp", "upgrade: passed")...)
	r.cells = append(r.cells, cellsOf(gemini, "0.99.0", "TestElsewhere", "stream: passed")...)
	r.cells = append(r.cells, cellsOf(grok, "1.0.41", "TestRealSpeaking/Grok/1.0.41/permission/refused", "reject: differs a refusal ends the turn")...)
	r.cells = append(r.cells, cellsOf(grok, "1.0.5", "TestRealSpeaking/Grok/1.0.5/permission/refused", "reject: failed")...)
	page := r.Page()
	const none = "not run: no test of it in this run"
	for _, want := range []string{
		`| Gemini, its own ACP | 0.58.0, 0.61.0 | passed | 0.58.0: differs: it sings<br>0.61.0: passed | ` + none +
			" | 0.58.0: **failed**: `TestA`<br>0.61.0: passed | not run: \\| here | passed | " + none + " | passed | " + none,
		"* **Grok 1.0.41**, its own ACP, reject: " + seenDeclined,
		"| OpenCode, its own ACP | 1.18.20, 1.18.33 |" + strings.Repeat(" "+none+" |", len(columns)) + "\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no\n%s\nin\n%s", want, page)
		}
	}
	if strings.Contains(page, "Grok 1.0.5") || strings.Contains(page, "**Codex") {
		t.Errorf("claims that no test of this run shows:\n%s", page)
	}
	if (RunEvidence{}).Page() == page || strings.Contains((RunEvidence{}).Page(), "| passed |") {
		t.Error("a run without tests has cells that passed")
	}
}

// What was found on PATH has a row with its own version, and no versions to go through.
func TestPageInstalled(t *testing.T) {
	row := Row{"Claude", "claude-agent-acp on PATH"}
	r := RunEvidence{cells: append(cellsOf(row, "9.9.9", installedTest+"/x", "start: passed"), cellsOf(kinds[5].Row, "1.0.41", installedTest+"/y", "start: passed")...)}
	for _, want := range []string{"| Claude, claude-agent-acp on PATH | 9.9.9 | passed |", "| Grok, its own ACP | 1.0.41 | passed |", "not run: one version is installed"} {
		if page := r.Page(); !strings.Contains(page, want) {
			t.Errorf("the page has no %s\nin\n%s", want, page)
		}
	}
}

// The rows are what the programs are.
func TestRowsArePinned(t *testing.T) {
	for _, k := range kinds {
		for _, v := range k.versions {
			if _, err := FindProgram(k.name + "-" + v); err != nil {
				t.Error(err)
			}
			if target := k.target(v); target.Row != k.Row || target.Release != v {
				t.Errorf("%s %s is in the row %v %s", k.Agent, v, target.Row, target.Release)
			}
		}
	}
	for over, name := range adapters {
		if p, err := FindProgram(name); err != nil || over != name+" "+p.Version {
			t.Errorf("%q is not %s %s, %v", over, name, p.Version, err)
		}
	}
}
