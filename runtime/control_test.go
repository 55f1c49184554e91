package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/event"
)

// flow runs text in a new run; components are names and texts of the files that it may use.
func (b *bench) flow(text string, components ...string) *result {
	b.t.Helper()
	return b.runPlan(context.Background(), b.build(text, components...))
}

func (b *bench) build(text string, components ...string) *plan.Plan {
	b.t.Helper()
	doc, list := lang.Parse("test.xmd", text)
	p, more := plan.Compiler{Files: files(components)}.Compile(doc)
	if list = append(list, more...); list.HasErrors() {
		var text strings.Builder
		_ = diag.WriteText(&text, doc.Source, list)
		b.t.Fatalf("the document is invalid:\n%s", text.String())
	}
	return p
}

// files are component files by name: name, text, name, text.
type files []string

func (f files) Component(_, name string) (plan.SourceFile, bool, error) {
	for i := 0; i < len(f); i += 2 {
		if f[i] == name {
			return plan.SourceFile{Name: "components/" + name + ".xmd", Text: f[i+1]}, true, nil
		}
	}
	return plan.SourceFile{}, false, nil
}

func (f files) Components(string) (names []string) {
	for i := 0; i < len(f); i += 2 {
		names = append(names, f[i])
	}
	return names
}

func (files) Schema(_, path string) (plan.SourceFile, error) {
	return plan.SourceFile{}, fmt.Errorf("there is no %s", path)
}

// given is text with props of any type, whose values the checker cannot know.
func given(text string, props ...string) string {
	return "---\nprops: {" + strings.Join(props, ": {}, ") + ": {}}\n---\n" + text
}

// failing is an agent whose turns fail in the way that their words name.
func failing(turn runtime.Turn) (runtime.TurnResult, error) {
	if !strings.Contains(turn.Words, "bad") {
		return runtime.TurnResult{}, nil
	}
	turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: "partial"})
	return runtime.TurnResult{Stop: "end_turn", Failure: "down on " + turn.Words}, nil
}

func TestControlFlow(t *testing.T) {
	for _, c := range []struct{ name, doc, out, failures string }{
		{"each", "<Each in={[\"a\",\"b\"]} let=\"f\">\n{each.index}{f}\n</Each>\nend\n", "1a\n2b\nend\n", ""},
		{"each without a name", "<Each in={[4,5]}>{each.index}</Each>", "12", ""},
		{"each of nothing", "a\n<Each in={[]} let=\"f\">\n{f}\n</Each>\nend\n", "a\nend\n", ""},
		{"each binds nothing outside", "<Let as=\"x\" value={1}/><Each in={[1,2]} let=\"f\"><Let as=\"x\" value={f * 10}/>{x} </Each>{x}", "10 20 1", ""},
		{"nested each", "<Each in={[1,2]} let=\"a\"><Each in={[3,4]} let=\"b\">{a}{b}{each.index} </Each>{each.index}</Each>", "131 142 1231 242 2", ""},
		{"each as", "<Each in={[1,2]} let=\"f\" as=\"xs\">\n  n{f}\n</Each>\n{xs[0]}|{xs[1]}", "n1|n2", ""},
		{"each collect", "<Each in={[1,2]} let=\"f\" as=\"xs\" collect={y + 1}>gone<Let as=\"y\" value={f * 2}/></Each>{xs}", "[\n  3,\n  5\n]", ""},
		{"each in no array", given("<Each in={props.no} let=\"f\">x</Each>", "no", "zero", "text", "half"), "", "test.xmd:4:11: in must be an array, is null"},
		{"each replies", "<Each in={[1,2]} let=\"f\">\n<Prompt>q{f}</Prompt>\n</Each>\n", "«q1»\n«q2»\n", ""},
		{"each fails in place", "<Each in={[1,2]} let=\"f\">\n<Prompt>bad {f}</Prompt>\n</Each>\n", "partial\npartial\n",
			"test.xmd:2:1[1]: Fake: down on bad 1|test.xmd:2:1[2]: Fake: down on bad 2"},
		{"each as fails", "<Each in={[1,2]} let=\"f\" as=\"xs\">\n<Prompt>bad {f}</Prompt>\n</Each>\nend", "", "test.xmd:2:1[1]: Fake: down on bad 1"},
		{"loop", "<Loop max={3}>\n{loop.index}\n</Loop>\nend\n", "1\n2\n3\nend\n", ""},
		{"loop binds outside", "<Loop max={3}><Let as=\"x\" value={loop.index}/></Loop>{x}", "3", ""},
		{"loops have their own index", "<Loop max={2}>{loop.index}<Loop max={2}>({loop.index})</Loop>{loop.index} </Loop>", "1(1)(2)1 2(1)(2)2 ", ""},
		{"break", "<Loop max={9}>\n{loop.index}\n<If condition={loop.index == 2}><Break/></If>\nafter\n</Loop>\nend\n", "1\nafter\n2\nend\n", ""},
		{"break out of let, each and try", "<Loop max={9}>a<Let as=\"x\"><Each in={[1]} let=\"i\"><Try><Break/><Catch>c</Catch></Try></Each></Let>b</Loop>end", "aend", ""},
		{"break leaves the nearest", "<Loop max={2}>o<Loop max={9}>i<Break/></Loop></Loop>", "oioi", ""},
		{"break behind a reply", "<Loop max={9}>\n<Prompt text=\"q\"/> <Break/>\n</Loop>\nend\n", "«q»\nend\n", ""},
		{"break in a prompt", "<Loop max={9}>\n<Prompt>w<Break/></Prompt>\n</Loop>\nend\n", "end\n", ""},
		{"loop max", given("<Loop max={props.zero}>x</Loop>", "no", "zero", "text", "half"), "", "test.xmd:4:12: max must be at least 1, is 0"},
		{"loop max text", given("<Loop max={props.text}>x</Loop>", "no", "zero", "text", "half"), "", "test.xmd:4:12: max must be a whole number, is \"3\""},
		{"loop max fraction", given("<Loop max={props.half}>x</Loop>", "no", "zero", "text", "half"), "", "test.xmd:4:12: max must be a whole number, is 1.5"},
		{"one line", "  <If condition={true}><Prompt text=\"a\"/> <If condition={false}>x</If></If> <Prompt text=\"b\"/>  \nend\n", "  «a»  «b»\nend\n", ""},
		{"parallel on one line", "  <Parallel max={1}><Prompt text=\"a\"/> <If condition={false}>x</If></Parallel> <Prompt text=\"b\"/>  \nend\n", "  «a»  «b»\nend\n", ""},
		{"try", "<Try>\nbefore\n<Prompt text=\"bad\"/>\nafter\n<Catch as=\"e\">\n{e.kind} {e.code} {e.agent} {e.position}: {e.message}\n</Catch>\n</Try>\nend\n",
			"before\npartial\nfailed 1 fake test.xmd:3:1: Fake: down on bad\nend\n", ""},
		{"try without a failure", "<Try>a<Catch>c</Catch></Try>b", "ab", ""},
		{"try without catch", "a<Try><Fail message=\"m\"/></Try>b", "ab", ""},
		{"try as data", "<Try><Fail message=\"m\"/><Catch as=\"e\">{e}</Catch></Try>",
			"{\n  \"agent\": null,\n  \"code\": 1,\n  \"kind\": \"failed\",\n  \"message\": \"m\",\n  \"position\": \"test.xmd:1:6\",\n  \"retryable\": false,\n  \"session\": null,\n  \"step\": \"Try1/body/Fail1\"\n}", ""},
		{"catch fails", "<Try><Fail message=\"a\"/><Catch><Fail message=\"b\"/></Catch></Try>x", "", "test.xmd:1:32: b"},
		{"what came before a try stays", "<Prompt text=\"bad 1\"/>\n<Try><Prompt text=\"bad 2\"/><Catch>c</Catch></Try>\n", "partial\npartialc\n", "test.xmd:1:1: Fake: down on bad 1"},
		{"try deep", "<Try><Each in={[1]} let=\"i\"><Loop max={1}><Prompt text=\"bad\"/></Loop></Each><Catch as=\"e\">[{e.step}]</Catch></Try>",
			"partial[Try1/body/Each1[1]/body/Loop1[1]/body/Prompt1]", ""},
		{"exec in try", "<Try>\n```bash exec\nexit 3\n```\n<Catch as=\"e\">\n{e.message}\n</Catch>\n</Try>\n", "the bash block `exit 3` ended with code 3\n", ""},
		{"names bound before a failure stay", "<Let as=\"x\" value={0}/><Try><Let as=\"x\" value={1}/><Fail message=\"m\"/></Try>{x}", "1", ""},
		{"fail", "a\n<Fail message=\"it is over\"/>\nb\n", "a\n", "test.xmd:2:1: it is over"},
		{"cannot be sent", "<Prompt agent=\"nobody\" text=\"x\"/>b", "", "test.xmd:1:1: there is no agent \"nobody\""},
		{"cannot be sent, caught", "<Try><Prompt agent=\"nobody\" text=\"x\"/><Catch as=\"e\">{e.kind}</Catch></Try>", "invalid", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.props = map[string]any{"no": nil, "zero": int64(0), "text": "3", "half": 1.5}
			b.agents["fake"].onPrompt = failing
			r := b.flow(c.doc)
			if got := messages(r.failures); r.out != c.out || got != c.failures {
				t.Errorf("\nout  %q\nwant %q\nfailures %q\n    want %q (%v)", r.out, c.out, got, c.failures, r.err)
			}
		})
	}
}

func messages(list []*runtime.Error) string {
	var got []string
	for _, f := range list {
		got = append(got, f.Error())
	}
	return strings.Join(got, "|")
}

// A signal, a limit of the run: no Catch has a say, and nothing after it runs.
func TestWhatEndsTheRunIsNotCaught(t *testing.T) {
	for _, cause := range []error{context.Canceled, runtime.Errorf(runtime.KindLimit, "the run took too long")} {
		for _, doc := range []string{
			`<Try><Prompt text="a"/>no<Catch>caught</Catch></Try>after`,
			"<Try><Parallel>\n<Prompt session=\"s\" text=\"a\"/>\n<Prompt session=\"t\" text=\"b\"/>\n</Parallel><Catch>caught</Catch></Try>after",
			`<Loop max={3}><Prompt text="a"/></Loop>after`,
		} {
			b := newBench(t)
			ctx, cancel := context.WithCancelCause(context.Background())
			b.agents["fake"].onTurn = func(ctx context.Context, _ string, _ runtime.Turn) (runtime.TurnResult, error) {
				cancel(cause)
				<-ctx.Done()
				return runtime.TurnResult{Stop: "cancelled"}, nil
			}
			r := b.runPlan(ctx, b.build(doc))
			if want := runtime.KindOf(asRuntime(cause)); r.out != "" || runtime.KindOf(r.err) != want || len(r.failures) != 1 {
				t.Errorf("%s: out %q, err %v, failures %q", doc, r.out, r.err, messages(r.failures))
			}
		}
	}
}

func asRuntime(err error) error {
	if err == context.Canceled {
		return &runtime.Error{Kind: runtime.KindCancelled}
	}
	return err
}

func TestRegions(t *testing.T) {
	for _, c := range []struct{ doc, out, told string }{
		{"a\n<Output>\nb\n</Output>\nc\n<Output>d</Output>\n", "b\nd\n", "a|c"},
		{"x <Output>b</Output> y\n", "b", "x  y"},
		{"<Output>b</Output> <Prompt text=\"q\"/> <Output>c</Output>\n", "b c\n", "«q» "},
		{"<Output/>\n", "", ""},
		{"<Let as=\"v\"><Prompt text=\"q\"/></Let>\n<Output>\n<If condition={true}>\n{v}\n</If>\n</Output>\n", "«q»\n", ""},
	} {
		b := newBench(t)
		r := b.flow(c.doc)
		var told []string
		for _, e := range r.events {
			if d, ok := e.Body.(*event.Delta); ok && e.Type == event.Notice {
				told = append(told, d.Text)
			}
		}
		if r.out != c.out || strings.Join(told, "|") != c.told || r.err != nil {
			t.Errorf("%q\n got %q\nwant %q\ntold %q, want %q (%v)", c.doc, r.out, c.out, told, c.told, r.err)
		}
	}
	b := newBench(t)
	b.agents["fake"].onPrompt = failing
	if r := b.flow("<Prompt text=\"bad\"/>\n<Output>b</Output>\n"); r.out != "" || r.err == nil {
		t.Errorf("a reply that is not shown: out %q, %v", r.out, r.err)
	}
	if r := b.flow("<Output><Prompt text=\"bad\"/>, b</Output>\n"); r.out != "partial, b\n" || r.err != nil || len(r.failures) != 1 {
		t.Errorf("a reply that is shown: out %q, %v", r.out, r.err)
	}
}

func TestReturn(t *testing.T) {
	front := "---\nreturns:\n  type: object\n  properties: {n: {type: integer}}\n  required: [n]\nprops: {yes: {}, v: {}}\n---\n"
	for _, c := range []struct{ doc, out, failure string }{
		{"text\n<Return value={{\"n\": 1, \"a\": [true]}}/>\n", "{\"a\":[true],\"n\":1}\n", ""},
		{"<If condition={props.yes}>\n<Return value={{\"n\": 1}}/>\n</If>\n<Fail message=\"not reached\"/>\n<Return value={{\"n\": 9}}/>\n", "{\"n\":1}\n", ""},
		{"<If condition={!props.yes}>\n<Return value={{\"n\": 1}}/>\n<Else>\n<Return value={{\"n\": 2}}/>\n</Else>\n</If>\n", "{\"n\":2}\n", ""},
		{"<Try>\n<Fail message=\"m\"/>\n<Catch as=\"e\">\n<Return value={{\"n\": e.code}}/>\n</Catch>\n</Try>\n", "{\"n\":1}\n", ""},
		{"<Try>\n<Return value={{\"n\": 3}}/>\n<Catch>\n<Return value={{\"n\": 4}}/>\n</Catch>\n</Try>\n", "{\"n\":3}\n", ""},
		{"<Return value={{\"n\": props.v}}/>\n", "", "test.xmd:8:16: the value does not fit returns: n: must be integer, is string (\"x\")"},
		{"<Prompt text=\"bad\"/>\n<Return value={{\"n\": 1}}/>\n", "", "test.xmd:8:1: Fake: down on bad"},
	} {
		b := newBench(t)
		b.props = map[string]any{"yes": true, "v": "x"}
		b.agents["fake"].onPrompt = failing
		r := b.flow(front + c.doc)
		v, ok := b.runner.Value()
		if got := messages(r.failures); r.out != c.out || got != c.failure || ok != (c.failure == "") {
			t.Errorf("%q\n got %q, %q\nwant %q, %q; value %v", c.doc, r.out, got, c.out, c.failure, v)
		}
	}
}

func TestComponents(t *testing.T) {
	front := func(prop string) string { return "---\nprops: {" + prop + ": {}}\nrequired: [" + prop + "]\n---\n" }
	card := front("title") + "## {props.title}\n\n<Content/>\n"
	slots := "[<Content slot=\"head\">none</Content>][<Content/>]\n"
	value := "---\nreturns: {type: object}\nprops: {n: {default: 5}}\n---\n<Return value={{\"n\": props.n}}/>\n"
	ask := front("q") + "<Prompt>{props.q}</Prompt>\n"
	twice := "<Content/>,<Content/>\n"
	bad := "<Prompt text=\"bad\"/>\n"
	for _, c := range []struct{ name, doc, out, failures string }{
		{"in place", "a\n<Card title=\"T\">\n  x\n</Card>\nb\n", "a\n## T\n\nx\nb\n", ""},
		{"own names only", "<Let as=\"y\" value={1}/><Card title={y}>{y}</Card>", "## 1\n\n1", ""},
		{"as", "<Card title=\"T\" as=\"c\">x</Card>[{c}]", "[## T\n\nx]", ""},
		{"value", "<Value n={2} as=\"v\"/>{v.n}", "2", ""},
		{"defaults", "<Value as=\"v\"/>{v.n}", "5", ""},
		{"slots", "<Slots><Let slot=\"head\" as=\"z\" value={1}/>body</Slots>", "[][body]\n"[:8], ""},
		{"fallback", "<Slots>body</Slots>", "[none][body]", ""},
		{"children bind for the caller", "<Let as=\"k\" value={0}/><Twice><Let as=\"k\" value={k + 1}/>k</Twice>{k}", "k,k2", ""},
		{"nested", "<Card title=\"A\"><Card title=\"B\">in</Card></Card>", "## A\n\n## B\n\nin", ""},
		{"inherits the agent", "<Agent name=\"other\"><Ask q=\"q\"/></Agent>", "«q»", ""},
		{"fails in place", "<Bad/>\nb\n", "partial\nb\n", "components/Bad.xmd:1:1: Fake: down on bad"},
		{"fails with as", "<Bad as=\"x\"/>\nb\n", "", "components/Bad.xmd:1:1: Fake: down on bad"},
		{"fails in a Let", "<Let as=\"x\"><Bad/></Let>b\n", "", "components/Bad.xmd:1:1: Fake: down on bad"},
		{"fails in a Try", "<Try><Bad/><Catch as=\"e\">|{e.position} {e.step}</Catch></Try>", "partial|components/Bad.xmd:1:1 Try1/body/Bad1/file/Prompt1", ""},
		{"children fail in place", "<Twice><Prompt text=\"bad\"/></Twice>", "partial,partial", "test.xmd:1:8: Fake: down on bad|test.xmd:1:8: Fake: down on bad"},
		{"children fail in a captured component", "<Twice as=\"x\"><Prompt text=\"bad\"/></Twice>b", "", "test.xmd:1:15: Fake: down on bad"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.agents["other"] = newFake("other")
			b.agents["fake"].onPrompt = failing
			r := b.flow(c.doc, "Card", card, "Slots", slots, "Value", value, "Ask", ask, "Twice", twice, "Bad", bad)
			if got := messages(r.failures); r.out != c.out || got != c.failures {
				t.Errorf("\nout  %q\nwant %q\nfailures %q\n    want %q (%v)", r.out, c.out, got, c.failures, r.err)
			}
			if strings.Contains(c.name, "agent") && len(b.agents["other"].prompts) != 1 {
				t.Error("the other agent was not asked")
			}
		})
	}
}

// Steps have an identity of their own in every round, branch and component, and positions say the round.
func TestStepIdentities(t *testing.T) {
	b := newBench(t)
	r := b.flow("<Loop max={2}><Each in={[1,2]} let=\"i\" parallel={2}><Ask q=\"a\"><Prompt text=\"child\"/></Ask></Each></Loop>\n"+
		"<Parallel><Prompt text=\"b\"/><Prompt text=\"c\"/></Parallel>",
		"Ask", "---\nprops: {q: {}}\n---\n<Prompt>{props.q}</Prompt><Content/>")
	if r.err != nil {
		t.Fatal(r.err)
	}
	got := map[string]string{}
	for _, e := range r.events {
		if e.Type == event.PromptSent {
			if _, twice := got[e.At.Step]; twice {
				t.Errorf("step %s was sent twice", e.At.Step)
			}
			got[e.At.Step] = e.At.Position
		}
	}
	want := map[string]string{"Parallel2/branch1/Prompt1": "test.xmd:2:11", "Parallel2/branch2/Prompt1": "test.xmd:2:29"}
	for l := 1; l <= 2; l++ {
		for i := 1; i <= 2; i++ {
			each := fmt.Sprintf("Loop1[%d]/body/Each1[%d]/body/Ask1", l, i)
			rounds := fmt.Sprintf("[%d][%d]", l, i)
			want[each+"/file/Prompt1"] = "components/Ask.xmd:4:1" + rounds
			want[each+"/file/Content2/body/Prompt1"] = "test.xmd:1:64" + rounds
		}
	}
	for step, position := range want {
		if got[step] != position {
			t.Errorf("step %s at %q, want %q", step, got[step], position)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d steps, want %d: %v", len(got), len(want), got)
	}
}
