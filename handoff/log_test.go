package handoff

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"xmd/runtime"
)

// block renders entries, oldest first, and checks what holds of every block.
func block(t testing.TB, h runtime.Handover, entries ...runtime.Entry) (runtime.Handed, *Block) {
	t.Helper()
	h.Entries, h.Count = runtime.Newest(entries), len(entries)
	if h.First == nil && len(entries) > 0 {
		h.First = &entries[0]
	}
	if h.Reason == "" {
		h.Reason = runtime.ReasonJoined
	}
	handed := Writer{}.Block(h)
	return handed, proved(t, handed)
}

// proved parses a block and checks what holds of every one.
func proved(t testing.TB, handed runtime.Handed) *Block {
	t.Helper()
	text := handed.Text
	if n := utf8.RuneCountInString(text); n > maxBlock {
		t.Fatalf("the block has %d code points", n)
	}
	if strings.Count(text, "<") != 2 || !strings.HasPrefix(text, opening+"\n") || !strings.HasSuffix(text, "\n"+closing) {
		t.Fatalf("the tags are not where they belong:\n%s", text)
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unsafeRune(r) && r >= 0x80) {
			t.Fatalf("U+%04X stands in the block", r)
		}
	}
	b, err := Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if b.LeftOut != handed.LeftOut || b.Secrets != handed.Secrets {
		t.Fatalf("the block says %d left out, %d secrets; handed are %d, %d", b.LeftOut, b.Secrets, handed.LeftOut, handed.Secrets)
	}
	return b
}

// entry is a turn with a plain answer.
func entry(number int, agent, words, answer string) runtime.Entry {
	return runtime.Entry{Number: number, Agent: agent, Words: words, Parts: []runtime.Part{{Text: answer}}, Outcome: "done"}
}

// withActions has so many actions in a row, named a1, a2 …
func withActions(number, n int) runtime.Entry {
	e := entry(number, "codex", "do it", "I begin.")
	for i := range n {
		e.Parts = append(e.Parts, runtime.Part{Action: &runtime.Action{Name: fmt.Sprintf("a%d", i+1), Outcome: "done"}})
	}
	e.Parts = append(e.Parts, runtime.Part{Text: "I am done."})
	return e
}

// spell is a turn in short: texts, names of actions, what is left out.
func spell(pieces []Piece) string {
	var words []string
	for _, p := range pieces {
		switch {
		case p.Action != nil:
			words = append(words, p.Action.Name.Text)
		case p.Question != nil:
			words = append(words, "?"+p.Question.Question.Text)
		case p.Left != nil:
			words = append(words, fmt.Sprintf("-%d %s", p.Left.N, p.Left.What))
		default:
			words = append(words, p.Text)
		}
	}
	return strings.Join(words, " ")
}

func names(from, to int) string {
	var all []string
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprintf("a%d", i))
	}
	return strings.Join(all, " ")
}
