package runtime_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"xmd/runtime"
)

// recorder is Programs that keeps what a child would have read of one variable: its value, or the file it names.
type recorder struct {
	mu   sync.Mutex
	name string
	got  string
}

func (p *recorder) Run(_ context.Context, program runtime.Program) (runtime.ProgramExit, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, kv := range program.Env {
		if v, ok := strings.CutPrefix(kv, p.name+"="); ok {
			p.got = v
			if data, err := os.ReadFile(v); err == nil {
				p.got = string(data)
			}
		}
	}
	return runtime.ProgramExit{}, nil
}

// Whatever a value holds passes through prompts, output, files, JSON and programs unchanged, and is never read as markup.
func TestHostileValues(t *testing.T) {
	const doc = `---
props: {v: {type: string}}
---
<Let as="v" value={props.v}/>
<Prompt as="reply">{v}</Prompt>
<File path="f">{v}</File>
<File path="f" as="back"/>
<Json value={v} as="j"/>
<Let as="parsed" value={fromJSON(j)}/>
` + "```bash exec with=\"WITH\"\ntrue\n```\n" + `
[{v}]
{back == v} <If condition={back == v && parsed == v && reply == "«" + v + "»"}>same<Else>different</Else></If>
`
	for name, c := range map[string]struct{ value, with string }{
		"closing tag":   {"</Prompt> <Prompt agent=\"x\"/> <If>", "v"},
		"braces":        {"{{v}} {v} {/* {", "v"},
		"cdata":         {"]]> <!-- --> -->", "v"},
		"line ends":     {"a\r\nb\n\n\nc\n", "v"},
		"quotes":        {"\"'`\\\" \\' &quot;", "v"},
		"shell":         {"$(touch pwned) `touch pwned` ; touch pwned", "v"},
		"fence":         {"```bash exec\nexit 3\n```\n", "v"},
		"blank ends":    {"\n\n  x  \n\n", "v"},
		"large":         {strings.Repeat("0123456789abcde\n", 1<<16), "v@file"},
		"nul":           {"a\x00b", "v@file"},
		"control, bidi": {"\x1b[31m\u202e\u2066", "v"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.props = map[string]any{"v": c.value}
			programs := &recorder{name: "v"}
			b.opts = func(o *runtime.Options) { o.Programs = programs }
			r := b.run(strings.Replace(doc, "WITH", c.with, 1))
			if r.err != nil {
				t.Fatal(r.err)
			}
			if got := b.agents["fake"].prompts; len(got) != 1 || got[0] != c.value {
				t.Errorf("the agent was sent %.200q", got)
			}
			if programs.got != c.value {
				t.Errorf("the program read %.200q", programs.got)
			}
			if want := "\n[" + c.value + "]\n"; !strings.Contains(r.out, want) || strings.Contains(r.out, "different") {
				t.Errorf("the output is %.300q", r.out)
			}
			if data, err := os.ReadFile(b.dir + "/f"); err != nil || string(data) != c.value {
				t.Errorf("the file holds %.200q, %v", data, err)
			}
		})
	}
}

// A reply loses the blank lines at its ends, in place and captured.
func TestRepliesLoseBlankEnds(t *testing.T) {
	b := newBench(t)
	b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		for _, piece := range []string{"\n", "\no", "k\n", "\n", "  \n"} {
			turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: piece})
		}
		return runtime.TurnResult{Stop: "end_turn"}, nil
	}
	if r := b.run("<Prompt as=\"r\" text=\"x\"/>[{r}]\n<Prompt text=\"y\"/>\nend\n"); r.out != "[ok]\nok\nend\n" {
		t.Errorf("%q, %v", r.out, r.err)
	}
}
