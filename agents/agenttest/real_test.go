package agenttest

import (
	"os"
	"strings"
	"testing"
)

// The real programs. The tests below need XMD_REAL=1 and what `go run ./agents/agenttest/real` installs; `make real` does both.
var (
	codexVersions  = []string{"0.153.2", "0.162.1", "0.171.0"}
	claudeVersions = []string{"2.1.210", "2.1.332"}
)

const (
	overCodex  = "codex-acp 2.6.0"
	overClaude = "claude-agent-acp 0.101.0"
)

// wanted skips the test unless real programs are asked for; then nothing is recorded.
func wanted(t *testing.T) {
	t.Helper()
	if os.Getenv("XMD_REAL") != "1" {
		t.Skip("real programs run with XMD_REAL=1 only: make real")
	}
}

func TestRealCodex(t *testing.T) {
	wanted(t)
	for _, v := range codexVersions {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Codex", Versions: v, Over: overCodex, Shown: "conformance"})
			ready(t, Codex(v))
			Run(t, Codex(v))
		})
	}
}

func TestRealClaude(t *testing.T) {
	wanted(t)
	for _, v := range claudeVersions {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Claude", Versions: v, Over: overClaude, Shown: "conformance"})
			ready(t, Claude(v))
			Run(t, Claude(v))
		})
	}
}

// ready skips the test as not run if something of the target is not installed. The suite's own skips are in subtests and
// leave the test as it is.
func ready(t *testing.T, target Target) {
	t.Helper()
	target.At(t, Place{Home: t.TempDir(), Root: t.TempDir()})
}

func TestRealUpgrade(t *testing.T) {
	wanted(t)
	for _, c := range []struct {
		agent, over string
		target      func(string) Target
		versions    []string
	}{
		{"Codex", overCodex, Codex, []string{"0.153.2", "0.162.1", "0.171.0"}},
		{"Codex", overCodex, Codex, []string{"0.171.0", "0.162.1", "0.153.2"}},
		{"Claude", overClaude, Claude, []string{"2.1.210", "2.1.332"}},
		{"Claude", overClaude, Claude, []string{"2.1.332", "2.1.210"}},
	} {
		t.Run(c.agent+"/"+strings.Join(c.versions, "-"), func(t *testing.T) {
			Record(t, Evidence{Agent: c.agent, Versions: strings.Join(c.versions, " → "), Over: c.over, Shown: "a conversation goes on across versions"})
			var targets []Target
			for _, v := range c.versions {
				targets = append(targets, c.target(v))
				ready(t, c.target(v))
			}
			Upgrade(t, targets...)
		})
	}
}

func TestRealKilled(t *testing.T) {
	wanted(t)
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
