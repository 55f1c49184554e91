//go:build linux

package main

import (
	"testing"
	"time"

	"xmd/agents/agenttest"
)

// The main promise for Gemini and OpenCode, which speak the protocol themselves. Their other cases are the conformance suite's: neither
// says anything of a model that fails with 500, and no command prints their version.
func TestRealGeminiAndOpenCodeContinue(t *testing.T) {
	forGeminiAndOpenCode(t, continuesShown, continuesAcrossUpgrade)
}

func forGeminiAndOpenCode(t *testing.T, shown string, fn func(t *testing.T, p *person)) {
	agenttest.Wanted(t)
	const itself = "its own ACP"
	gemini := func(p agenttest.Place, version string) ([]string, error) {
		agenttest.AgeGemini(t, p, 2*time.Minute) // a load waits for the end of the minute in which the conversation was made
		return agenttest.GeminiEnv(p, version)
	}
	runRealAgents(t, []realAgent{
		{"gemini", "Gemini", itself, []string{"0.58.0", "0.61.0"}, gemini, "gemini"},
		{"opencode", "OpenCode", itself, []string{"1.18.20", "1.18.33"}, agenttest.OpenCodeEnv, "opencode"},
	}, shown, fn)
}
