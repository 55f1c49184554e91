package plan_test

import (
	"strings"
	"testing"

	"xmd/lang/layout"
)

// TestMistakes: documents that must be refused before anything runs, with the place and what is said.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`<Prompt sesion="a" text="x"/>`:                                                 "d.xmd:1:9: sesion is not an attribute of Prompt|did you mean session?",
		`<Prompt paralel="x" text="y"/>`:                                                "d.xmd:1:9: paralel is not an attribute of Prompt",
		`<Prompt text="a">b</Prompt>`:                                                   "d.xmd:1:9: Prompt has both text and a body",
		"a\n\n<Session agent=\"codex\" />":                                              "d.xmd:3:10: agent is not an attribute of Session|Session takes name; write <Prompt agent=… session=…> or <Agent>",
		`<Let as="n" value={3}/><Prompt>{n.x}</Prompt>`:                                 "d.xmd:1:35: n is a number and has no member x",
		`<Let as="n" value={3}/><Prompt text={n.x}/>`:                                   "d.xmd:1:40: n is a number and has no member x",
		`<Prompt agent="a" text="x"/>` + "\n<Fail/>":                                    "d.xmd:2:1: Fail needs message",
		`<Prompt agent="a" text="x"/>` + "\n<Tool name=\"a\" descripton=\"b\">x</Tool>": "d.xmd:2:16: descripton is not an attribute of Tool|did you mean description?",
		`<Loop max={0}>a</Loop>`:                                                        "d.xmd:1:12: max must be 1 or more, is 0",
		`<Loop max={1.5}>a</Loop>`:                                                      "d.xmd:1:12: max must be a whole number, is 1.5",
		`<Loop max="3">a</Loop>`:                                                        "d.xmd:1:12: max is a whole number, not a string",
		`<Loop>a</Loop>`:                                                                "d.xmd:1:1: Loop needs max",
		`<Parallel max={65}/>`:                                                          "d.xmd:1:16: max can be at most 64, is 65",
		`<Each in={["a","b"]} let="f">{f}</Each><Prompt>{f}</Prompt>`:                   "d.xmd:1:49: f is not bound here",
		"fine\n<Prompt text=\"x\"/>\n\n<If condition={1}/>":                             "d.xmd:4:16: condition must be true or false, is a number",
	} {
		p, said := tryCompile("d.xmd", text)
		for _, part := range strings.Split(want, "|") {
			if p != nil || !strings.Contains(said, part) {
				t.Errorf("%s\nwant %s\ngot  %s", text, part, said)
			}
		}
	}
}

// TestRendered: small documents and what comes out.
func TestRendered(t *testing.T) {
	for text, want := range map[string]string{
		`<Let as="n" value={3}/>{n} \{n} {n.x}`:                                                    "3 {n} {n.x}",
		`<Let as="n" value={3}/><If condition={n > 2}>A<Else>B</Else></If>`:                        "A",
		`<Let as="n" value={1}/><If condition={n > 2}>A<Else>B</Else></If>`:                        "B",
		`<Let as="n" value={1}/><If condition={n > 2}><Prompt text="x"/><Else>B</Else></If>`:       "B",
		`<Let as="v" value={null}/>[{v.x}]`:                                                        "[]",
		`<Prompt as="r" text="ok"/>[{r}]`:                                                          "[«ok»]",
		`<Let as="o" value={{"b": [1], "a": "x"}}/>{o} {o.b[0]} {o.c} {o["a"]}`:                    "{\n  \"a\": \"x\",\n  \"b\": [\n    1\n  ]\n} 1  x",
		`<Let as="v" value={"<Prompt text='{n}'/>"}/>{v}`:                                          "<Prompt text='{n}'/>",
		`<Each in={["a","b"]} let="f">{f} </Each>{f}`:                                              "a b {f}",
		`{json: 1} {a} {"k": {v}} fn({a:1})`:                                                       `{json: 1} {a} {"k": {v}} fn({a:1})`,
		`<If condition={true}><Let as="x" value={1}/><Else><Let as="x" value={2}/></Else></If>{x}`: "1",
	} {
		p := compile(t, "d.xmd", text)
		var out layout.Buffer
		if err := (&renderer{names: map[string]any{}}).nodes(p.Body, &out); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if out.String() != want {
			t.Errorf("%s\ngot  %q\nwant %q", text, out.String(), want)
		}
	}
}
