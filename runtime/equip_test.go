package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"xmd/runtime"
)

// equipped is what an agent was given, attachment by attachment: the names of the servers, and how each is reached.
func equipped(f *fakeAgent) string {
	var all []string
	for _, e := range f.equipped {
		var one []string
		for _, s := range e.Servers {
			how := s.Command
			if s.URL != "" {
				how = s.URL
			}
			one = append(one, s.Name+"="+how)
		}
		all = append(all, strings.Join(one, " "))
	}
	return strings.Join(all, "|")
}

// TestServers: an agent is given the servers that hold where it is prompted, and is attached anew where they are others.
func TestServers(t *testing.T) {
	b, _ := toolBench(t)
	r := b.run(`<Let as="host" value="docs.example"/>
<Prompt text="0"/>
<Mcp name="docs" url={"https://" + host + "/mcp"} headers={{"A": "b"}}/>
<Prompt text="1"/><Prompt text="2"/>
<If condition={true}><Mcp name="local" command="srv" args={["-q"]} env={{"X": "y"}}/><Prompt text="3"/></If>
<Prompt text="4"/>
`)
	f := b.agents["fake"]
	want := "docs=https://docs.example/mcp|docs=https://docs.example/mcp local=srv|docs=https://docs.example/mcp"
	if got := equipped(f); r.err != nil || got != want || f.starts != 4 {
		t.Errorf("%v, %d starts\ngot  %s\nwant %s", r.err, f.starts, got, want)
	}
	if s := f.equipped[1].Servers; len(s[0].Headers) != 1 || s[0].Headers[0] != (runtime.Pair{Name: "A", Value: "b"}) || len(s[1].Args) != 1 || s[1].Env[0].Value != "y" {
		t.Errorf("%+v", s)
	}
	if len(r.warnings()) != 0 || strings.Join(f.prompts, "") != "01234" {
		t.Errorf("%q %q", r.warnings(), f.prompts)
	}
}

// TestToolsAreGivenOnce: the tools of a run are given with the first attachment, wherever they hold, so no prompt needs another one.
func TestToolsAreGivenOnce(t *testing.T) {
	b, door := toolBench(t)
	r := b.run(`<Prompt text="0"/><Tool name="a">x</Tool><Prompt text="1"/><If condition={true}><Tool name="b">y</Tool><Prompt text="2"/></If>`)
	if f := b.agents["fake"]; r.err != nil || f.starts != 1 || equipped(f) != "xmd=http://127.0.0.1:1/mcp" || len(door.passes) != 1 {
		t.Errorf("%v, %d starts, %s", r.err, f.starts, equipped(f))
	}
	if !door.last().revoked {
		t.Error("the key outlives the attachment")
	}
}

// TestTakes: what an agent does not take is said where it is needed, and only there.
func TestTakes(t *testing.T) {
	for name, c := range map[string]struct {
		takes *[2]bool
		load  bool
		text  string
		want  string
		given string
	}{
		"no tools":             {nil, true, `<Tool name="a">x</Tool><Prompt text="1"/>`, "Fake takes no tools and no MCP servers", ""},
		"no tools, not needed": {nil, true, `<If condition={true}><Tool name="a">x</Tool><Prompt agent="able" text="0"/></If><Prompt text="1"/>`, "", ""},
		"no servers":           {&[2]bool{}, true, `<Tool name="a">x</Tool><Prompt text="1"/>`, "Fake takes no MCP servers, by which it is offered the tools of a workflow", ""},
		"by command only":      {&[2]bool{false, true}, true, `<Tool name="a">x</Tool><Prompt text="1"/>`, "", "xmd=xmd"},
		"no relay":             {&[2]bool{false, true}, true, `<Mcp name="m" url="https://x.example"/><Prompt text="1"/>`, "Fake does not take MCP servers of the kind of m", ""},
		"cannot load":          {&[2]bool{true, true}, false, `<Prompt text="0"/><Mcp name="m" command="m"/><Prompt text="1"/>`, "in the middle of a conversation that it cannot load", ""},
		"cannot load, less":    {&[2]bool{true, true}, false, `<If condition={true}><Mcp name="m" command="m"/><Prompt text="0"/></If><Prompt text="1"/>`, "", "m=m"},
		"bad name":             {&[2]bool{true, true}, true, `<Let as="n" value="xmd"/><Mcp name={n} command="m"/><Prompt text="1"/>`, "the server name xmd is reserved", ""},
		"bad headers":          {&[2]bool{true, true}, true, `<Let as="n" value={1}/><Mcp name="m" url="https://x.example" headers={{"A": n}}/><Prompt text="1"/>`, "headers: A must be a string, is a number", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := toolBench(t, "able")
			f := b.agents["fake"]
			f.takes, f.noLoad = c.takes, !c.load
			r := b.run(c.text)
			switch {
			case c.want == "" && r.err != nil, c.want != "" && (r.err == nil || !strings.Contains(r.err.Error(), c.want)):
				t.Errorf("%v, want %q", r.err, c.want)
			case equipped(f) != c.given:
				t.Errorf("given %s", equipped(f))
			}
		})
	}
}

// fakeRelay reaches servers that have one tool, "echo".
type fakeRelay struct {
	mu   sync.Mutex
	open map[string]int
}

func (r *fakeRelay) Reach(_ context.Context, s runtime.MCPServer, o runtime.StartOptions) (runtime.Reached, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.Root == "" {
		return nil, runtime.Errorf(runtime.KindFailed, "no root")
	}
	r.open[s.Name]++
	return &fakeReached{r, s.Name}, nil
}

type fakeReached struct {
	r    *fakeRelay
	name string
}

func (s *fakeReached) Tools() []runtime.Tool {
	return []runtime.Tool{{Name: "echo", Description: "of " + s.name}}
}

func (s *fakeReached) Call(_ context.Context, use runtime.ToolUse) runtime.ToolAnswer {
	return runtime.ToolAnswer{Text: fmt.Sprintf("%s %s %s", s.name, use.Name, use.Args), Failed: string(use.Args) == `{"bad":1}`}
}

func (s *fakeReached) Close(context.Context) error {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.open[s.name]--
	return nil
}

// TestRelayed: servers that an agent does not take are reached for it, and their tools pass the door while they hold.
func TestRelayed(t *testing.T) {
	b, door := toolBench(t)
	relay := &fakeRelay{open: map[string]int{}}
	opts := b.opts
	b.opts = func(o *runtime.Options) { opts(o); o.Relay = relay }
	b.agents["fake"].takes = &[2]bool{false, true}
	tells(b.agents["fake"], func(ctx context.Context, words string, _ runtime.Turn) string {
		p := door.last()
		return words + ":" + answer(p.call(ctx, "far_echo", `{"a":1}`)) + "," + answer(p.call(ctx, "far_echo", `{"bad":1}`)) + " "
	})
	r := b.run(`<Mcp name="far" url="https://x.example"/><Mcp name="near" command="near"/><Prompt text="1"/><Tool name="t">x</Tool><Prompt text="2"/>`)
	want := `1:far echo {"a":1},!far echo {"bad":1} 2:far echo {"a":1},!far echo {"bad":1} `
	if r.err != nil || r.out != want || equipped(b.agents["fake"]) != "xmd=xmd near=near" {
		t.Errorf("%v %s\ngot  %s\nwant %s", r.err, equipped(b.agents["fake"]), r.out, want)
	}
	if relay.open["far"] != 0 || len(door.last().Tools) != 3 || door.last().Tools[2].Name != "far_echo" {
		t.Errorf("%v, %+v", relay.open, door.last().Tools)
	}
	if r := b.run(`<Mcp name="far" url="https://x.example"/><Tool name="far_echo">x</Tool><Prompt text="1"/>`); r.err == nil || !strings.Contains(r.err.Error(), "agents would know as far_echo") {
		t.Errorf("%v", r.err)
	}
}
