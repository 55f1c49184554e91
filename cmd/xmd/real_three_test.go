//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"xmd/agents/agenttest"
	"xmd/agents/agenttest/model"
	"xmd/handoff"
	"xmd/runtime"
)

// spoken is one turn of a Conversation: which agent is asked, and how it has to answer.
type spoken struct {
	agent         realAgent
	words, answer string
}

// missed are the numbers of the turns before the nth that its agent has not seen, and whether it takes part for the first time.
func missed(turns []spoken, nth int) (numbers []int, joins bool) {
	for i := nth - 1; i >= 1; i-- {
		if turns[i-1].agent.name == turns[nth-1].agent.name {
			slices.Reverse(numbers)
			return numbers, false
		}
		numbers = append(numbers, i)
	}
	slices.Reverse(numbers)
	return numbers, true
}

// Three agents take turns in one Conversation, in one process and then in another one. What their models are asked shows what each was told:
// a newcomer the whole log, later only what it has missed, and nothing but the words where nothing was.
func TestRealThreeAgents(t *testing.T) {
	agenttest.Wanted(t)
	codex, claude, gemini := installedAgents[1], installedAgents[0], installedAgents[3]
	t.Run("codex, claude and gemini", func(t *testing.T) {
		three := []realAgent{codex, claude, gemini}
		agenttest.Record(t, evidenceOf(three, "a Conversation of all three over two runs: newcomers are told everything, others what they missed, in one block; each goes on in its own"))
		p := having(t, three)
		turns := []spoken{
			{codex, "Please remember: the codeword is HERON. Answer with OK.", "OK, I will remember."},
			{claude, "SAY Claude has joined", "Claude has joined"},
			{claude, codewordQuestion, "CODEWORD=HERON"},
			{gemini, "SAY Gemini has joined", "Gemini has joined"},
			{gemini, "Please remember: the other codeword is STORK. Answer with OK.", "OK, I will remember."},
			{codex, "SAY Codex is back", "Codex is back"},
			{claude, "SAY Claude is back", "Claude is back"},
			{gemini, codewordQuestion, "CODEWORD=HERON"},
			{codex, codewordQuestion, "CODEWORD=HERON"},
			{codex, "SAY nothing was missed", "nothing was missed"},
			{claude, codewordQuestion, "CODEWORD=HERON"},
		}
		const firstRun = 6
		p.converse(turns[:firstRun], 1)
		agenttest.AgeGemini(t, p.place, 2*time.Minute) // else its load waits for the end of the minute
		p.converse(turns, firstRun+1)
		p.toldTo("responses", codex, turns)
		p.toldTo("messages", claude, turns)
		p.toldTo("gemini", gemini, turns)
		ids := p.conversations()
		slices.Sort(ids)
		if len(slices.Compact(ids)) != len(three) {
			t.Errorf("conversations: %v", ids)
		}
		p.keptIn(".codex/sessions", codex, turns)
		p.keptIn(".claude/projects", claude, turns)
		p.keptIn(".gemini/tmp/*/chats", gemini, turns)
	})
}

// evidenceOf is what is shown with several agents together, each in its newest version.
func evidenceOf(agents []realAgent, shown string) agenttest.Evidence {
	var names, versions, over []string
	for _, a := range agents {
		names, versions, over = append(names, a.shown), append(versions, a.versions[len(a.versions)-1]), append(over, a.over)
	}
	return agenttest.Evidence{Agent: strings.Join(names, ", "), Versions: strings.Join(versions, ", "), Over: strings.Join(over, ", "), Shown: shown}
}

// converse runs the turns from the number from on as one document, and checks what it prints and says of each.
func (p *person) converse(turns []spoken, from int) {
	p.t.Helper()
	text, stdout := "<Conversation name=\"task\">\n", ""
	var stderr []string
	for n := from; n <= len(turns); n++ {
		one := turns[n-1]
		text += fmt.Sprintf("<Prompt agent=%q>%s</Prompt>\n", one.agent.name, one.words)
		stdout += one.answer + "\n"
		unseen, joins := missed(turns, n)
		how, reason, count := "goes on in", runtime.ReasonMissed, "1 turn"
		if joins {
			how, reason = "joins", runtime.ReasonJoined
		}
		if len(unseen) > 1 {
			count = fmt.Sprintf("%d turns", len(unseen))
		}
		if len(unseen) > 0 {
			stderr = append(stderr, fmt.Sprintf("doc.xmd:%d:1: %s %s conversation \"task\", told %s that it has not seen (%s)", n-from+2, one.agent.name, how, count, reason))
		}
	}
	p.want(p.xmd("", "run", p.doc(text+"</Conversation>\n")), stdout, stderr...)
}

// toldTo checks every request of one agent for its model: the turns it was given are those of this agent, in one conversation, each as it has
// to be sent.
func (p *person) toldTo(api string, a realAgent, turns []spoken) {
	p.t.Helper()
	var own []int // the numbers of this agent's turns
	for i, one := range turns {
		if one.agent.name == a.name {
			own = append(own, i+1)
		}
	}
	given := 0
	for _, r := range p.model.Requests() {
		if r.API != api {
			continue
		}
		texts := r.UserTexts()
		if len(texts) != given && len(texts) != given+1 || len(texts) > len(own) {
			p.t.Fatalf("%s: after %d turns its model was given %q", a.shown, given, texts)
		}
		given = len(texts)
		blocks := 0
		for i, text := range texts {
			if unseen, _ := missed(turns, own[i]); len(unseen) > 0 {
				blocks++
			}
			if err := sentAs(text, turns, own[i]); err != nil {
				p.t.Errorf("%s, turn %d: %v; it was sent\n%s", a.shown, own[i], err, text)
			}
		}
		if told := strings.Join(r.Instructions, "\n"); strings.Contains(told, "HERON") || strings.Contains(told, "STORK") {
			p.t.Errorf("%s: a codeword is in what its model is instructed:\n%s", a.shown, told)
		}
		if n := blocksIn(r); n != blocks {
			p.t.Errorf("%s: a request after %d turns has %d blocks, want %d", a.shown, given, n, blocks)
		}
	}
	if given != len(own) {
		p.t.Errorf("%s: its model was given %d turns, want %d", a.shown, given, len(own))
	}
}

// sentAs says what is wrong with a text as what the nth turn has to be sent as: its words alone, or behind one block of what was missed.
func sentAs(text string, turns []spoken, nth int) error {
	words := turns[nth-1].words
	unseen, joins := missed(turns, nth)
	if len(unseen) == 0 {
		if text != words {
			return fmt.Errorf("nothing was missed, and it is not exactly the words")
		}
		return nil
	}
	block, ok := strings.CutSuffix(text, "\n\n"+words)
	if !ok {
		return fmt.Errorf("it does not end with the words")
	}
	b, err := handoff.Parse(block)
	if err != nil {
		return err
	}
	reason := runtime.ReasonMissed
	if joins {
		reason = runtime.ReasonJoined
	}
	if b.Reason != reason || b.LeftOut != 0 || len(b.Turns) != len(unseen) {
		return fmt.Errorf("%d turns were told (%s), %d left out, want the turns %v (%s)", len(b.Turns), b.Reason, b.LeftOut, unseen, reason)
	}
	for i, told := range b.Turns {
		want := turns[unseen[i]-1]
		if told.Number != unseen[i] || told.Agent.Text != want.agent.shown || told.Outcome != "done" || joined(told.Asked) != want.words || joined(told.Pieces) != want.answer {
			return fmt.Errorf("it was told %+v, want turn %d: %+v", told, unseen[i], want)
		}
	}
	return nil
}

// joined is the text of pieces that are nothing but text.
func joined(pieces []handoff.Piece) (text string) {
	for _, one := range pieces {
		if one.Action != nil || one.Question != nil || one.Left != nil {
			return fmt.Sprintf("%+v", one)
		}
		text += one.Text
	}
	return text
}

// blocksIn is how many blocks begin in a request, wherever in it.
func blocksIn(r model.Request) (n int) {
	for _, text := range r.Instructions {
		n += strings.Count(text, "<earlier-conversation>")
	}
	for _, turn := range r.Turns {
		n += strings.Count(turn.Text, "<earlier-conversation>")
	}
	return n
}

// keptIn checks that of all files in an agent's folders one holds its turns, and that one all of them. Gemini begins a file without any turn
// at each start.
func (p *person) keptIn(pattern string, a realAgent, turns []spoken) {
	p.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(p.place.Home, pattern))
	if err != nil {
		p.t.Fatal(err)
	}
	var holding []string
	for _, dir := range dirs {
		err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if held, all := heldOf(string(data), a, turns); held > 0 {
				holding = append(holding, fmt.Sprintf("%d of %d turns in %s", held, all, path))
				if held < all {
					p.t.Errorf("%s keeps %s", a.shown, holding[len(holding)-1])
				}
			}
			return err
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	if len(holding) != 1 {
		p.t.Errorf("%s keeps %q, want one conversation", a.shown, holding)
	}
}

// heldOf is of how many of an agent's turns the words are in a text, and how many turns it has.
func heldOf(text string, a realAgent, turns []spoken) (held, all int) {
	for _, one := range turns {
		if one.agent.name != a.name {
			continue
		}
		if all++; strings.Contains(text, one.words) {
			held++
		}
	}
	return held, all
}
