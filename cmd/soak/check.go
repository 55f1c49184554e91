//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"xmd/runtime/store"
)

// badEnd says what no end of an xmd may look like, killed or not; "" when it looks well.
func badEnd(c call) string {
	switch {
	case c.hung:
		return fmt.Sprintf("it hung: nothing came in %s", callLimit)
	case c.held:
		return "somebody kept its output open after it had ended"
	case strings.Contains(c.stderr, "[internal]") || strings.Contains(c.stderr, "goroutine ") || c.code == 2 && strings.Contains(c.stderr, "panic"):
		return "xmd met a fault of its own"
	case strings.Contains(c.stderr, "[store]"):
		return "the store could not be used"
	case strings.Contains(c.stderr, "[divergence]"):
		return "the record does not fit its own document"
	case c.code == 137 && !c.struck:
		return "it was killed by somebody else"
	}
	return ""
}

// lost says which record of an earlier look is not there any more, or not as it was; "" for none.
func lost(before, now []store.Record) string {
	for i, old := range before {
		if i >= len(now) {
			return fmt.Sprintf("record %d (%s %s) and %d behind it are lost", old.Seq, old.Kind, old.Step, len(before)-i-1)
		}
		if r := now[i]; r.Seq != old.Seq || r.Step != old.Step || r.Kind != old.Kind || !r.Time.Equal(old.Time) || !bytes.Equal(r.Data, old.Data) {
			return fmt.Sprintf("record %d was changed: it was %s %s %s and is %s %s %s", old.Seq, old.Kind, old.Step, old.Data, r.Kind, r.Step, r.Data)
		}
	}
	return ""
}

// entry is what is looked at of a record.
type entry struct {
	At struct {
		Step     string `json:"step"`
		Position string `json:"position"`
	} `json:"at"`
	Body struct {
		Kind    string `json:"kind"`
		Words   string `json:"words"`
		Outcome string `json:"outcome"`
		Reason  string `json:"reason"`
	} `json:"body"`
}

func read(r store.Record) (e entry) {
	_ = json.Unmarshal(r.Data, &e) // what cannot be read is nothing that is looked for
	return e
}

// effects are the kinds of steps that do something; the others are decisions, which are made again with what was cancelled in them.
var effects = map[string]bool{"prompt": true, "exec": true, "file": true, "glob": true, "fetch": true, "elicit": true, "tool": true}

// again says which result on record was made again: a step or a turn that came to a good end begins once more and nobody asked for it.
func again(records []store.Record, asked map[string]int) (bad []string) {
	done := map[string]bool{} // by kind and step
	for _, r := range records {
		e := read(r)
		turn, step := "prompt "+r.Step, "step "+r.Step
		switch r.Kind {
		case "prompt.ended":
			done[turn] = e.Body.Outcome == "done"
		case "step.ended":
			done[step] = e.Body.Outcome == "done" && effects[e.Body.Kind]
		case "prompt.sent":
			if done[turn] {
				bad = append(bad, fmt.Sprintf("the reply of %s is on record and it was sent again (record %d)", r.Step, r.Seq))
			}
		case "step.started":
			if done[step] && e.Body.Kind != "prompt" {
				bad = append(bad, fmt.Sprintf("the result of %s is on record and it was run again (record %d)", r.Step, r.Seq))
			}
		case "prompt.discarded", "step.discarded":
			which := turn
			if r.Kind == "step.discarded" {
				which = step
			}
			if done[which] && e.Body.Reason == "resume" && len(asked) == 0 {
				bad = append(bad, fmt.Sprintf("the result of %s is on record and was thrown away unasked (record %d)", r.Step, r.Seq))
			}
			done[which] = false
		}
	}
	return bad
}

// delivered counts what the agents have in their conversations, by the last token of each prompt: what stands before it is what they were
// told beside the words.
func delivered(homes ...string) (map[string]int, error) {
	counts := map[string]int{}
	for _, home := range homes {
		files, _ := filepath.Glob(filepath.Join(home, "sessions", "*.jsonl"))
		for _, file := range files {
			text, err := os.ReadFile(file) //nolint:gosec // of the soak's own folder
			if err != nil {
				return nil, err
			}
			for line := range strings.Lines(string(text)) {
				if t := toldIn(line); t != "" {
					counts[t]++
				}
			}
		}
	}
	return counts, nil
}

// toldIn is the token of a user's turn in the file of a scripted agent; "" in any other line.
func toldIn(line string) string {
	var e struct {
		Type    string `json:"type"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal([]byte(line), &e) != nil || e.Type != "user" {
		return ""
	}
	last := ""
	for _, block := range e.Content {
		if all := token.FindAllString(block.Text, -1); len(all) > 0 {
			last = all[len(all)-1]
		}
	}
	return last
}

// twice says which prompt an agent was given more often than was asked for. A prompt is sent once; once more for each turn of it that
// failed and was run again by a resume, and once more each time a person asked for it.
func twice(records []store.Record, delivered map[string]int, asked map[string]int) (bad []string) {
	allowed, failed := map[string]int{}, map[string]bool{}
	steps := map[string]map[string]bool{}
	for _, r := range records {
		e := read(r)
		switch r.Kind {
		case "prompt.sent":
			all := token.FindAllString(e.Body.Words, -1)
			if len(all) == 0 {
				continue
			}
			t := all[len(all)-1]
			if steps[t] == nil {
				steps[t] = map[string]bool{}
			}
			if !steps[t][r.Step] || failed[r.Step] {
				allowed[t]++
			}
			steps[t][r.Step], failed[r.Step] = true, false
		case "prompt.ended":
			failed[r.Step] = e.Body.Outcome != "done"
		case "prompt.discarded", "step.discarded":
			if e.Body.Reason != "resume" && len(asked) > 0 {
				failed[r.Step] = true
			}
		}
	}
	for t, n := range delivered {
		if _, sent := steps[t]; sent && n > allowed[t] {
			bad = append(bad, fmt.Sprintf("the prompt %s is %d times in a conversation; %d times was asked for", t, n, allowed[t]))
		}
	}
	return bad
}

var lineOf = regexp.MustCompile(`^[^:]+:(\d+):`)

// ranTwice says which exec block ran more often than its beginnings on record, or less often than its good ends.
func ranTwice(records []store.Record, execs map[string]int, ran string) (bad []string) {
	started, done := map[int]int{}, map[int]int{}
	for _, r := range records {
		e := read(r)
		m := lineOf.FindStringSubmatch(e.At.Position)
		if m == nil || e.Body.Kind != "exec" {
			continue
		}
		line, _ := strconv.Atoi(m[1])
		switch {
		case r.Kind == "step.started":
			started[line]++
		case r.Kind == "step.ended" && e.Body.Outcome == "done":
			done[line]++
		}
	}
	for t, line := range execs {
		if n := strings.Count(ran, t+"\n"); n > started[line] || n < done[line] {
			bad = append(bad, fmt.Sprintf("the block %s ran %d times; on record are %d beginnings and %d good ends", t, n, started[line], done[line]))
		}
	}
	return bad
}

// inOrder says which line is missing, or not in its place.
func inOrder(want []string, text string) []string {
	rest := "\n" + text
	for _, line := range want {
		_, after, ok := strings.Cut(rest, "\n"+line)
		if !ok {
			return []string{fmt.Sprintf("%q is missing in what was printed, or stands elsewhere", line)}
		}
		rest = "\n" + after
	}
	return nil
}
