package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"xmd/lang"
	"xmd/lang/expr"
	"xmd/lang/plan"
	"xmd/lang/resolve"
	"xmd/runtime"
)

// The worked examples of white space, through the executor: the reply to words is «words», an exec block prints EXEC: and its program.
func TestWhiteSpaceExamples(t *testing.T) {
	data, err := os.ReadFile("../lang/layout/testdata/white-space.json")
	if err != nil {
		t.Fatal(err)
	}
	var ex struct {
		Vars       map[string]any
		Components map[string]string
		Examples   []struct {
			N             int
			Name, In, Out string
			Files         map[string]string
			Error         bool
		}
	}
	if err := json.Unmarshal(data, &ex); err != nil {
		t.Fatal(err)
	}
	bound := plan.Names{}
	lets := ""
	for _, name := range slices.Sorted(maps.Keys(ex.Vars)) {
		v, err := expr.Normalize(ex.Vars[name])
		if err != nil {
			t.Fatal(err)
		}
		bound[name] = resolve.Bound{}
		lets += fmt.Sprintf("<Let as=%q value={%s}/>\n", name, expr.JSON(v))
	}
	compiler := plan.Compiler{Files: exampleFiles(ex.Components)}
	for _, c := range ex.Examples {
		doc, list := lang.Parse("in.xmd", c.In)
		p, _, more := compiler.CompileEntry(doc, bound)
		if p == nil && c.N == 51 { // its frontmatter belongs to a document, not to an entry
			p, more = compiler.Compile(doc)
		}
		list = append(list, more...)
		if c.Error != (p == nil || list.HasErrors()) {
			t.Errorf("%d %s: errors %v", c.N, c.Name, list)
		}
		if c.Error || p == nil {
			continue
		}
		b := newBench(t)
		b.names = lets
		if r := b.runPlan(context.Background(), p); r.err != nil || r.out != c.Out {
			t.Errorf("%d %s\n in  %q\n got %q\nwant %q (%v)", c.N, c.Name, c.In, r.out, c.Out, r.err)
		}
		for name, want := range c.Files {
			if got := b.read(name); got != want {
				t.Errorf("%d %s: file %s\n got %q\nwant %q", c.N, c.Name, name, got, want)
			}
		}
	}
	if len(ex.Examples) != 100 {
		t.Errorf("%d examples", len(ex.Examples))
	}
}

// exampleFiles are the component files of the examples, which declare no props there.
func exampleFiles(components map[string]string) files {
	var list files
	for name, text := range components {
		front := ""
		for _, prop := range []string{"who", "title"} {
			if strings.Contains(text, "props."+prop) {
				front = "---\nprops: {" + prop + ": {type: string}}\n---\n"
			}
		}
		list = append(list, name, front+text)
	}
	return list
}

func TestEveryExecLanguageHasAnInterpreter(t *testing.T) {
	for _, lang := range resolve.Languages {
		if !runtime.CanRun(lang) {
			t.Errorf("resolve accepts %q, and nothing runs it", lang)
		}
	}
}

func TestFailures(t *testing.T) {
	fails := func(turn runtime.Turn) (runtime.TurnResult, error) {
		if !strings.Contains(turn.Words, "bad") {
			return runtime.TurnResult{}, nil
		}
		turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: "partial"})
		return runtime.TurnResult{Stop: "end_turn", Failure: "the model is down"}, nil
	}
	for _, c := range []struct{ name, doc, out, failures, thrown string }{
		{"in place", "a\n<Prompt text=\"bad\"/>\nb\n", "a\npartial\nb\n", "test.xmd:2:1: Fake: the model is down", ""},
		{"with as", "a\n<Prompt as=\"x\" text=\"bad\"/>\nb\n", "a\n", "test.xmd:2:1: Fake: the model is down", "thrown"},
		{"throwOnError", "a\n<Prompt throwOnError text=\"bad\"/>\nb\n", "a\npartial", "test.xmd:2:1: Fake: the model is down", "thrown"},
		{"throwOnError computed", "<Let as=\"f\" value={false}/>\n<Prompt throwOnError={f} text=\"bad\"/>\nb\n", "partial\nb\n", "test.xmd:2:1: Fake: the model is down", ""},
		{"in a Let", "<Let as=\"x\"><Prompt text=\"bad\"/></Let>\nb\n", "", "test.xmd:1:13: Fake: the model is down", "thrown"},
		{"two in place", "<Prompt text=\"bad 1\"/>\n<Prompt text=\"bad 2\"/>\n", "partial\npartial\n", "test.xmd:1:1: Fake: the model is down|test.xmd:2:1: Fake: the model is down", ""},
		{"exec", "a\n```bash exec\nexit 3\n```\nb\n", "a\n", "test.xmd:2:1: the bash block `exit 3` ended with code 3", "thrown"},
		{"exec as data", "```bash exec as=\"r\"\nexit 3\n```\n{r.exitCode} {r.stderr}", "3 about to fail\n", "", ""},
		{"condition", "<Let as=\"v\" value={props.v}/>\n<If condition={v}>x</If>\n", "", "test.xmd:2:16: condition must be true or false, is 3", "thrown"},
		{"empty prompt", "<Let as=\"v\" value={\" \"}/>\n<Prompt>{v}</Prompt>\n", "", "test.xmd:2:1: the prompt is empty; nothing was sent", "thrown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.props = map[string]any{"v": int64(3)}
			b.agents["fake"].onPrompt = fails
			doc := c.doc
			if strings.Contains(doc, "props.v") {
				doc = "---\nprops: {v: {}}\n---\n" + doc
				c.failures = strings.Replace(c.failures, ":2:", ":5:", 1)
			}
			r := b.run(doc)
			var got []string
			for _, f := range r.failures {
				got = append(got, f.Error())
			}
			if r.out != c.out || strings.Join(got, "|") != c.failures || (r.err != nil) != (c.thrown != "") {
				t.Errorf("\nout  %q\nwant %q\nfailures %q\n    want %q\nthrown %v", r.out, c.out, got, c.failures, r.err)
			}
		})
	}
}

func TestLongRepliesAreWholeWhereTheyAreNeeded(t *testing.T) {
	b := newBench(t)
	b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		for range 3000 {
			turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: strings.Repeat("x", 1023) + "\n"})
		}
		return runtime.TurnResult{Stop: "end_turn"}, nil
	}
	want := strings.TrimSuffix(strings.Repeat(strings.Repeat("x", 1023)+"\n", 3000), "\n")
	if r := b.run("<Prompt as=\"x\" text=\"a\"/>[{x}]"); r.out != "["+want+"]" {
		t.Errorf("captured: %d bytes", len(r.out))
	}
	if r := b.run(`<Prompt text="a"/>`); r.out != want {
		t.Errorf("in place: %d bytes", len(r.out))
	}
}

func TestPolicies(t *testing.T) {
	ask := func(kind string) func(turn runtime.Turn) (runtime.TurnResult, error) {
		return func(turn runtime.Turn) (runtime.TurnResult, error) {
			req := runtime.PermissionRequest{Kind: kind, Subject: "it"}
			ok := turn.Ask(context.Background(), req)
			turn.Sink(runtime.Update{Kind: runtime.UpdatePermission, Permission: &runtime.PermissionOutcome{Request: req, Allowed: ok}})
			turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: fmt.Sprint(ok)})
			return runtime.TurnResult{Stop: "end_turn"}, nil
		}
	}
	for _, c := range []struct {
		policy runtime.Policy
		kind   string
		want   string
	}{
		{runtime.PolicyAllowAll, "execute", "true"}, {runtime.PolicyDenyAll, "read", "false"}, {runtime.PolicyAsk, "read", "false"},
		{runtime.PolicyApproveReads, "read", "true"}, {runtime.PolicyApproveReads, "search", "true"}, {runtime.PolicyApproveReads, "think", "true"},
		{runtime.PolicyApproveReads, "edit", "false"}, {runtime.PolicyApproveReads, "", "false"}, {runtime.PolicyApproveReads, "fetch", "false"},
	} {
		b := newBench(t)
		b.agents["fake"].onPrompt = ask(c.kind)
		b.opts = func(o *runtime.Options) { o.Policy = c.policy }
		if r := b.run(`<Prompt text="do it"/>`); r.out != c.want || r.err != nil {
			t.Errorf("%s on %q: %q, %v", c.policy, c.kind, r.out, r.err)
		}
		b.agents["fake"].info.RejectEnds = true
		r := b.run(`<Prompt text="do it"/>`)
		if refused := len(r.failures) == 1 && r.failures[0].Kind == runtime.KindRefused; refused != (c.want == "false") {
			t.Errorf("%s on %q where a reject ends the turn: %v", c.policy, c.kind, r.failures)
		}
	}
}
