//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"xmd/agents/agenttest/model"
)

// lastAsked is the newest request for the model, and the newest text in it that a person sent.
func (p *person) lastAsked() (model.Request, string) {
	p.t.Helper()
	all := p.model.Requests()
	for i := len(all) - 1; i >= 0; i-- {
		if texts := all[i].UserTexts(); !all[i].Hidden && len(texts) > 0 {
			return all[i], strings.Join(texts, "\n")
		}
	}
	p.t.Fatal("no request reached the model")
	return model.Request{}, ""
}

// A real agent takes turns with another one: its model is given what the agent has missed and nothing more, the workflow's instructions
// once, and after an upgrade the changed ones. What it was told itself it knows from its own conversation.
func TestRealConversation(t *testing.T) { forRealAgents(t, takesTurnsShown, takesTurns) }

func TestRealGeminiAndOpenCodeConversation(t *testing.T) {
	forGeminiAndOpenCode(t, takesTurnsShown, takesTurns)
}

func TestRealSpeakingConversation(t *testing.T) { forSpeakingAgents(t, takesTurnsShown, takesTurns) }

const takesTurnsShown = "a Conversation with another agent: only what was missed, instructions once, changed ones told after an upgrade"

func takesTurns(t *testing.T, p *person) {
	talk := func(told string, prompts ...string) string {
		text := "<Instructions>\n" + told + "\n</Instructions>\n<Conversation name=\"task\">\n"
		for _, one := range prompts {
			agent, words, _ := strings.Cut(one, ": ")
			text += fmt.Sprintf("<Prompt agent=%q>%s</Prompt>\n", agent, words)
		}
		return p.doc(text + "</Conversation>\n")
	}
	me := p.a.name + ": "
	s := p.xmd("", "run", talk("Always mention the kestrel.", me+"Please remember: the codeword is HERON. Answer with OK.", "sim: SAY the fix is written", me+"SAY it is reviewed"))
	if s.code != 0 || !strings.HasSuffix(s.stdout, "the fix is written\nit is reviewed\n") {
		t.Fatalf("%+v", s)
	}
	want := fmt.Sprintf("doc.xmd:6:1: sim joins conversation \"task\", told 1 turn that it has not seen (joined)\ndoc.xmd:7:1: %s goes on in conversation \"task\", told 1 turn that it has not seen (missed)\n", p.a.name)
	if s.stderr != want {
		t.Errorf("stderr %q\n  want %q", s.stderr, want)
	}
	r, said := p.lastAsked()
	if strings.Count(said, "<earlier-conversation>") != 1 || !strings.Contains(said, "| the fix is written") || strings.Count(said, "HERON") != 1 {
		t.Errorf("the model was given %q", said)
	}
	if n := strings.Count(string(r.Raw), "Always mention the kestrel."); n != 1 {
		t.Errorf("the model was told the instructions %d times", n)
	}
	from := p.version
	p.version = p.a.versions[len(p.a.versions)-1]
	s = p.xmd("", "run", talk("Always mention the osprey.", me+codewordQuestion))
	changed := fmt.Sprintf("doc.xmd:5:1: %s is told the changed instructions (instructions-changed)", p.a.name)
	p.want(s, "CODEWORD=HERON\n", p.changed(from, p.version), changed)
	if r, said = p.lastAsked(); !strings.Contains(string(r.Raw), "Always mention the osprey.") || strings.Count(said, "<earlier-conversation>") != 1 {
		t.Errorf("the model was given %q", said)
	}
	p.want(p.xmd("", "run", "doc.xmd"), "CODEWORD=HERON\n", p.changed(from, p.version))
	if again, _ := p.lastAsked(); strings.Count(string(again.Raw), "Always mention the osprey.") != strings.Count(string(r.Raw), "Always mention the osprey.") {
		t.Error("the instructions were told once more")
	}
}

// In a Conversation Codex is told the workflow's tools directly, and its thread keeps those it was begun with: it goes on while they are the
// same, whatever the order of what describes them, and another tool begins a new one on purpose.
func TestRealConversationTools(t *testing.T) {
	if os.Getenv("XMD_REAL") != "1" {
		t.Skip("real programs run with XMD_REAL=1 only: make real")
	}
	runRealAgents(t, realAgents[:1], "a Conversation: dynamic tools pinned, changed ones in a new thread with the handoff", func(t *testing.T, p *person) {
		const (
			look = "<Tool name=\"look\" description=\"looks around\" schema={{\"type\": \"object\", \"properties\": {\"at\": {\"type\": \"string\"}}}}>\nseen\n</Tool>\n"
			same = "<Tool name=\"look\" description=\"looks around\" schema={{\"properties\": {\"at\": {\"type\": \"string\"}}, \"type\": \"object\"}}>\nseen\n</Tool>\n"
			feel = "<Tool name=\"feel\" description=\"feels around\">\nfelt\n</Tool>\n"
		)
		run := func(tools, words string) said {
			t.Helper()
			return p.xmd("", "run", p.doc(tools+fmt.Sprintf("<Conversation name=\"task\">\n<Prompt agent=\"codex\">%s</Prompt>\n</Conversation>\n", words)))
		}
		if s := run(look, "Please remember: the codeword is HERON. Answer with OK."); s.code != 0 || s.stderr != "" {
			t.Fatalf("%+v", s)
		}
		p.want(run(same, codewordQuestion), "CODEWORD=HERON\n")
		if ids := p.conversations(); len(ids) != 1 {
			t.Errorf("conversations: %v", ids)
		}
		s := run(look+feel, codewordQuestion)
		if s.code != 0 || s.stdout != "CODEWORD=UNKNOWN\n" || !strings.Contains(s.stderr, "begins anew in conversation \"task\" on purpose, since its tools have changed, told 2 turns that it has not seen (tools-changed)") {
			t.Errorf("%+v", s)
		}
		r, said := p.lastAsked()
		if strings.Count(said, "<earlier-conversation>") != 1 || !strings.Contains(said, "codeword is HERON") || strings.Contains(said, "lost") {
			t.Errorf("the model was given %q", said)
		}
		for _, tool := range []string{"look", "feel"} {
			if !slices.ContainsFunc(r.Tools, func(name string) bool { return strings.HasSuffix(name, tool) }) {
				t.Errorf("the model has the tools %v", r.Tools)
			}
		}
		if ids := p.conversations(); len(ids) != 2 {
			t.Errorf("conversations: %v", ids)
		}
	})
}
