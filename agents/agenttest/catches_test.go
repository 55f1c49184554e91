package agenttest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// faultKey gives TestFaulty its agent.
const faultKey = "AGENTTEST_FAULT"

// TestFaulty is the suite against the agent that TestSuiteCatches asks for.
func TestFaulty(t *testing.T) {
	fault := os.Getenv(faultKey)
	if fault == "" {
		t.Skip("only for TestSuiteCatches")
	}
	target := Sim(strings.Split(fault, ",")...)
	Run(t, target)
	t.Run("flights", func(t *testing.T) { Flights(t, target) })
}

// The suite is worth something only if bad agents fail it and odd ones pass. Each case is one group of it, in a process of its
// own.
func TestSuiteCatches(t *testing.T) {
	for _, c := range []struct {
		fault, group string
		passes       bool
	}{
		{"error-as-end-turn", "turns/prompt", false},
		{"late-error", "turns/prompt", false},
		{"system-error", "turns/prompt", false},
		{"no-messageid", "turns/prompt", false},
		{"permission-always-only", "permission/allowed", false},
		{"refuse-mode", "permission", false},
		{"cancel-hangs", "cancel", false},
		{"amnesia", "continuity", false},
		{"empty-history", "continuity", false},
		{"short-history", "continuity", false},
		{"list-omits", "continuity", false},
		{"load-other-id=another", "continuity", false},
		{"load-missing=codex", "missing", false},
		{"load-unknown", "missing", false},
		{"load-error", "removed", false},
		{"empty-history", "flights/in the answer", false},
		{"short-history", "flights/in a command", false},
		{"compacted", "flights/not yet read", false},
		{"amnesia", "flights/over, not told", false},
		{"no-messageid", "flights/adopted", false},

		{"unknown-updates,junk,noise-chunk", "turns", true},
		{"split-utf8=bytes,id-as-string", "turns", true},
		{"mode-auto,permission-always-first", "permission", true},
		{"ignore-eof,ignore-term,grandchild=setsid+stubborn", "turns", true},
		{"noise-chunk,late-update=info,replay-after-answer", "flights", true},
	} {
		t.Run(c.fault+"/"+c.group, func(t *testing.T) {
			t.Parallel()
			out, err := faulty(t, c.fault, c.group)
			if !strings.Contains(out, "TestFaulty/"+strings.Split(c.group, "/")[0]) {
				t.Fatalf("the case did not run: %v\n%s", err, out)
			}
			if passed := err == nil; passed != c.passes {
				t.Errorf("passed: %v, want %v\n%s", passed, c.passes, tailOf(out, 2000))
			}
		})
	}
}

func faulty(t *testing.T, fault, group string) (string, error) {
	t.Helper()
	return again(t, "^TestFaulty$/^"+strings.ReplaceAll(group, "/", "$/^")+"$", faultKey+"="+fault)
}

// again runs tests of this binary in a process of their own.
func again(t *testing.T, pattern string, env ...string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.v", "-test.run", pattern)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
