//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/agents/agenttest"
)

// Agents that speak the protocol themselves: their version is in the handshake.
var speakingAgents = []realAgent{
	{"copilot", "Copilot", "its own ACP", []string{"1.0.89", "1.0.102"}, agenttest.CopilotEnv, "copilot"},
	{"grok", "Grok", "its own ACP", []string{"1.0.5", "1.0.41"}, agenttest.GrokEnv, "grok"},
}

func forSpeakingAgents(t *testing.T, shown string, fn func(t *testing.T, p *person)) {
	agenttest.Wanted(t)
	runRealAgents(t, speakingAgents, shown, fn)
}

func TestRealSpeakingContinue(t *testing.T) {
	forSpeakingAgents(t, continuesShown, continuesAcrossUpgrade)
}

func TestRealSpeakingWarnings(t *testing.T) { forSpeakingAgents(t, warnsOnceShown, warnsOnce) }

func TestRealSpeakingPinned(t *testing.T) {
	forSpeakingAgents(t, pinsWithoutNoiseShown, pinsWithoutNoise)
}

func TestRealSpeakingKill9(t *testing.T) { forSpeakingAgents(t, killed9Shown, killed9) }

func TestRealSpeakingStructuredReply(t *testing.T) {
	forSpeakingAgents(t, repliesInFormShown, repliesInForm)
}

// With nobody to ask, what the agent asks for is refused at once, and the turn that ended for it has failed with exit 7.
func TestRealSpeakingRefusal(t *testing.T) {
	forSpeakingAgents(t, "a refusal that nobody could answer fails the turn as refused", func(t *testing.T, p *person) {
		file := filepath.Join(p.place.Root, "made")
		doc := fmt.Sprintf("<Prompt agent=%q session=\"s\">SAY before\nASK echo made > %s\nSAY after</Prompt>\n", p.a.name, file)
		s := p.xmd("", "run", p.doc(doc))
		if s.code != 7 || !strings.Contains(s.stderr, "[refused]") || strings.Contains(s.stdout, "after") {
			t.Errorf("%+v", s)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("what was refused happened")
		}
		p.want(p.xmd("", "run", p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\" text=\"SAY still usable\"/>\n", p.a.name))), "still usable\n")
	})
}

// A failure of the model is a failed prompt, and its text no part of the document.
func TestRealSpeakingModelFailure(t *testing.T) {
	forSpeakingAgents(t, "a failed model is a failed prompt", func(t *testing.T, p *person) {
		doc := p.doc(fmt.Sprintf("<Agent name=%q>\n<Prompt session=\"s\" text=\"SAY first\"/>\n<Prompt session=\"s\" text=\"HTTP 400\"/>\nafter\n<Prompt session=\"s\" text=\"SAY still usable\"/>\n</Agent>\n", p.a.name))
		s := p.xmd("", "run", doc)
		if s.code != 1 || s.stdout != "first\nafter\nstill usable\n" || !strings.Contains(s.stderr, "doc.xmd:3:1: "+p.a.shown+": ") || !strings.Contains(s.stderr, "[failed]") {
			t.Errorf("%+v", s)
		}
	})
}

// Grok replays what its model is no longer given. xmd says that the history is confirmed, which it is, and nothing of a memory.
func TestRealGrokReplaysMoreThanItKnows(t *testing.T) {
	agenttest.Wanted(t)
	runRealAgents(t, speakingAgents[1:], "what xmd says of a replay that the model is not given: the history is confirmed", func(t *testing.T, p *person) {
		p.remember()
		agenttest.ForgetGrok(t, p.place, p.conversations()[0])
		s := p.xmd("", "run", p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\">%s</Prompt>\n", p.a.name, codewordQuestion)), "--format", "ndjson")
		if s.code != 0 || !strings.Contains(s.stdout, "CODEWORD=UNKNOWN") || !strings.Contains(s.stdout, `"history":"confirmed"`) || s.stderr != "" {
			t.Errorf("%+v", s)
		}
	})
}
