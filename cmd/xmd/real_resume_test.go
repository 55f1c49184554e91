//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"
)

// die makes the next runs of xmd end as by kill -9 at a write of theirs; "" for none.
func (p *person) die(at string) {
	p.env = nil
	if at != "" {
		p.env = []string{dieVariable + "=" + at}
	}
}

// killed runs the person's document to where xmd dies.
func (p *person) killed(at string) {
	p.t.Helper()
	p.die(at)
	s := p.xmd("", "run", "doc.xmd")
	p.die("")
	if s.code != -1 {
		p.t.Fatalf("killed %s: %+v", at, s)
	}
}

// resumed goes on with the last run; that it waits for what is left of the killed one depends on how fast that goes.
func (p *person) resumed(args ...string) said {
	p.t.Helper()
	s := p.xmd("", append([]string{"resume", "last"}, args...)...)
	if line, rest, ok := strings.Cut(s.stderr, "\n"); ok && strings.HasPrefix(line, "waiting up to") {
		s.stderr = rest
	}
	return s
}

// asked counts the requests for the model that have these words as their newest.
func (p *person) asked(words string) int {
	n := 0
	for _, r := range p.model.Requests() {
		if texts := r.UserTexts(); !r.Hidden && len(texts) > 0 && strings.Contains(texts[len(texts)-1], words) {
			n++
		}
	}
	return n
}

// A run that was killed with a prompt in flight goes on in the same conversation: what never arrived is sent, once; what the provider has
// with its end is taken over; what it has without one is left alone until somebody says what to do; a conversation that never came to be is
// made anew. The upgrade in between is warned of once.
func TestRealResume(t *testing.T) {
	const first, second = "Please remember: the codeword is HERON. Answer with OK.", "SAY this is the answer to the second"
	document := func(p *person) string {
		return p.doc(fmt.Sprintf("<Agent name=%q>\n<Prompt session=\"s\" as=\"a\">%s</Prompt>\n<Prompt session=\"s\">%s</Prompt>\n<Prompt session=\"s\">%s</Prompt>\n</Agent>\n",
			p.a.name, first, second, codewordQuestion))
	}
	const whole = "this is the answer to the second\nCODEWORD=HERON\n"
	upgrade := func(p *person) string {
		from := p.version
		p.version = p.a.versions[len(p.a.versions)-1]
		return p.changed(from, p.version)
	}
	forRealAgents(t, "resume: never arrived is sent once, after an upgrade with one warning", func(t *testing.T, p *person) {
		document(p)
		p.killed("after prompt.sent Agent1/body/Prompt2")
		warning := upgrade(p)
		p.want(p.resumed(), whole, warning)
		if n := p.asked("the answer to the second"); n != 1 {
			t.Errorf("the second prompt reached the model %d times", n)
		}
		if n := p.asked("remember: the codeword"); n != 1 {
			t.Errorf("the first prompt reached the model %d times", n)
		}
		if s := p.xmd("", "replay", "last"); s.code != 0 || s.stdout != whole || s.stderr != "" {
			t.Errorf("replay: %+v", s)
		}
		if ids := p.conversations(); len(ids) != 1 {
			t.Errorf("conversations: %v", ids)
		}
	})
	forRealAgents(t, "resume: a conversation without a turn is made anew", func(t *testing.T, p *person) {
		document(p)
		p.killed("after prompt.sent Agent1/body/Prompt1")
		p.want(p.resumed(), whole)
		if n := p.asked("remember: the codeword"); n != 1 {
			t.Errorf("the first prompt reached the model %d times", n)
		}
	})
	forRealAgents(t, "resume: killed before the end is on record: adopted where the provider says completed, else asked", func(t *testing.T, p *person) {
		document(p)
		p.killed("before prompt.ended Agent1/body/Prompt2")
		s := p.xmd("", "resume", "last")
		if p.a.name == "codex" {
			if s.code != 0 || s.stdout != whole || !strings.Contains(s.stderr, "is taken from its conversation") {
				t.Errorf("%+v", s)
			}
		} else {
			if s.code != 5 || s.stdout != "" || !strings.Contains(s.stderr, "--adopt Agent1/body/Prompt2") {
				t.Fatalf("%+v", s)
			}
			if s = p.xmd("", "resume", "last", "--adopt", "Agent1/body/Prompt2"); s.code != 0 || s.stdout != whole {
				t.Errorf("%+v", s)
			}
		}
		if n := p.asked("the answer to the second"); n != 1 {
			t.Errorf("the second prompt reached the model %d times", n)
		}
		if s := p.xmd("", "replay", "last"); s.code != 0 || s.stdout != whole {
			t.Errorf("replay: %+v", s)
		}
	})
	forRealAgents(t, "resume: killed in the middle of an answer: nothing is sent unasked", func(t *testing.T, p *person) {
		p.doc(fmt.Sprintf("<Agent name=%q>\n<Prompt session=\"s\" as=\"a\">%s</Prompt>\n<Prompt session=\"s\">SAY half of it\nHANG</Prompt>\n<Prompt session=\"s\">%s</Prompt>\n</Agent>\n",
			p.a.name, first, codewordQuestion))
		p.killed("after prompt.accepted Agent1/body/Prompt2")
		asked := len(p.model.Requests())
		s := p.xmd("", "resume", "last")
		if s.code != 5 || s.stdout != "" || !strings.Contains(s.stderr, "[unsettled]") {
			t.Fatalf("%+v", s)
		}
		other := p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\">%s</Prompt>\n", p.a.name, codewordQuestion))
		if s := p.xmd("", "run", other); s.code != 5 || !strings.Contains(s.stderr, "[recovery-required]") {
			t.Errorf("another run: %+v", s)
		}
		if n := len(p.model.Requests()); n != asked {
			t.Errorf("%d requests reached the model", n-asked)
		}
		runs := p.xmd("", "runs")
		lines := strings.Split(strings.TrimSpace(runs.stdout), "\n")
		run := ulidOf(lines[len(lines)-1])
		if s = p.xmd("", "resume", run, "--skip", "Agent1/body/Prompt2"); s.code != 0 || !strings.HasSuffix(s.stdout, "CODEWORD=HERON\n") {
			t.Errorf("%+v\n%s", s, runs.stdout)
		}
	})
}

// An ended run is replayed with the agent gone and changed: the same bytes, no warning, nothing asked.
func TestRealReplay(t *testing.T) {
	forRealAgents(t, "a replay is offline and silent, also after an upgrade", func(t *testing.T, p *person) {
		p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\">SAY hello from the model</Prompt>\n", p.a.name))
		p.want(p.xmd("", "run", "doc.xmd"), "hello from the model\n")
		asked := len(p.model.Requests())
		p.version = p.a.versions[len(p.a.versions)-1]
		p.wrap("99.1.0")
		p.want(p.xmd("", "replay", "last"), "hello from the model\n")
		cmd := p.command("replay", "last")
		cmd.Env = append(cmd.Env, "PATH=/nowhere", "HOME="+t.TempDir())
		out, err := cmd.Output()
		if err != nil || string(out) != "hello from the model\n" {
			t.Errorf("without any agent: %v, %s", err, out)
		}
		if n := len(p.model.Requests()); n != asked {
			t.Errorf("%d requests reached the model", n-asked)
		}
	})
}

// ulidOf is the run id in a line of xmd runs.
func ulidOf(line string) string {
	for _, word := range strings.Fields(line) {
		if len(word) == 26 {
			return word
		}
	}
	return ""
}
