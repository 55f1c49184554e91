package plan

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/schema"
)

// OwnServer is the name under which agents know the workflow's own tools. No Mcp has it.
const OwnServer = "xmd"

// Tool is a tool of the workflow for the prompts behind it in the element around. Its body runs when an agent calls it, with names of its
// own, and what it renders is the result.
type Tool struct {
	Step
	Name        string
	Description string
	Schema      *schema.Schema // of the arguments, which are an object; nil: there are none
	SchemaPath  string         // of the file that Schema was read from, as it was written; "": it stands in the document
	TimeoutMS   int64          // of one call; 0: none
	Body        []Node         // captured
}

// Mcp is a further MCP server for the prompts behind it in the element around, reached by URL or started as Command.
type Mcp struct {
	Step
	Name         Arg
	URL, Headers Arg // Headers: an object of strings
	Command      Arg
	Args, Env    Arg // an array of strings, an object of strings
}

// Instructions are what agents are told of the workflow, for the prompts behind them in the element around.
type Instructions struct {
	Step
	Body []Node // captured
}

// Conversation is an element in which agents take turns in one conversation.
type Conversation struct {
	Step
	Name   Arg    // not given: it belongs to the run
	OnLost string // what happens when an agent's session is lost: "fail" or "restart"
	Body   []Node
}

func (*Tool) planNode()         {}
func (*Mcp) planNode()          {}
func (*Instructions) planNode() {}
func (*Conversation) planNode() {}

// ToolUse is a tool that a plan offers, with its first place.
type ToolUse struct {
	*Tool
	Source *diag.Source // where its Pos counts: the document, or a component file
}

// ServerUse is an MCP server that a plan names, with its place.
type ServerUse struct {
	*Mcp
	Source *diag.Source
}

// InstructionsUse is a place where a plan tells agents something.
type InstructionsUse struct {
	*Instructions
	Source *diag.Source
}

// Tools lists the tools of the plan and its component files, each name once, in the order of their first places: what the agents of a run
// are shown. Two tools of one name are the same tool, written twice.
func (p *Plan) Tools() []ToolUse {
	var list []ToolUse
	seen := map[string]bool{}
	p.each(func(src *diag.Source, n Node) {
		if t, ok := n.(*Tool); ok && !seen[t.Name] {
			seen[t.Name] = true
			list = append(list, ToolUse{t, src})
		}
	})
	return list
}

// Servers lists the MCP servers of the plan and its component files, in the order of their places; those of one name that is known before
// the run once.
func (p *Plan) Servers() []ServerUse {
	var list []ServerUse
	seen := map[string]bool{}
	p.each(func(src *diag.Source, n Node) {
		m, ok := n.(*Mcp)
		if !ok {
			return
		}
		name := useOf(m.Name).Value
		if name == "" || !seen[name] {
			seen[name] = true
			list = append(list, ServerUse{m, src})
		}
	})
	return list
}

// Instructions lists the places of the plan and its component files where agents are told something.
func (p *Plan) Instructions() []InstructionsUse {
	var list []InstructionsUse
	p.each(func(src *diag.Source, n Node) {
		if i, ok := n.(*Instructions); ok {
			list = append(list, InstructionsUse{i, src})
		}
	})
	return list
}

// each calls do for the steps of the plan, and for those of each of its component files once.
func (p *Plan) each(do func(src *diag.Source, n Node)) {
	for _, doc := range p.Documents() {
		for _, it := range doc.Items() {
			do(doc.Source, it.Node)
		}
	}
}

// talk says whose conversation it is: "task", "{expression}", or the identity of a Conversation without a name.
func (n *Conversation) talk() string {
	if s := useOf(n.Name).String(); s != "" {
		return s
	}
	return n.ID
}

// offerText says what a step of this file does.
func offerText(n Node, add func(string, ...any)) {
	switch n := n.(type) {
	case *Tool:
		add("offers %s", n.Name)
		if n.Description != "" {
			add("%s", short(strings.Join(strings.Fields(n.Description), " ")))
		}
		add1(add, "schema %s", schemaText(n.schemaArg()))
	case *Mcp:
		add("offers the server %s", given(n.Name))
		add1(add, "at %s", given(n.URL))
		add1(add, "headers %s", given(n.Headers))
		add1(add, "by %s", given(n.Command))
		add1(add, "args %s", given(n.Args))
		add1(add, "env %s", given(n.Env))
	case *Instructions:
		add("tells agents its body")
	case *Conversation:
		add("%s", n.talk())
		add("when a session is lost: %s", n.OnLost)
	}
}

func (n *Tool) schemaArg() SchemaArg {
	return SchemaArg{Given: n.Schema != nil, Schema: n.Schema, Path: n.SchemaPath}
}

// offers writes the tools and servers that agents are offered, with their places.
func (t *printer) offers() {
	if list := t.p.Tools(); len(list) > 0 {
		t.line("tools")
		for _, u := range list {
			text := u.Name
			if u.Description != "" {
				text += ": " + short(strings.Join(strings.Fields(u.Description), " "))
			}
			t.line("  %s, at %s", text, t.placeIn(u.Source, u.Pos))
		}
	}
	if list := t.p.Servers(); len(list) > 0 {
		t.line("servers")
		for _, u := range list {
			t.line("  %s, at %s", given(u.Name), t.placeIn(u.Source, u.Pos))
		}
	}
}
