//go:build linux

package main

import (
	"strings"
	"testing"
)

// Nothing that a document, an agent or a record is called or says drives the terminal of who looks at it: beside the result, which is the
// document's as it is, no command writes a control character.
func TestNothingDrivesTheTerminal(t *testing.T) {
	const esc = "\x1b]0;owned\a\x1b[2J\u202e"
	p := newAccount(t)
	doc := "doc" + esc + ".xmd"
	p.write("xmd.toml", "[agents.spy]\ncommand = '"+p.bin+"'\nargs = ['sim', '--script', '"+p.at("s.script")+"', '--home', '"+p.at("agent")+"']\n")
	p.write("s.script", `<WhenPrompt template="look"><Thought>t`+esc+`</Thought><Plan>[ ] p`+esc+`</Plan><ToolCall kind="execute" title="t`+esc+
		`" input={{"command": "c`+esc+`"}} ask>out`+esc+`</ToolCall>said `+esc+` it</WhenPrompt>
<WhenPrompt template="fail"><Error code={-32603} message="bro`+esc+`ken"/></WhenPrompt>
`)
	p.write(doc, `---
props: {a: {type: string, default: "d`+esc+`"}}
---
# Head`+esc+`

<Session name="n"><Prompt agent="spy" as="a">look</Prompt></Session>
{a}
<Try><Fail message="f`+esc+`"/><Catch as="e">caught</Catch></Try>
<Prompt agent="spy" as="b">fail</Prompt>
`)
	check := func(args ...string) (stdout string) {
		t.Helper()
		_, stdout, stderr := p.xmd(0o22, args...)
		printed(t, strings.ReplaceAll(stderr, "\r", ""))
		if strings.Contains(stderr, "\u202e") {
			t.Errorf("%q turns the text around: %q", args, stderr)
		}
		return stdout
	}
	check("check", doc)
	check("run", doc, "-v")
	check("run", doc, "--github")
	check("run", doc, "--deny-all")
	check("run", doc, "--x"+esc)
	check("run", "no"+esc+".xmd")
	check("run" + esc)
	for _, args := range [][]string{
		{"run", doc, "--format", "json"}, {"run", doc, "--format", "ndjson"}, {"plan", doc}, {"plan", doc, "--format", "mermaid"}, {"run", doc, "--help"},
		{"runs"}, {"show", "last"}, {"sessions"}, {"sessions", "show", "n"}, {"sessions", "export", "n"}, {"export", "last"},
	} {
		if out := check(args...); out == "" {
			t.Errorf("%q says nothing", args)
		} else {
			printed(t, out)
		}
	}
}
