package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"xmd/agents/past"
	"xmd/runtime"
)

var streaming = &Profile{
	Forms: past.Forms{
		Synthetic: []past.Frame{{Open: "[Request interrupted by user", Close: "]"}, {Open: "<context>", Close: "</context>"}, {Open: "[Function Response", Close: ""}},
		Summary:   "This session is being continued",
		Wrappers:  []past.Frame{{Open: "<query>", Close: "</query>"}},
		ErrorText: []string{"API Error: "},
	},
	NoticeWithoutID: true,
	CompactTitle:    "Compact conversation",
	CompletedMark:   "completed",
}

// chunk is one replayed chunk; an empty id is none.
func chunk(kind, id, text string) string {
	u := map[string]any{"sessionUpdate": kind, "content": map[string]any{"type": "text", "text": text}}
	if id != "" {
		u["messageId"] = id
	}
	b, err := json.Marshal(u)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func asked(id, text string) string    { return chunk("user_message_chunk", id, text) }
func answered(id, text string) string { return chunk("agent_message_chunk", id, text) }

func marked(frame string) string {
	return strings.TrimSuffix(frame, "}") + `,"_meta":{"completed":true}}`
}

const (
	aTool  = `{"sessionUpdate":"tool_call","toolCallId":"1","title":"Read"}`
	aPlan  = `{"sessionUpdate":"plan","entries":[]}`
	shrink = `{"sessionUpdate":"tool_call","toolCallId":"2","title":"Compact conversation"}`
	image  = `{"sessionUpdate":"%s","messageId":"i","content":{"type":"image","data":"","mimeType":"image/png"}}`
)

func wantTurn(t *testing.T, got runtime.PastTurn, words, reply string) {
	t.Helper()
	if got.Words != runtime.FingerprintOf(words) || reply != "" && got.Reply != runtime.FingerprintOf(reply) {
		t.Errorf("the turn is not %q, answered by %q", words, reply)
	}
}

func replayOf(t *testing.T, frames ...string) runtime.History {
	t.Helper()
	l := loading{p: streaming, past: past.New(&streaming.Forms)}
	for _, f := range frames {
		u, ok := parseUpdate([]byte(f))
		if !ok {
			t.Fatalf("no update: %s", f)
		}
		l.replayed(&u)
	}
	return l.past.History(true)
}

// A replayed answer is what a live turn would have shown.
func TestReplayedReply(t *testing.T) {
	one := asked("u1", "one")
	for name, c := range map[string]struct {
		frames    []string
		reply     string
		completed bool
	}{
		"nothing":                    {[]string{one}, "", false},
		"one message":                {[]string{one, answered("m1", "a")}, "a", false},
		"messages are joined":        {[]string{one, answered("m1", "a, "), aTool, answered("m2", "b")}, "a, b", false},
		"what no model said":         {[]string{one, answered("", "Warning: x"), answered("m1", "a"), answered("", "late")}, "a", false},
		"empty and no text":          {[]string{one, answered("m1", ""), fmt.Sprintf(image, "agent_message_chunk"), answered("m1", "a")}, "a", false},
		"a thought":                  {[]string{one, chunk("agent_thought_chunk", "t1", "hm"), answered("m1", "a")}, "a", false},
		"an error at its end":        {[]string{one, answered("m1", "begun"), answered("e", "API Error: 500")}, "begun", false},
		"only an error":              {[]string{one, answered("e", "API Error: 500")}, "", false},
		"looks like an error":        {[]string{one, answered("e", "API Error: "), answered("m1", "is what it says")}, "API Error: is what it says", false},
		"an error, then a tool":      {[]string{one, answered("e", "API Error: x"), aTool}, "API Error: x", false},
		"an error, then a plan":      {[]string{one, answered("e", "API Error: x"), aPlan}, "API Error: x", false},
		"two errors":                 {[]string{one, answered("e", "API Error: x"), answered("e", "API Error: y")}, "API Error: x", false},
		"an error, then nothing":     {[]string{one, answered("e", "API Error: x"), answered("m1", "")}, "", false},
		"over an agent's own turn":   {[]string{one, answered("m1", "a, "), asked("f", "[Function Response: run]"), answered("m2", "b")}, "a, b", false},
		"interrupted":                {[]string{one, answered("m1", "a"), asked("x", "[Request interrupted by user for tool use]")}, "a", false},
		"completed":                  {[]string{one, marked(answered("m1", "a"))}, "a", true},
		"completed with a tool":      {[]string{one, answered("m1", "a"), marked(aTool)}, "a", true},
		"completed without a word":   {[]string{marked(one)}, "", true},
		"before the first":           {[]string{answered("m0", "hello"), one, answered("m1", "a")}, "a", false},
		"after an agent's own first": {[]string{asked("c", "<context>here</context>"), answered("m0", "hello"), one, answered("m1", "a")}, "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := replayOf(t, c.frames...)
			if h.UserTurns != 1 || len(h.Newest) != 1 || h.Newest[0].Words != runtime.FingerprintOf("one") {
				t.Fatalf("%+v, want the one turn", h)
			}
			if h.LastReply == nil || *h.LastReply != c.reply || h.Newest[0].Reply != runtime.FingerprintOf(c.reply) {
				t.Errorf("reply %q, want %q", *h.LastReply, c.reply)
			}
			if h.Newest[0].Completed != c.completed {
				t.Errorf("completed: %v", h.Newest[0].Completed)
			}
		})
	}
}

func TestReplayedTurns(t *testing.T) {
	for name, c := range map[string]struct {
		frames  []string
		words   []string // "" is one that cannot be recognised
		compact bool
	}{
		"nothing":                   {nil, nil, false},
		"no user's":                 {[]string{answered("m1", "a")}, nil, false},
		"pieces of one message":     {[]string{asked("u1", "one "), asked("u1", "two")}, []string{"one two"}, false},
		"pieces without ids":        {[]string{asked("", "one "), asked("", "two"), answered("m1", "a"), asked("", "three")}, []string{"one two", "three"}, false},
		"two unanswered":            {[]string{asked("u1", "one"), asked("u2", "two")}, []string{"one", "two"}, false},
		"alike":                     {[]string{asked("u1", "go on"), asked("u2", "go on")}, []string{"go on", "go on"}, false},
		"an image":                  {[]string{fmt.Sprintf(image, "user_message_chunk"), answered("m1", "a")}, []string{""}, false},
		"an image and words":        {[]string{fmt.Sprintf(image, "user_message_chunk"), asked("i", "see this")}, []string{"see this"}, false},
		"wrapped":                   {[]string{asked("u1", "<query>\none\n</query>")}, []string{"one"}, false},
		"the wrapper in words":      {[]string{asked("u1", "<query>\nwhat is <query>x</query>?\n</query>")}, []string{"what is <query>x</query>?"}, false},
		"words that are a wrapper":  {[]string{asked("u1", "<query><query>x</query></query>")}, []string{"<query>x</query>"}, false},
		"half a wrapper":            {[]string{asked("u1", "<query>one")}, []string{"<query>one"}, false},
		"the agent's own, wrapped":  {[]string{asked("u1", "<query><context>x</context></query>")}, []string{"<context>x</context>"}, false},
		"begins as the agent's own": {[]string{asked("u1", "<context>x</context> is what?")}, []string{"<context>x</context> is what?"}, false},
		"two of the agent's own":    {[]string{asked("u1", "<context>x</context> or <context>y</context>")}, []string{"<context>x</context> or <context>y</context>"}, false},
		"never closed":              {[]string{asked("u1", "<context>x")}, []string{"<context>x"}, false},
		"a summary":                 {[]string{asked("u1", "This session is being continued from …\none"), answered("m1", "a")}, nil, true},
		"a summary and a turn":      {[]string{asked("u1", "This session is being continued"), asked("u2", "two")}, []string{"two"}, true},
		"summed up in a turn":       {[]string{asked("u1", "one"), shrink, answered("m1", "a")}, []string{"one"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := replayOf(t, c.frames...)
			if h.UserTurns != len(c.words) || len(h.Newest) != len(c.words) || h.Compacted != c.compact {
				t.Fatalf("%+v, want %d turns, compacted: %v", h, len(c.words), c.compact)
			}
			for i, w := range c.words {
				if h.Newest[i].Words != runtime.FingerprintOf(w) {
					t.Errorf("turn %d is not %q", i, w)
				}
			}
			if (h.LastReply == nil) != (len(c.words) == 0) {
				t.Errorf("last reply %v", h.LastReply)
			}
		})
	}
}

// What one turn ended with is no part of the next one's answer.
func TestReplayedErrorOfTheTurnBefore(t *testing.T) {
	h := replayOf(t, answered("m0", "hello"), asked("u1", "one"), answered("e", "API Error: x"), asked("u2", "two"), answered("m2", "b"))
	if h.UserTurns != 2 || *h.LastReply != "b" || h.Newest[0].Reply != (runtime.Fingerprint{}) {
		t.Errorf("%+v, last reply %q", h, *h.LastReply)
	}
}
