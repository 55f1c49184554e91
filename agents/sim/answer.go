package sim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// builtIn answers a prompt that no rule of a script took: a command, the codeword question, or an echo.
func (t *turn) builtIn() error {
	for _, text := range t.texts() {
		if c, args, rest, ok := parseCommand(text); ok {
			return c.run(t, args, rest)
		}
	}
	t.session.mu.Lock()
	heard := slices.Clone(t.session.heard)
	t.session.mu.Unlock()
	return t.say(plainAnswer(heard, t.words), 0)
}

// plainAnswer is the answer to words that are no command: the codeword that is asked for, else an echo.
func plainAnswer(heard []string, words string) string {
	question := codewordQuestion(words)
	if question == "" {
		return fmt.Sprintf("turn %d: %s", len(heard)+1, words)
	}
	if word := codeword(heard, question); word != "" {
		return "The codeword is " + word + "."
	}
	return "I know no codeword."
}

// command is one of the built-in prompt commands.
type command struct {
	numbers int  // how many whole numbers it takes
	rest    bool // whether text follows them
	run     func(t *turn, args []int, rest string) error
}

var commands map[string]command

func init() { // a map literal would be an initialisation cycle: the commands use turn, which uses them
	commands = map[string]command{
		"SAY":      {0, true, func(t *turn, _ []int, rest string) error { return t.say(rest, 0) }},
		"CHUNKS":   {2, false, runChunks},
		"TOOLS":    {1, false, runTools},
		"PERM":     {0, true, runPermission},
		"SLEEP":    {1, false, func(t *turn, n []int, _ string) error { return then(t.wait(n[0]), t, "slept") }},
		"HANG":     {0, false, func(t *turn, _ []int, _ string) error { return t.hang() }},
		"THINK":    {0, true, func(t *turn, _ []int, rest string) error { return then(t.think(rest, 0), t, "done") }},
		"SERVERS":  {0, false, func(t *turn, _ []int, _ string) error { return t.say(t.session.described(), 0) }},
		"CALL":     {0, true, runCall},
		"SETTINGS": {0, false, func(t *turn, _ []int, _ string) error { return t.say(t.session.settings(), 0) }},
		"PLAN":     {1, false, runPlan},
		"USAGE": {2, false, func(t *turn, n []int, _ string) error {
			t.reportUsage(n[0], n[1], -1)
			return t.say("done", 0)
		}},
		"FAIL": {1, true, func(_ *turn, n []int, rest string) error { return &rpcError{Code: n[0], Message: rest} }},
		"EXIT": {1, false, func(t *turn, n []int, _ string) error { t.agent.quit(n[0]); return nil }},
		"SPAWN": {0, true, func(t *turn, _ []int, rest string) error {
			return then(t.agent.spawn(strings.ReplaceAll(rest, " ", "+")), t, "spawned")
		}},
	}
}

// then says text unless err.
func then(err error, t *turn, text string) error {
	if err != nil {
		return err
	}
	return t.say(text, 0)
}

// parseCommand reads a prompt whose first and only line is a command with its arguments.
func parseCommand(text string) (c command, args []int, rest string, ok bool) {
	text = strings.TrimSpace(text)
	name, rest, _ := strings.Cut(text, " ")
	c, ok = commands[name]
	if !ok || strings.Contains(text, "\n") {
		return c, nil, "", false
	}
	rest = strings.TrimSpace(rest)
	for range c.numbers {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 && name != "FAIL" {
			return c, nil, "", false // not the command after all: echoed
		}
		args = append(args, n)
		rest = strings.TrimSpace(rest)
	}
	return c, args, rest, c.rest || rest == ""
}

func runChunks(t *turn, n []int, _ string) error {
	return t.repeat(strings.Repeat("x", max(0, n[1]-1))+"\n", n[0])
}

func runTools(t *turn, n []int, _ string) error {
	for i := range n[0] {
		file := fmt.Sprintf("file-%d.txt", i+1)
		if _, err := t.use(toolCall{kind: "read", title: "Read " + file, input: object{"path": file}, output: "text of " + file, outcome: "completed"}); err != nil {
			return err
		}
	}
	return t.say("done", 0)
}

func runPermission(t *turn, _ []int, kind string) error {
	if kind == "" {
		kind = "edit"
	}
	answer, err := t.use(toolCall{kind: kind, title: "Try a tool of kind " + kind, input: object{"kind": kind}, outcome: "completed", ask: true})
	if err != nil {
		return err
	}
	if answer == "" {
		answer = "not asked"
	}
	return t.say("permission: "+answer, 0)
}

func runPlan(t *turn, n []int, _ string) error {
	entries := []planEntry{}
	for i := range n[0] {
		entries = append(entries, planEntry{fmt.Sprintf("step %d", i+1), "medium", "pending"})
	}
	t.plan(entries)
	return t.say("done", 0)
}

// The patterns are made when they are first needed: most starts of xmd are no sim.
var (
	askedWith = pattern(`(?i)^\W*(what|which|tell|recall|repeat|say)\b`)
	isWord    = pattern(`(?i)\bcodeword\b`)
	fromStart = pattern(`(?i)\b(first|start|beginning)\b`)
	// told finds the word in a sentence that tells it: after "is", "was", a colon or an equals sign any word, directly
	// after "codeword" one in capitals.
	told = pattern(`\b[Cc](?i:odeword)(?:(?:\s+(?:is|was)\s+|\s*[:=]\s*)["'“‘*_` + "`" + `]*([\pL\pN]+(?:[-_][\pL\pN]+)*)|\s+["'“‘*_` + "`" + `]*([\p{Lu}\pN]{2,}(?:[-_][\p{Lu}\pN]+)*)\b)`)
)

func pattern(p string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(p) })
}

// sentences cuts text after full stops, question and exclamation marks before white space, and at line ends.
func sentences(text string) []string {
	var all []string
	start := 0
	for i, r := range text {
		ends := strings.ContainsRune(".?!", r) && (i+1 == len(text) || strings.ContainsRune(" \t\r\n", rune(text[i+1])))
		if ends || r == '\n' {
			all = append(all, text[start:i+1])
			start = i + 1
		}
	}
	return append(all, text[start:])
}

func asks(sentence string) bool {
	return isWord().MatchString(sentence) &&
		(strings.HasSuffix(strings.TrimSpace(sentence), "?") || askedWith().MatchString(sentence))
}

// codewordQuestion gives the sentence of the prompt that asks for the codeword, "" if none does.
func codewordQuestion(words string) string {
	for _, s := range sentences(words) {
		if asks(s) {
			return s
		}
	}
	return ""
}

// codeword looks for the word in earlier user turns, questions left out: the first told if the question speaks of the
// start, else the last.
func codeword(heard []string, question string) string {
	found := ""
	for _, words := range heard {
		for _, s := range sentences(words) {
			m := told().FindStringSubmatch(s)
			if m == nil || asks(s) {
				continue
			}
			if found = m[1] + m[2]; fromStart().MatchString(question) {
				return found
			}
		}
	}
	return found
}
