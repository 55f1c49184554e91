package agenttest

import (
	"strings"
	"testing"
)

func TestRealCodex(t *testing.T) {
	Wanted(t)
	for _, v := range codexVersions {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Codex", Versions: v, Over: overCodex, Shown: "conformance"})
			conforms(t, Codex(v))
		})
	}
}

func TestRealClaude(t *testing.T) {
	Wanted(t)
	for _, v := range claudeVersions {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Claude", Versions: v, Over: overClaude, Shown: "conformance"})
			conforms(t, Claude(v))
		})
	}
}

// conforms runs the suite. Where something is not installed, every cell that it fills says so.
func conforms(t *testing.T, target Target) {
	t.Helper()
	doubt(t, target, suiteColumns...)
	ready(t, target)
	Run(t, target)
}

// ready skips the test as not run if something of the target is not installed. The suite's own skips are in subtests and
// leave the test as it is.
func ready(t *testing.T, target Target) {
	t.Helper()
	target.At(t, Place{Home: t.TempDir(), Root: t.TempDir()})
}

// A conversation goes through all versions of an agent, upwards and downwards.
func TestRealUpgrade(t *testing.T) {
	Wanted(t)
	for _, k := range kinds {
		for _, way := range []column{colUpgrade, colDowngrade} {
			t.Run(k.Agent+"/"+k.Over+"/"+string(way), func(t *testing.T) {
				versions := k.chain(way)
				all := strings.Join(versions, arrow)
				Record(t, Evidence{Agent: k.Agent, Versions: all, Over: k.Over, Shown: "a conversation goes on across versions"})
				claim(t, Target{Row: k.Row, Release: all}, way)
				var targets []Target
				for _, v := range versions {
					targets = append(targets, k.target(v))
					ready(t, k.target(v))
				}
				Upgrade(t, targets...)
			})
		}
	}
}

func TestRealKilled(t *testing.T) {
	Wanted(t)
	for _, c := range []struct {
		agent, over, version string
		target               func(string) Target
	}{
		{"Codex", overCodex, "0.153.2", Codex},
		{"Codex", overCodex, "0.171.0", Codex},
		{"Claude", overClaude, "2.1.210", Claude},
		{"Claude", overClaude, "2.1.332", Claude},
	} {
		t.Run(c.agent+"/"+c.version, func(t *testing.T) {
			Record(t, Evidence{Agent: c.agent, Versions: c.version, Over: c.over, Shown: "nothing stays when its owner is killed in a turn"})
			Killed(t, c.target(c.version))
		})
	}
}
