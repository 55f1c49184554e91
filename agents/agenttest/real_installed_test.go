package agenttest

import (
	"os/exec"
	"testing"
)

// What is installed on this machine, whatever it is, passes the suite: in a home of its own and with the scripted model.
func TestRealInstalled(t *testing.T) {
	Wanted(t)
	if installed, _ := asked(); !installed {
		t.Skip("programs on PATH are tested by make real AGENTS=installed")
	}
	for _, k := range kinds {
		target := k.target(Installed)
		target.Version = "" // whatever the handshake says
		if adapter := adapters[k.Over]; adapter != "" {
			if _, err := exec.LookPath(adapter); err == nil {
				target.Over = adapter + " on PATH"
			}
		}
		version, err := onPath(t, k)
		if err == nil {
			target.Release = version
		}
		t.Run(k.Agent+" over "+k.Over, func(t *testing.T) {
			Record(t, Evidence{Agent: k.Agent, Versions: target.Release, Over: target.Over, Shown: "conformance of what is on PATH"})
			if err != nil {
				doubt(t, target, columns...)
				NotRun(t, err.Error())
			}
			t.Logf("%s %s over %s", k.Agent, version, target.Over)
			conforms(t, target)
		})
	}
}

// adapters are the programs behind the ways that agents are reached, where they are others than the agent.
var adapters = map[string]string{overCodex: "codex-acp", overClaude: "claude-agent-acp"}

// onPath is the version of the agent on PATH; an error if there is none.
func onPath(t *testing.T, k kind) (string, error) {
	t.Helper()
	env, err := k.environ(Place{Home: t.TempDir(), Root: t.TempDir(), Model: "http://127.0.0.1:9"}, Installed)
	if err != nil {
		return "", err
	}
	file, err := lookIn(env, k.name)
	if err != nil {
		return "", err
	}
	return VersionOf(t.Context(), file, env)
}
