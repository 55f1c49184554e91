package runtime_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"xmd/runtime"
	"xmd/runtime/event"
)

// replies answers prompts one after another; the last one again and again.
func replies(list ...string) func(runtime.Turn) (runtime.TurnResult, error) {
	return func(turn runtime.Turn) (runtime.TurnResult, error) {
		turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: list[0]})
		if len(list) > 1 {
			list = list[1:]
		}
		return runtime.TurnResult{Stop: "end_turn", Usage: &runtime.Usage{}}, nil
	}
}

const verdict = `schema={{"type":"object","properties":{"ok":{"type":"boolean"},"issues":{"type":"array","items":{"type":"object","properties":{"line":{"type":"integer"}}}}},"required":["ok"]}}`

func TestStructuredReplies(t *testing.T) {
	const good = "Sure:\n```json\n{\"ok\": true, \"issues\": [{\"line\": 3}]}\n```"
	const bad = `{"issues": [{"line": "3"}]}`
	const faults = `the value: "ok" is missing; issues[0].line: must be integer, is string ("3")`
	for _, c := range []struct {
		name, doc string
		replies   []string
		out, err  string
		turns     int
	}{
		{"bound", `<Prompt ` + verdict + ` as="v" text="go"/>{v.ok} {v.issues[0].line}`, []string{good}, "true 3", "", 1},
		{"in place", `[<Prompt ` + verdict + ` text="go"/>]`, []string{`x {"ok":false} y`}, "[{\n  \"ok\": false\n}]", "", 1},
		{"the second time", `<Prompt ` + verdict + ` as="v" text="go"/>{v.ok}`, []string{bad, good}, "true", "", 2},
		{"the third time", `<Prompt ` + verdict + ` as="v" text="go"/>{v.ok}`, []string{"none", bad, good}, "true", "", 3},
		{"never", `<Prompt ` + verdict + ` as="v" text="go"/>b`, []string{bad}, "", "test.xmd:1:1: the answer of Fake does not fit the schema after 3 turns: " + faults, 3},
		{"no retries", `<Prompt ` + verdict + ` retries={0} as="v" text="go"/>`, []string{bad}, "", "does not fit the schema: " + faults, 1},
		{"four retries", `<Prompt ` + verdict + ` retries={4} as="v" text="go"/>`, []string{bad}, "", "after 5 turns", 5},
		{"what was wrong last", `<Prompt ` + verdict + ` retries={1} as="v" text="go"/>`, []string{bad, "no"}, "", "after 2 turns: the value: it holds no JSON value", 2},
		{"caught", `<Try><Prompt ` + verdict + ` retries={0} text="go"/><Catch as="e">{e.kind}</Catch></Try>`, []string{bad}, "failed", "", 1},
		{"too many retries", given(`<Prompt `+verdict+` retries={props.many} text="go"/>`, "many"), []string{bad}, "", "retries must be between 0 and 20, is 21", 0},
		{"a bad schema", given(`<Prompt schema={{"type": props.v}} text="go"/>`, "v"), []string{bad}, "", "the schema cannot be used", 0},
	} {
		b := newBench(t)
		b.agents["fake"].onPrompt = replies(c.replies...)
		b.props = map[string]any{"v": "strin", "many": int64(21)}
		r := b.flow(c.doc)
		if r.out != c.out || !says(r.err, c.err) || len(b.agents["fake"].prompts) != c.turns {
			t.Errorf("%s: %q, %v, %d turns", c.name, r.out, r.err, len(b.agents["fake"].prompts))
		}
		if len(b.agents["fake"].homes) > 1 {
			t.Errorf("%s: %d conversations", c.name, len(b.agents["fake"].homes))
		}
	}
}

// A failed one in place lets the document go on, with nothing in its place.
func TestStructuredFailureInPlace(t *testing.T) {
	b := newBench(t)
	b.agents["fake"].onPrompt = replies("no")
	r := b.flow("a\n<Prompt " + verdict + " retries={0} text=\"go\"/>\nb\n")
	if r.err != nil || r.out != "a\nb\n" || len(r.failures) != 1 {
		t.Errorf("%q, %v, %v", r.out, r.err, r.failures)
	}
}

// What is said to the agent, how the turns are recorded, and that none but the last failure counts as one.
func TestStructuredTurns(t *testing.T) {
	b := newBench(t)
	b.agents["fake"].onPrompt = replies(`{"ok": 1}`, `{"ok": true}`)
	b.opts = func(o *runtime.Options) { o.WholeReplies = true }
	r := b.flow(`<Prompt session="s" ` + verdict + ` as="v" text="Review it."/>`)
	if r.err != nil {
		t.Fatal(r.err)
	}
	p := b.agents["fake"].prompts
	if len(p) != 2 || !strings.HasPrefix(p[0], "Review it.\n\nAnswer with exactly one JSON value") || !strings.Contains(p[0], `"required": [`) {
		t.Errorf("%q", p)
	}
	if want := "That answer does not fit the JSON Schema:\n- ok: must be boolean, is number (1)\n\nAnswer again with the whole JSON value, corrected, and with nothing else."; p[1] != want {
		t.Errorf("%q", p[1])
	}
	var got []string
	for _, e := range r.events {
		switch body := e.Body.(type) {
		case *event.Sent:
			got = append(got, "sent "+e.At.Step)
		case *event.Ended:
			word := "ended " + e.At.Step + " " + body.Outcome + " " + body.Reply
			if body.Error != nil || (body.Value != nil) != (body.Turn == 2) {
				t.Errorf("%+v", body)
			}
			got = append(got, word)
		}
	}
	want := `sent Prompt1|ended Prompt1 done {"ok": 1}|sent Prompt1#2|ended Prompt1#2 done {"ok": true}`
	if strings.Join(got, "|") != want {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "|"), want)
	}
	for _, conversation := range b.agents["fake"].homes { // the fake keeps no turn that a test answers
		for i, reply := range []string{`{"ok": 1}`, `{"ok": true}`} {
			conversation.turns = append(conversation.turns, runtime.PastTurn{Words: runtime.FingerprintOf(p[i]), Reply: runtime.FingerprintOf(reply)})
		}
	}
	// The conversation that had two turns goes on in the next run, asked for a value again.
	b.agents["fake"].onPrompt = replies(`{"ok": "x"}`, `{"ok": false}`)
	r = b.flow(`<Prompt session="s" ` + verdict + ` as="v" text="Again."/>{v.ok}`)
	if r.err != nil || r.out != "false" || len(b.agents["fake"].homes) != 1 {
		t.Errorf("%q, %v, %d conversations", r.out, r.err, len(b.agents["fake"].homes))
	}
	if w := r.warnings(); len(w) > 0 {
		t.Errorf("the turns before are not recognised: %q", w)
	}
}

// A turn that fails is not asked again.
func TestStructuredTurnFails(t *testing.T) {
	b := newBench(t)
	b.agents["fake"].onPrompt = failing
	r := b.flow(`<Prompt ` + verdict + ` as="v" text="bad"/>`)
	if !says(r.err, "down on bad") || len(b.agents["fake"].prompts) != 1 {
		t.Errorf("%v, %d turns", r.err, len(b.agents["fake"].prompts))
	}
}

func TestPromptTimeout(t *testing.T) {
	b := newBench(t)
	var left time.Duration
	b.agents["fake"].onTurn = func(ctx context.Context, _ string, turn runtime.Turn) (runtime.TurnResult, error) {
		if !strings.Contains(turn.Words, "slow") {
			return runtime.TurnResult{}, nil
		}
		end, ok := ctx.Deadline()
		if left = time.Until(end); !ok {
			t.Error("the turn has no deadline")
		}
		turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: "part"})
		<-ctx.Done()
		return runtime.TurnResult{Stop: "cancelled"}, nil
	}
	r := b.flow("<Prompt timeout=\"30ms\" text=\"slow\"/>\n<Prompt text=\"next\"/>\n")
	if r.err != nil || r.out != "part\n«next»\n" || left > 30*time.Millisecond {
		t.Errorf("%q, %v, %s", r.out, r.err, left)
	}
	if len(r.failures) != 1 || r.failures[0].Kind != runtime.KindTimeout || r.failures[0].Message != "the prompt was cancelled: Fake was not done within its timeout of 30ms" {
		t.Errorf("%v", r.failures)
	}
	r = b.flow(`<Try><Prompt timeout="30ms" as="x" text="slow"/><Catch as="e">{e.kind} {e.code}</Catch></Try>`)
	if r.err != nil || r.out != "timeout 1" {
		t.Errorf("%q, %v", r.out, r.err)
	}
	// The time of a structured prompt is that of all its turns.
	count := 0
	b.agents["fake"].onTurn = func(ctx context.Context, _ string, turn runtime.Turn) (runtime.TurnResult, error) {
		if count++; count > 1 {
			<-ctx.Done()
			return runtime.TurnResult{Stop: "cancelled"}, nil
		}
		turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: "no"})
		return runtime.TurnResult{Stop: "end_turn"}, nil
	}
	r = b.flow(`<Prompt timeout="30ms" ` + verdict + ` as="x" text="slow"/>`)
	if runtime.KindOf(r.err) != runtime.KindTimeout || count != 2 {
		t.Errorf("%v, %d turns", r.err, count)
	}
}

func TestAgentSettings(t *testing.T) {
	b := newBench(t)
	b.agents["other"] = newFake("other")
	b.agents["fake"].info.AskMode = "ask"
	r := b.flow(`<Prompt text="a"/><Agent name="fake" model="large" mode="free"><Prompt text="b"/><Prompt text="c"/><Agent name="fake" effort="high"><Prompt text="d"/></Agent>` +
		`<Prompt agent="other" text="e"/><Agent name="other"><Prompt text="f"/></Agent></Agent><Agent name="fake" mode="ask"><Prompt text="g"/></Agent><Prompt text="h"/>`)
	if r.err != nil {
		t.Fatal(r.err)
	}
	want := []runtime.Settings{{Model: "large", Mode: "free"}, {Model: "large", Effort: "high", Mode: "free"}, {Mode: "ask"}, {}}
	if got := b.agents["fake"].settings; len(got) != len(want) {
		t.Errorf("%+v", got)
	} else {
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%d: %+v, want %+v", i, got[i], want[i])
			}
		}
	}
	if got := b.agents["other"].settings; len(got) != 0 {
		t.Errorf("the other agent: %+v", got)
	}
	if w := r.warnings(); len(w) != 1 || w[0] != `Fake works in its mode "free", as <Agent mode> says: the permission policy cannot see what it does unasked in it.` {
		t.Errorf("%q", w)
	}
	before := len(b.agents["fake"].prompts)
	b.agents["fake"].settings = nil
	r = b.flow(`<Try><Agent name="fake" model="none"><Prompt text="x"/></Agent><Catch as="e">{e.message}</Catch></Try>`)
	if r.out != `Fake offers no model "none"; it offers small` || len(b.agents["fake"].prompts) != before {
		t.Errorf("%q, %v", r.out, r.err)
	}
	// What was taken of settings that failed is not known; the next prompt settles it.
	r = b.flow(`<Try><Agent name="fake" model="none" mode="free"><Prompt text="x"/></Agent><Catch/></Try><Prompt text="y"/>`)
	if got := b.agents["fake"].settings; r.err != nil || len(got) != 3 || got[2] != (runtime.Settings{}) {
		t.Errorf("%+v, %v", got, r.err)
	}
}
