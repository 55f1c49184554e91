package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/secret"
)

// toolBench is a bench with a door, whose agents take tools.
func toolBench(t *testing.T, agents ...string) (*bench, *fakeDoor) {
	t.Helper()
	b := newBench(t)
	door := &fakeDoor{}
	b.opts = func(o *runtime.Options) { o.Door, o.Secrets = door, &secret.Set{} }
	for _, name := range append(agents, "fake") {
		if b.agents[name] == nil {
			b.agents[name] = newFake(name)
		}
		b.agents[name].takes = &[2]bool{true, true}
	}
	return b, door
}

// tells makes an agent answer with what do makes of the words.
func tells(f *fakeAgent, do func(ctx context.Context, words string, turn runtime.Turn) string) {
	f.onTurn = func(ctx context.Context, _ string, turn runtime.Turn) (runtime.TurnResult, error) {
		turn.Sink(runtime.Update{Kind: runtime.UpdateThought, Accepts: true, Text: "hm"})
		turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: do(ctx, turn.Words, turn)})
		return runtime.TurnResult{Stop: "end_turn"}, ctx.Err()
	}
}

// answer is an answer as one text.
func answer(a runtime.ToolAnswer) string {
	if a.Failed {
		return "!" + a.Text
	}
	return a.Text
}

// TestCall: an agent calls a tool; its body has the arguments, names of its own and those around, and what it renders is the result.
func TestCall(t *testing.T) {
	b, door := toolBench(t)
	tells(b.agents["fake"], func(ctx context.Context, words string, _ runtime.Turn) string {
		first := answer(door.last().call(ctx, "add", `{"a": 2, "b": 3}`))
		return first + " then " + answer(door.last().call(ctx, "add", `{"a": 1, "b": 1}`))
	})
	r := b.run(`<Let as="unit" value="km"/>
<Tool name="add" description="adds" schema={{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}>
  <Let as="unit2" value={"(" + unit + ")"}/>
  {args.a} + {args.b} = <Let as="sum" value={args.a + args.b}/>{sum} {unit2} by {call.id}
</Tool>
<Let as="unit" value="m"/>
<Prompt text="q"/>
`)
	if r.err != nil {
		t.Fatal(r.err)
	}
	want := "2 + 3 = 5 (m) by Prompt4/call/add#1 then 1 + 1 = 2 (m) by Prompt4/call/add#2\n"
	if r.out != want {
		t.Errorf("got  %q\nwant %q", r.out, want)
	}
	tools := door.last().Tools
	if len(tools) != 2 || tools[0].Name != "add" || tools[0].Description != "adds" || !strings.Contains(string(tools[0].Schema), `"integer"`) || tools[1].Name != "xmd_question" {
		t.Errorf("offered are %+v", tools)
	}
	var shown []string
	for _, e := range r.events {
		switch body := e.Body.(type) {
		case *event.Tool:
			shown = append(shown, fmt.Sprint(e.Type, " ", e.At.Step, " ", body.ID, " ", body.Own, " ", body.Outcome))
		case *event.Step:
			if body.Kind == "tool" {
				shown = append(shown, fmt.Sprint(e.Type, " ", e.At.Step, " ", e.At.Position, " ", body.Outcome))
			}
		}
	}
	one := []string{"step.started Prompt4/call/add#1 test.xmd:2:1 ", "tool.started Prompt4 Prompt4/call/add#1 true ", "step.ended Prompt4/call/add#1 test.xmd:2:1 done", "tool.ended Prompt4 Prompt4/call/add#1 true done"}
	if len(shown) != 8 || !slices.Equal(shown[:4], one) {
		t.Errorf("shown is %q", shown)
	}
}

// TestScope: a tool is for the prompts behind it in the element around it, and the agent is told where it is not.
func TestScope(t *testing.T) {
	b, door := toolBench(t)
	tells(b.agents["fake"], func(ctx context.Context, words string, _ runtime.Turn) string {
		return words + ":" + answer(door.last().call(ctx, "a", `{}`)) + "," + answer(door.last().call(ctx, "b", `{}`))
	})
	r := b.run(`<Prompt text="1"/>
<If condition={true}>
  <Tool name="b">B</Tool>
  <Prompt text="2"/>
</If>
<Tool name="a">A</Tool>
<Prompt text="3"/>
<Each in={[1, 2]} let="i"><Tool name="b">B</Tool><Prompt text={string(i)}/></Each>
`)
	none, onlyA, onlyB := "!the tool %s is not in scope here", "!the tool b is not in scope here; in scope are a", "!the tool a is not in scope here; in scope are b"
	want := "1:" + fmt.Sprintf(none, "a") + "," + fmt.Sprintf(none, "b") + "\n2:" + onlyB + ",B\n3:A," + onlyA + "\n1:A,B2:A,B\n"
	if r.err != nil || r.out != want {
		t.Errorf("%v\ngot  %q\nwant %q", r.err, r.out, want)
	}
	if a := door.last().Call(context.Background(), runtime.ToolUse{Name: "a"}); !a.Failed || !strings.Contains(a.Text, "no prompt of the workflow is being answered") {
		t.Errorf("after the turn: %+v", a)
	}
}

// TestComponentScope: a component that is used where a tool holds is part of it; what it offers ends with its file.
func TestComponentScope(t *testing.T) {
	b, door := toolBench(t)
	tells(b.agents["fake"], func(ctx context.Context, words string, _ runtime.Turn) string {
		return words + ":" + answer(door.last().call(ctx, "outer", `{}`)) + "," + answer(door.last().call(ctx, "inner", `{}`))
	})
	r := b.flow(`<Tool name="outer">O</Tool><Part><Prompt text="child"/></Part><Prompt text="after"/>`,
		"Part", `<Prompt text="before"/><Tool name="inner">I</Tool><Prompt text="in"/><Content/>`)
	gone := "!the tool inner is not in scope here; in scope are outer"
	if want := "before:O," + gone + "in:O,Ichild:O," + gone + "after:O," + gone; r.err != nil || r.out != want {
		t.Errorf("%v\ngot  %q\nwant %q", r.err, r.out, want)
	}
}

// TestBodyFails: what fails in a body is told to the agent, and the run goes on.
func TestBodyFails(t *testing.T) {
	b, door := toolBench(t)
	tells(b.agents["fake"], func(ctx context.Context, _ string, _ runtime.Turn) string {
		return answer(door.last().call(ctx, "bad", `{}`)) + "|" + answer(door.last().call(ctx, "asks", `{}`)) + "|" + answer(door.last().call(ctx, "xmd_question", `{"question": "Which?"}`))
	})
	r := b.run(`<Tool name="bad"><Fail message="no such ticket"/></Tool><Tool name="asks"><Elicit as="x">Really?</Elicit></Tool><Prompt text="q"/> end`)
	want := "!test.xmd:1:18: no such ticket|!nobody is present who could answer: test.xmd:1:75: the question \"Really?\" waits for an answer …|" +
		"Nobody is present to answer. Go on as you think best, or say what you would need to know. end"
	if r.err != nil || len(r.failures) != 0 || r.out != want {
		t.Errorf("%v %v\ngot  %q\nwant %q", r.err, r.failures, r.out, want)
	}
}

// TestQuestion: an agent asks the person, whose answer may have been given with the run.
func TestQuestion(t *testing.T) {
	b, door := toolBench(t)
	opts := b.opts
	b.opts = func(o *runtime.Options) {
		opts(o)
		o.Given = map[string]runtime.Answer{"xmd_question": {Text: "the left one"}, "xmd_question[2]": {Text: "no"}}
	}
	tells(b.agents["fake"], func(ctx context.Context, _ string, _ runtime.Turn) string {
		p := door.last()
		return answer(p.call(ctx, "xmd_question", `{"question": "Which one?"}`)) + "|" + answer(p.call(ctx, "xmd_question", `{"question": "Sure?", "choices": ["yes", "no"]}`)) + "|" +
			answer(p.call(ctx, "xmd_question", `{"question": " "}`))
	})
	r := b.run(`<Tool name="t">x</Tool><Prompt text="q"/>`)
	if want := "the left one|no|!test.xmd:1:24: the question is empty"; r.err != nil || r.out != want {
		t.Errorf("%v %q", r.err, r.out)
	}
}

// TestPromptInBody: a body may prompt other sessions, never the one whose turn waits for it.
func TestPromptInBody(t *testing.T) {
	b, door := toolBench(t, "other")
	tells(b.agents["fake"], func(ctx context.Context, words string, _ runtime.Turn) string {
		if words == "inner" {
			return "in the same session"
		}
		return answer(door.passOf(0).call(ctx, words, `{}`))
	})
	r := b.run(`<Tool name="same"><Prompt session="s" text="inner"/></Tool>
<Tool name="else"><Prompt agent="other" text="a"/> <Prompt session="s2" text="inner"/> <Prompt text="inner"/></Tool>
<Prompt session="s" text="same"/>
<Prompt session="s" text="else"/>
`)
	want := "!test.xmd:1:19: session \"s\" of Fake waits for this call, so a prompt to it would wait for ever; use another session\n«a» in the same session in the same session\n"
	if r.err != nil || r.out != want {
		t.Errorf("%v\ngot  %q\nwant %q", r.err, r.out, want)
	}
}

// TestBodiesWaitForEachOther: two bodies that prompt each other's sessions do not wait for ever.
func TestBodiesWaitForEachOther(t *testing.T) {
	b, door := toolBench(t)
	both := make(chan struct{}, 2)
	ready := make(chan struct{})
	tells(b.agents["fake"], func(ctx context.Context, words string, _ runtime.Turn) string {
		if words == "inner" {
			return "inner"
		}
		both <- struct{}{}
		<-ready
		return answer(door.find(ctx, words))
	})
	go func() { <-both; <-both; close(ready) }()
	r := b.run(`<Tool name="one"><Prompt session="two" text="inner"/></Tool><Tool name="two"><Prompt session="one" text="inner"/></Tool>
<Parallel>
  <Prompt session="one" text="one"/>
  <Prompt session="two" text="two"/>
</Parallel>
`)
	if n := strings.Count(r.out, "would wait for ever"); r.err != nil || n != 1 || strings.Count(r.out, "inner") != 1 {
		t.Errorf("%v %q", r.err, r.out)
	}
}

// TestCallsAtOnce: calls of one turn run at once, each with names of its own.
func TestCallsAtOnce(t *testing.T) {
	b, door := toolBench(t)
	tells(b.agents["fake"], func(ctx context.Context, _ string, _ runtime.Turn) string {
		var wg sync.WaitGroup
		got := make([]string, 20)
		for i := range got {
			wg.Go(func() { got[i] = answer(door.last().call(ctx, "echo", fmt.Sprintf(`{"n": %d}`, i))) })
		}
		wg.Wait()
		return strings.Join(got, " ")
	})
	r := b.run(`<Tool name="echo" schema={{"properties": {"n": {}}}}><Let as="m" value={args.n}/><Let as="k">{m}</Let>{k}</Tool><Prompt text="q"/>`)
	if want := "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"; r.err != nil || r.out != want {
		t.Errorf("%v %q", r.err, r.out)
	}
}

// TestCallEnds: a call ends with its own timeout, when the agent gives it up, and with the turn; the idle clock of the turn stands still.
func TestCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, door := toolBench(t)
		opts := b.opts
		b.opts = func(o *runtime.Options) { opts(o); o.Idle = time.Second; o.Programs = slowPrograms{} }
		left := make(chan string, 1)
		tells(b.agents["fake"], func(ctx context.Context, _ string, _ runtime.Turn) string {
			p := door.last()
			late := answer(p.call(ctx, "slow", `{}`)) // longer than the idle limit
			given, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			gone := answer(p.call(given, "slow", `{}`))
			go func() { left <- answer(p.call(context.Background(), "slow", `{}`)) }()
			synctest.Wait()
			return late + "|" + gone
		})
		r := b.run("<Tool name=\"slow\" timeout=\"3s\">\n```sh exec\nsleep\n```\n</Tool>\n<Prompt text=\"q\"/>\n")
		want := "!test.xmd:1:1: the tool slow was not done within its timeout of 3s|!test.xmd:1:1: the agent has given the call up\n"
		if r.err != nil || r.out != want {
			t.Errorf("%v %q", r.err, r.out)
		}
		if got := <-left; !strings.Contains(got, "the turn that made the call has ended") {
			t.Errorf("the turn leaves a call: %s", got)
		}
	})
}

// slowPrograms end only with their context.
type slowPrograms struct{}

func (slowPrograms) Run(ctx context.Context, _ runtime.Program) (runtime.ProgramExit, error) {
	<-ctx.Done()
	return runtime.ProgramExit{}, context.Cause(ctx)
}

// TestCancelledTurnEndsCalls: the prompt's own timeout ends the bodies that it waits for.
func TestCancelledTurnEndsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, door := toolBench(t)
		opts := b.opts
		b.opts = func(o *runtime.Options) { opts(o); o.Programs = slowPrograms{} }
		tells(b.agents["fake"], func(_ context.Context, _ string, _ runtime.Turn) string {
			return answer(door.last().call(context.Background(), "slow", `{}`))
		})
		r := b.run("<Tool name=\"slow\">\n```sh exec\nsleep\n```\n</Tool>\n<Prompt text=\"q\" timeout=\"2s\" as=\"x\"/>\n")
		if runtime.KindOf(r.err) != runtime.KindTimeout {
			t.Errorf("%v", r.err)
		}
	})
}

// TestDeepCalls: bodies that prompt agents that call tools come to an end.
func TestDeepCalls(t *testing.T) {
	b, door := toolBench(t)
	tells(b.agents["fake"], func(ctx context.Context, words string, _ runtime.Turn) string {
		return answer(door.passFor(words).call(ctx, words, `{}`))
	})
	var doc strings.Builder
	for i := range 9 {
		inner := "end"
		if i > 0 {
			inner = fmt.Sprintf(`<Prompt session="s%d" text="t%d"/>`, i, i-1)
		}
		fmt.Fprintf(&doc, "<Tool name=\"t%d\">%s</Tool>\n", i, inner)
	}
	door.byWords = map[string]int{"t8": 0, "t7": 1, "t6": 2, "t5": 3, "t4": 4, "t3": 5, "t2": 6, "t1": 7, "t0": 8}
	r := b.run(doc.String() + `<Prompt session="top" text="t8"/>`)
	if r.err != nil || !strings.Contains(r.out, "8 calls stand in one another already") {
		t.Errorf("%v %q", r.err, r.out)
	}
}

// TestCallPermission: a request about a tool in scope is allowed, by identity only and never for what acts by itself.
func TestCallPermission(t *testing.T) {
	b, _ := toolBench(t)
	var got []bool
	tells(b.agents["fake"], func(ctx context.Context, _ string, turn runtime.Turn) string {
		for _, req := range []runtime.PermissionRequest{
			{Kind: "other", Door: "t"}, {Door: "t"}, {Door: "xmd_question"}, {Kind: "execute", Door: "t"}, {Kind: "edit", Door: "t"}, {Kind: "delete", Door: "t"}, {Kind: "move", Door: "t"},
			{Kind: "fetch", Door: "t"}, {Kind: "other", Door: "away"}, {Kind: "other", Title: "xmd: t"}, {Kind: "other", Title: "mcp__xmd__t"},
		} {
			got = append(got, turn.Ask(ctx, req))
		}
		return "ok"
	})
	r := b.run(`<If condition={true}><Tool name="away">x</Tool><Prompt text="0"/></If><Tool name="t">x</Tool><DenyAll><Prompt text="q"/></DenyAll>`)
	want := []bool{true, true, true, false, false, false, false, false, false, false, false}
	if r.err != nil || !slices.Equal(got[len(got)-len(want):], want) {
		t.Errorf("%v %v", r.err, got)
	}
}

// TestCallsShownOnce: a call is shown as it came in, and not again as the agent tells of it; what did not come in is the agent's.
func TestCallsShownOnce(t *testing.T) {
	b, door := toolBench(t)
	tells(b.agents["fake"], func(ctx context.Context, _ string, turn runtime.Turn) string {
		tool := func(c runtime.ToolCall) { turn.Sink(runtime.Update{Kind: runtime.UpdateTool, Tool: &c}) }
		tool(runtime.ToolCall{ID: "1", Status: "pending", Name: "xmd: t"})
		tool(runtime.ToolCall{ID: "1", Door: "t"})
		door.last().call(ctx, "t", `{}`)
		tool(runtime.ToolCall{ID: "1", Status: "completed"})
		tool(runtime.ToolCall{ID: "2", Status: "pending", Name: "Bash", Subject: "xmd t"})
		tool(runtime.ToolCall{ID: "2", Status: "in_progress"})
		tool(runtime.ToolCall{ID: "2", Status: "completed"})
		tool(runtime.ToolCall{ID: "3", Status: "pending", Door: "t", Name: "declined"})
		tool(runtime.ToolCall{ID: "3", Status: "declined"})
		tool(runtime.ToolCall{ID: "4", Status: "pending", Name: "never"})
		return "ok"
	})
	r := b.run(`<Tool name="t">x</Tool><Prompt text="q"/>`)
	var got []string
	for _, e := range r.events {
		if body, ok := e.Body.(*event.Tool); ok {
			got = append(got, fmt.Sprint(e.Type, " ", body.ID, " ", body.Own, " ", body.Outcome))
		}
	}
	want := []string{"tool.started Prompt2/call/t#1 true ", "tool.ended Prompt2/call/t#1 true done", "tool.started 2 false ", "tool.ended 2 false done",
		"tool.started 3 false ", "tool.ended 3 false not run", "tool.started 4 false ", "tool.ended 4 false unknown"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
