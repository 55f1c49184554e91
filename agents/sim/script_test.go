package sim

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTemplate(t *testing.T) {
	for _, test := range []struct {
		template, prompt string
		want             map[string]any // nil: no match
	}{
		{"Fix {?id} in {?file}", "Fix BUG-1 in a/b.go", map[string]any{"id": "BUG-1", "file": "a/b.go"}},
		{"Fix {?id} in {?file}", "\n  Fix  BUG-1\nin a b.go \n", map[string]any{"id": "BUG-1", "file": "a b.go"}},
		{"Fix {?id} in {?file}", "Fix one in two in three", map[string]any{"id": "one", "file": "two in three"}},
		{"Fix {?id} in {?file}", "Please Fix 1 in 2", nil},
		{"Fix {?id} in {?file}", "Fix  in 2", nil},
		{"{?all}", "two\n\nlines.*", map[string]any{"all": "two\n\nlines.*"}},
		{"a.b (c)", "a.b (c)", map[string]any{}},
		{"a.b (c)", "axb (c)", nil},
		{"x{?a}y{?b}", "x1y2", map[string]any{"a": "1", "b": "2"}},
		{"say {literal}", "say {literal}", map[string]any{}},
		{"größer {?n}", "größer als ß", map[string]any{"n": "als ß"}},
	} {
		parsed, err := parseTemplate(test.template)
		if err != nil {
			t.Errorf("%q: %v", test.template, err)
			continue
		}
		got, ok := parsed.match(test.prompt)
		if ok != (test.want != nil) || ok && !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q on %q gives %v, %v; want %v", test.template, test.prompt, got, ok, test.want)
		}
	}
	for _, bad := range []string{"", "  ", "{?", "{?a", "{?1}", "{?a b}", "{?a} and {?a}", "{?a}{?b}"} {
		if _, err := parseTemplate(bad); err == nil {
			t.Errorf("the template %q is accepted", bad)
		}
	}
}

// scripted starts an agent with a script.
func scripted(t *testing.T, home, script string, more ...string) *client {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent.xmd")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return startArgs(t, append([]string{"--home", home, "--script", file}, more...)...)
}

func TestScriptAnswers(t *testing.T) {
	for name, test := range map[string]struct{ script, prompt, want string }{
		"text": {"# Notes for readers\n\n<WhenPrompt template=\"Fix {?id} in {?file}\">\n  Fixed {id} in {file}.\n\n  Done {id}.\n</WhenPrompt>\n",
			"Fix 7 in a.go", "agent_message_chunk Fixed 7 in a.go.⏎⏎Done 7."},
		"one line": {`<WhenPrompt template="hi">Hello</WhenPrompt>`, "hi", "agent_message_chunk Hello"},
		"a value is not scanned": {`<WhenPrompt template="say {?x}">it is {x}</WhenPrompt>`, "say <Error/> {x}",
			"agent_message_chunk it is <Error/> {x}"},
		"order": {"<WhenPrompt template=\"a {?x}\">first</WhenPrompt>\n<WhenPrompt template=\"{?x}\">second</WhenPrompt>", "a b",
			"agent_message_chunk first"},
		"chunks": {`<WhenPrompt template="go"><Say chunks={3}>abcdef</Say></WhenPrompt>`, "go",
			"agent_message_chunk ab\nagent_message_chunk cd\nagent_message_chunk ef"},
		"everything": {`<WhenPrompt template="Fix {?file}">
  <Thought>look at {file}</Thought>
  <Plan>
    - [x] read
    - [~] write {file}
    test
  </Plan>
  Looking.
  <ToolCall kind="read" title={"Read " + file} input={{"path": file}}>text of {file}</ToolCall>
  <Usage used={5} size="10" cost={0.5} input={7} output={8} />
  <Say chunks={1}>Fixed.</Say>
</WhenPrompt>`, "Fix a.go", `agent_thought_chunk look at a.go
plan
agent_message_chunk Looking.
tool_call Read a.go pending
tool_call_update  completed
usage_update
agent_message_chunk ⏎Fixed.`},
		"failed tool":    {`<WhenPrompt template="go"><ToolCall title="t" outcome="failed">why</ToolCall></WhenPrompt>`, "go", "tool_call t pending\ntool_call_update  failed"},
		"endless tool":   {`<WhenPrompt template="go"><ToolCall title="t" outcome="none"/></WhenPrompt>`, "go", "tool_call t pending"},
		"filled fence":   {"<WhenPrompt template=\"say {?x}\">\n```text fill\n{x}\n```\n</WhenPrompt>", "say ```", "agent_message_chunk ````text⏎```⏎````"},
		"inert fence":    {"<WhenPrompt template=\"say {?x}\">\n```json\n{x}\n```\n</WhenPrompt>", "say hi", "agent_message_chunk ```json⏎{x}⏎```"},
		"says on lines":  {"<WhenPrompt template=\"go\">\n  <Say>a</Say>\n  <Say>b</Say>\n</WhenPrompt>", "go", "agent_message_chunk a\nagent_message_chunk ⏎b"},
		"nothing":        {`<WhenPrompt template="go"></WhenPrompt>`, "go", ""},
		"no rule":        {`<WhenPrompt template="go">x</WhenPrompt>`, "stop", "agent_message_chunk turn 1: stop"},
		"author comment": {"<WhenPrompt template=\"go\">\n{/* for readers */}\nx\n</WhenPrompt>", "go", "agent_message_chunk x"},
	} {
		t.Run(name, bubble(func(t *testing.T) {
			c := scripted(t, t.TempDir(), test.script)
			id := c.session()
			from := len(c.quiet())
			if _, stop := c.prompt(id, test.prompt); stop != "end_turn" {
				t.Errorf("ended with %s", stop)
			}
			if got := kinds(updates(c.seen()[from:])); got != test.want {
				t.Errorf("answered\n%s\nwant\n%s\nstderr: %s", got, test.want, c.stderr)
			}
			if noted := strings.Contains(c.stderr.String(), "no WhenPrompt matches"); noted != (name == "no rule") {
				t.Errorf("stderr: %s", c.stderr)
			}
		}))
	}
}

func TestScriptFrames(t *testing.T) {
	bubble(func(t *testing.T) {
		c := scripted(t, t.TempDir(), `<WhenPrompt template="Fix {?file}">
  <ToolCall kind="edit" title="Edit it" diff={{"path": file, "oldText": "a", "newText": "b"}} ask />
  <Usage input={7} output={8} />
  <Plan>
    * [x] one
    two
  </Plan>
</WhenPrompt>`)
		c.answer = func(f frame) any {
			for _, want := range []string{`"kind":"edit"`, `"title":"Edit it"`, `"type":"diff"`, `"path":"` + workdir + `/a.go"`, `"newText":"b"`} {
				if !strings.Contains(string(f.Params), want) {
					t.Errorf("the permission request lacks %s: %s", want, f.Params)
				}
			}
			return choose(f, "allow_once")
		}
		id := c.session()
		result := c.must("session/prompt", words(id, "Fix a.go"))
		if usage := result["usage"].(map[string]any); usage["inputTokens"] != 7.0 || usage["totalTokens"] != 15.0 {
			t.Errorf("usage %v", usage)
		}
		var plan []planEntry
		for _, u := range updates(c.seen()) {
			plan = append(plan, u.Entries...)
		}
		if want := []planEntry{{"one", "medium", "completed"}, {"two", "medium", "pending"}}; !reflect.DeepEqual(plan, want) {
			t.Errorf("plan %v", plan)
		}
	})(t)
}

func TestScriptEnds(t *testing.T) {
	bubble(func(t *testing.T) {
		script := `<WhenPrompt template="wait"><Wait ms={1234}/>over</WhenPrompt>
<WhenPrompt template="fail {?why}">half<Error code={-32001} message={why}/></WhenPrompt>
<WhenPrompt template="type {?x}"><Wait ms={x}/></WhenPrompt>
<WhenPrompt template="exit">bye<Exit code={9}/></WhenPrompt>`
		c := scripted(t, t.TempDir(), script)
		id := c.session()
		began := time.Now()
		c.says(id, "wait", "over")
		if d := time.Since(began); d != 1234*time.Millisecond {
			t.Errorf("Wait took %v", d)
		}
		if e := c.fails("session/prompt", words(id, "fail badly"), -32001); e.Message != "badly" {
			t.Errorf("%v", e)
		}
		if e := c.fails("session/prompt", words(id, "type soon"), -32603); !strings.Contains(encodeText(e.Data), "agent.xmd:3:") {
			t.Errorf("an attribute that fails while it runs gives %v %v", e, e.Data)
		}
		c.send("session/prompt", words(id, "exit"))
		if code := c.ended(); code != 9 {
			t.Errorf("Exit gave %d", code)
		}
		if got := said(updates(c.seen())); !strings.HasSuffix(got, "bye") {
			t.Errorf("said %q", got)
		}
	})(t)
}

func encodeText(v any) string { return string(encode(v)) }

// Times are counted in the session, over processes, and another session counts anew.
func TestScriptTimes(t *testing.T) {
	bubble(func(t *testing.T) {
		script := "<WhenPrompt template=\"go\" times={2}>few</WhenPrompt>\n<WhenPrompt template=\"go\" times={1}>once</WhenPrompt>\n<WhenPrompt template=\"go\">many</WhenPrompt>"
		home := t.TempDir()
		c := scripted(t, home, script)
		id := c.session()
		c.says(id, "go", "few")
		c.close()
		c = scripted(t, home, script)
		c.loaded(id)
		for _, want := range []string{"few", "once", "many", "many"} {
			c.says(id, "go", want)
		}
		other := c.must("session/new", cwd(nil))["sessionId"].(string)
		c.says(other, "go", "few")
	})(t)
}

func TestScriptErrors(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"unclosed":        {"<WhenPrompt template=\"x\">", "s.xmd:1:1: "},
		"component":       {"text\n<Prompt text=\"x\"/>", "s.xmd:2:2: Prompt has no place here"},
		"outside":         {"<Say>x</Say>", "put it into a <WhenPrompt"},
		"in a reply":      {"<WhenPrompt template=\"x\">\n<Sya>x</Sya></WhenPrompt>", "did you mean Say?"},
		"nested":          {"<WhenPrompt template=\"x\"><Say><Wait ms={1}/></Say></WhenPrompt>", "Wait has no place in Say"},
		"CallTool":        {"<WhenPrompt template=\"x\"><CallTool ask/></WhenPrompt>", "s.xmd:1:27: CallTool needs a name"},
		"CallTool args":   {"<WhenPrompt template=\"x\"><CallTool name=\"x\" args=\"[]\"/></WhenPrompt>", "args: wants an object, not []"},
		"CallTool as":     {"<WhenPrompt template=\"x {?a}\"><CallTool name=\"x\" as=\"a\"/></WhenPrompt>", "a is bound already"},
		"CallTool no as":  {"<WhenPrompt template=\"x\"><CallTool name=\"x\" as=\"1a\"/></WhenPrompt>", "as wants a name"},
		"bound too early": {"<WhenPrompt template=\"x\">{found}<CallTool name=\"x\" as=\"found\"/></WhenPrompt>", "captures no found"},
		"CallTool body":   {"<WhenPrompt template=\"x\"><CallTool name=\"x\">y</CallTool></WhenPrompt>", "CallTool takes no body"},
		"no template":     {"<WhenPrompt>x</WhenPrompt>", "WhenPrompt needs a template"},
		"bad template":    {"<WhenPrompt template=\"{?a}{?b}\">x</WhenPrompt>", "s.xmd:1:13: {?b} follows another capture"},
		"attribute":       {"<WhenPrompt template=\"x\" time={2}>x</WhenPrompt>", "s.xmd:1:26: WhenPrompt has no attribute time"},
		"near":            {"<WhenPrompt template=\"x\" time={2}>x</WhenPrompt>", "did you mean times?"},
		"number":          {"<WhenPrompt template=\"x\"><Wait ms=\"soon\"/></WhenPrompt>", "ms: wants a whole number from 0, not \"soon\""},
		"negative":        {"<WhenPrompt template=\"x\"><Say chunks={-1}>x</Say></WhenPrompt>", "wants a whole number"},
		"no times":        {"<WhenPrompt template=\"x\" times={0}>x</WhenPrompt>", "0 times is of no use"},
		"word":            {"<WhenPrompt template=\"x\"><ToolCall kind=\"shell\"/></WhenPrompt>", `kind cannot be "shell"`},
		"outcome":         {"<WhenPrompt template=\"x\"><ToolCall outcome=\"done\"/></WhenPrompt>", "completed failed none"},
		"diff":            {"<WhenPrompt template=\"x\"><ToolCall diff={{\"path\": \"x\"}}/></WhenPrompt>", "a diff needs path and newText"},
		"expression":      {"<WhenPrompt template=\"x\"><Wait ms={1 +}/></WhenPrompt>", "s.xmd:1:"},
		"name":            {"<WhenPrompt template=\"x {?file}\">{fiel}</WhenPrompt>", "the template captures no fiel"},
		"expression name": {"<WhenPrompt template=\"x {?file}\"><ToolCall title={fiel}/></WhenPrompt>", "did you mean file?"},
		"exec":            {"<WhenPrompt template=\"x\">\n```bash exec\nls\n```\n</WhenPrompt>", "a script runs no exec blocks"},
		"body":            {"<WhenPrompt template=\"x\"><Wait ms={1}>x</Wait></WhenPrompt>", "Wait takes no body"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "s.xmd")
			if err := os.WriteFile(file, []byte(test.script), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr strings.Builder
			code := Main(context.Background(), []string{"--home", t.TempDir(), "--script", file}, strings.NewReader(""), &stdout, &stderr, noEnv)
			if code != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("code %d, want %s in\n%s", code, test.want, &stderr)
			}
		})
	}
	var stderr strings.Builder
	env := func(k string) string {
		return map[string]string{"HOME": t.TempDir(), "XMD_SIM_SCRIPT": "/no/such.xmd"}[k]
	}
	if code := Main(context.Background(), nil, strings.NewReader(""), &strings.Builder{}, &stderr, env); code != 2 || !strings.Contains(stderr.String(), "/no/such.xmd") {
		t.Errorf("a missing script: code %d, %s", code, &stderr)
	}
}

// Two errors of one script are both said.
func TestScriptErrorsAllAtOnce(t *testing.T) {
	_, _, found := parseScript("s.xmd", "<WhenPrompt template=\"\">x</WhenPrompt>\n<Prompt/>\n<WhenPrompt template=\"x\"><Say a=\"b\">{y}</Say></WhenPrompt>")
	if len(found.Errors()) != 4 {
		t.Errorf("%d errors: %v", len(found), found)
	}
}
