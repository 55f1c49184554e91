//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"xmd/runtime/store"
)

// entries are what is typed into a REPL on the session that the documents have used, and blocks what of it runs a program.
func (l *life) entries() (text string, blocks []string) {
	var b strings.Builder
	for i := range 2 + l.rng.IntN(4) {
		switch l.rng.IntN(3) {
		case 0:
			t := fmt.Sprintf("e%d.%s.d9", i, l.name)
			blocks = append(blocks, t)
			fmt.Fprintf(&b, "```sh exec\necho %s >> ran.txt\nsleep 0.1\n```\n", t)
		default:
			fmt.Fprintf(&b, "<Prompt agent=%q session=\"s\">slow q%d.%s.d9</Prompt>\n", []string{"sim", "two"}[l.rng.IntN(2)], i, l.name)
		}
	}
	return b.String(), blocks
}

// repl types into a REPL, goes on with it as often as it is killed, and asks for the codeword at the end. An entry that did not end is
// not run again, so nothing may be there twice.
func (l *life) repl(ctx context.Context) bool {
	word := l.docs[len(l.docs)-1].word
	text, blocks := l.entries()
	c := &course{life: l, doc: &document{name: "repl", word: word}, strikes: strikes(l.rng)}
	args, input := []string{"repl"}, text
	for n := range maxCalls {
		l.input = input + fmt.Sprintf("<Prompt agent=\"sim\" session=\"s\">What is the codeword? q%d.%s.d8</Prompt>\n", n, l.name)
		one := c.call(ctx, c.nextStrike(), func() []store.Record { return c.look(ctx) }, args...)
		l.input = ""
		if ctx.Err() != nil || !c.after(ctx, one) {
			return false
		}
		if c.run_.ID == "" {
			continue
		}
		if strings.Contains(one.stdout, word) && c.run_.Outcome == "done" && !c.run_.Ended.IsZero() {
			l.w.count("REPLs done")
			return c.replEnded(one, blocks)
		}
		if !one.struck && len(args) > 1 {
			c.find(c.run_.ID, "a REPL that nothing disturbed does not know the codeword\n%s", one.says())
			return false
		}
		args, input = []string{"repl", "--resume", c.run_.ID}, ""
		l.w.count("REPLs resumed")
	}
	c.find(c.run_.ID, "the REPL comes to no end in %d calls", maxCalls)
	return false
}

// replEnded counts what a REPL did.
func (c *course) replEnded(last call, blocks []string) bool {
	bad := again(c.records, nil)
	sent, err := delivered(filepath.Join(c.dir, "sim"), filepath.Join(c.dir, "two"))
	if err != nil {
		bad = append(bad, err.Error())
	}
	for t, n := range sent {
		if n > 1 && (strings.HasSuffix(t, ".d9") || strings.HasSuffix(t, ".d8")) {
			bad = append(bad, fmt.Sprintf("the prompt %s of a REPL was sent %d times", t, n))
		}
	}
	ran, _ := os.ReadFile(filepath.Join(c.dir, "ran.txt"))
	for _, t := range blocks {
		if n := strings.Count(string(ran), t+"\n"); n > 1 {
			bad = append(bad, fmt.Sprintf("the block %s of a REPL ran %d times", t, n))
		}
	}
	for _, what := range bad {
		c.find(c.run_.ID, "%s\n%s", what, last.says())
	}
	return len(bad) == 0
}
