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

// transport writes how the person wants Codex reached.
func (p *person) transport(name string) {
	p.t.Helper()
	text := fmt.Sprintf("[agents.codex]\ntransport = %q\n", name)
	if err := os.WriteFile(filepath.Join(p.place.Root, "xmd.toml"), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// overTransports runs a test for Codex in the versions of its first row, which writes no configuration of its own.
func overTransports(t *testing.T, shown string, fn func(t *testing.T, p *person)) {
	agenttest.Wanted(t)
	a := realAgents[0]
	a.over = "app-server, codex-acp 2.6.0"
	runRealAgents(t, []realAgent{a}, shown, fn)
}

// A session that was made over one transport goes on over the other, also after an upgrade, and nothing is said of the transport.
func TestRealTransports(t *testing.T) {
	overTransports(t, "a session goes on over the other transport", func(t *testing.T, p *person) {
		for i, first := range []string{"acp", "app-server"} {
			p.version = p.a.versions[0]
			p.transport(first)
			word := []string{"HERON", "STORK"}[i]
			doc := func(words string) string {
				return p.doc(fmt.Sprintf("<Prompt agent=\"codex\" session=\"s%d\">%s</Prompt>\n", i, words))
			}
			p.want(p.xmd("", "run", doc("Please remember: the codeword is "+word+". Answer with OK.")), "OK, I will remember.\n")
			other := []string{"app-server", "acp"}[i]
			p.transport(other)
			p.want(p.xmd("", "run", doc(codewordQuestion)), "CODEWORD="+word+"\n")
			p.version = p.a.versions[2]
			p.transport(first)
			p.want(p.xmd("", "run", doc(codewordQuestion)), "CODEWORD="+word+"\n", p.changed(p.a.versions[0], p.version))
			p.transport(other)
			p.want(p.xmd("", "run", doc(codewordQuestion)), "CODEWORD="+word+"\n", p.changed(p.a.versions[0], p.version))
		}
	})
}

// A run that was killed over one transport is resumed over the other: what it asked is settled by the same conversation.
func TestRealTransportsResume(t *testing.T) {
	overTransports(t, "a killed run is resumed over the other transport", func(t *testing.T, p *person) {
		for i, first := range []string{"acp", "app-server"} {
			p.transport(first)
			p.doc(fmt.Sprintf("<Agent name=\"codex\">\n<Prompt session=\"s%d\" as=\"a\">Please remember: the codeword is HERON. Answer with OK.</Prompt>\n"+
				"<Prompt session=\"s%[1]d\">SAY this is the answer to the second</Prompt>\n</Agent>\n", i))
			p.killed("before prompt.ended Agent1/body/Prompt2")
			p.transport([]string{"app-server", "acp"}[i])
			before := p.asked("the answer to the second")
			s := p.resumed()
			if s.code != 0 || s.stdout != "this is the answer to the second\n" || !strings.Contains(s.stderr, "is taken from its conversation") {
				t.Errorf("made over %s: %+v", first, s)
			}
			if n := p.asked("the answer to the second"); n != before {
				t.Errorf("made over %s: asked again", first)
			}
		}
	})
}

// With nobody to ask, reading goes on and everything else is refused, said as not run, and the turn goes on.
func TestRealServerRefuses(t *testing.T) {
	overTransports(t, "a refused command is not run and the turn goes on", func(t *testing.T, p *person) {
		file := filepath.Join(p.place.Root, "made")
		doc := p.doc(fmt.Sprintf("<Prompt agent=\"codex\" session=\"s\">RUN cat doc.xmd\nASK touch %s\nSAY after both</Prompt>\n", file))
		s := p.xmd("", "run", doc, "--format", "ndjson")
		checkEvents(t, s.stdout)
		if s.code != 0 || !strings.Contains(s.stdout, "after both") || !strings.Contains(s.stdout, `"outcome":"not run"`) || !strings.Contains(s.stdout, `"name":"Read"`) {
			t.Errorf("%+v", s)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("what was refused happened")
		}
	})
}
