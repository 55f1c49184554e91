package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"xmd/lang/expr"
	"xmd/lang/plan"
)

// outfit is what an attachment is given: all tools of the run, and the servers of the prompt that it is made for.
type outfit struct {
	tools   []Tool
	servers []MCPServer
	needed  bool // something of it is in scope of the prompt
}

// key tells one outfit from another.
func (o outfit) key() [sha256.Size]byte {
	raw, _ := json.Marshal(struct { // plain data: it has always a form
		Tools   []Tool
		Servers []MCPServer
	}{o.tools, o.servers})
	return sha256.Sum256(raw)
}

// covers says whether all of the other one is in o.
func (o outfit) covers(other outfit) bool {
	same := func(a, b any) bool {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return string(x) == string(y)
	}
	return same(o.tools, other.tools) && !slices.ContainsFunc(other.servers, func(s MCPServer) bool {
		return !slices.ContainsFunc(o.servers, func(have MCPServer) bool { return same(have, s) })
	})
}

// Offer makes the tools of a plan those that agents are shown from now on: what is attached before Execute is given them too. Between
// documents only.
func (r *Runner) Offer(p *plan.Plan) {
	r.tools = nil
	for _, u := range p.Tools() {
		r.tools = append(r.tools, Tool{Name: u.Name, Description: u.Description, Schema: argsSchema(u.Tool), Timeout: time.Duration(u.TimeoutMS) * time.Millisecond})
	}
}

// argsSchema is the schema of a tool's arguments, which says that they are an object.
func argsSchema(n *plan.Tool) json.RawMessage {
	if n.Schema == nil {
		return nil
	}
	m, ok := n.Schema.Value().(map[string]any)
	if !ok { // true: whatever it is
		m = map[string]any{}
	}
	if m["type"] != "object" {
		with := map[string]any{"type": "object"}
		for k, v := range m {
			if k != "type" {
				with[k] = v
			}
		}
		m = with
	}
	return json.RawMessage(expr.JSON(m))
}

// questionOffer is the built-in tool that asks the person.
var questionOffer = Tool{
	Name: QuestionTool,
	Description: "Asks the person for whom this workflow runs, and returns the answer. Where nobody is present it says so at once. " +
		"Ask only what you cannot find out by yourself.",
	Schema: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","minLength":1},"choices":{"type":"array","items":{"type":"string"}}},` +
		`"required":["question"],"additionalProperties":false}`),
}

// outfit is what a prompt there needs of an attachment.
func (r *Runner) outfit(at place) outfit {
	o := outfit{tools: r.tools, servers: at.offers.last.servers()}
	o.needed = len(at.offers.last.tools()) > 0 || len(o.servers) > 0
	return o
}

// wear makes sure that the attachment of s, if it has one, is one that was given what it is to have now. Agents are given it when a
// conversation is opened, so another one is loaded anew.
func (r *Runner) wear(ctx context.Context, s *session, want outfit) error {
	s.want = want
	if !s.alive() || s.has.key() == want.key() && (s.equipped || !want.needed) {
		return nil
	}
	if l, ok := s.conn.(Loader); ok && !l.CanLoad() {
		if s.equipped && s.has.covers(want) {
			return nil
		}
		return Errorf(KindUnsupported, "%s cannot be given further tools or MCP servers in the middle of a conversation that it cannot load; let them stand before its first prompt", s.info.Shown)
	}
	if !s.equipped && !want.needed { // it takes none, and needs none
		return nil
	}
	if err := s.conn.Close(ctx); err != nil {
		return Errorf(KindUnavailable, "closing %s: %w", s.info.Shown, err)
	}
	s.conn = nil
	return nil
}

// equip gives an agent that was started what its conversation is to have.
func (r *Runner) equip(ctx context.Context, s *session) error {
	if err := s.undress(ctx); err != nil {
		return err
	}
	s.has = s.want
	want := s.want
	byDoor := s.byDoor()
	if len(want.tools) == 0 && len(want.servers) == 0 && !byDoor && s.inChannel() == "" {
		s.equipped = true
		return nil
	}
	e, ok := s.conn.(Equipper)
	if !ok {
		return want.missing(s, "takes no tools and no MCP servers")
	}
	byAddress, byCommand := e.Takes()
	eq := Equipment{Instructions: s.inChannel()}
	if eq.Tools = s.direct(); eq.Tools != nil {
		eq.Call = func(ctx context.Context, use ToolUse) ToolAnswer { return r.answerCall(ctx, s, use) }
	}
	var rest []MCPServer
	for _, server := range want.servers {
		if server.URL != "" && byAddress || server.Command != "" && byCommand {
			eq.Servers = append(eq.Servers, server)
		} else {
			rest = append(rest, server)
		}
	}
	if byDoor = byDoor && r.o.Door != nil && (byAddress || byCommand); byDoor || eq.Tools == nil && len(want.tools) > 0 || len(rest) > 0 {
		if !byAddress && !byCommand {
			return want.missing(s, "takes no MCP servers, by which it is offered the tools of a workflow")
		}
		if err := r.reach(ctx, s, rest); err != nil {
			return err
		}
		door, err := r.admit(s, byAddress)
		if err != nil {
			return err
		}
		eq.Servers = append([]MCPServer{door}, eq.Servers...)
		eq.Listed = s.pass.Listed()
	}
	s.equipped = true
	return e.Equip(eq)
}

// missing is the error of an agent that cannot be given what a prompt needs; nil where the prompt needs nothing of it.
func (o outfit) missing(s *session, why string) error {
	if !o.needed {
		return nil
	}
	return Errorf(KindUnsupported, "%s %s; leave Tool and Mcp out where it is prompted, or prompt another agent", s.info.Shown, why)
}

// admit opens the door to an attachment.
func (r *Runner) admit(s *session, byAddress bool) (MCPServer, error) {
	if r.o.Door == nil {
		return MCPServer{}, Errorf(KindUnsupported, "the tools of a workflow cannot be offered here")
	}
	var tools []Tool
	if s.direct() == nil {
		tools = append(slices.Clone(s.want.tools), questionOffer)
	}
	for _, rel := range s.relays {
		for _, t := range rel.tools() {
			if slices.ContainsFunc(tools, func(o Tool) bool { return o.Name == t.Name }) {
				return MCPServer{}, Errorf(KindFailed, "the MCP server %s has a tool that agents would know as %s, which is the name of another tool", rel.name, t.Name)
			}
			tools = append(tools, t)
		}
	}
	said := Admission{Tools: tools, Call: func(ctx context.Context, use ToolUse) ToolAnswer { return r.answerCall(ctx, s, use) }}
	if s.byDoor() {
		said.Instructions = s.instructions
	}
	pass, err := r.o.Door.Admit(said)
	if err != nil {
		return MCPServer{}, err
	}
	s.pass = pass
	for _, h := range pass.Server().Headers {
		r.o.Secrets.Hide(strings.TrimPrefix(h.Value, "Bearer "))
	}
	if byAddress {
		return pass.Server(), nil
	}
	return pass.Shim(), nil
}

// undress takes back what an attachment that is gone was given.
func (s *session) undress(ctx context.Context) error {
	if s.pass != nil {
		s.pass.Revoke()
		s.pass = nil
	}
	err := s.relays.close(ctx)
	s.relays, s.equipped = nil, false
	return err
}

// sayUnheard says once that an agent has never asked for the tools that it was offered.
func (t *turn) sayUnheard() {
	if t.s.pass == nil || t.s.unheard || len(t.from.offers.last.tools()) == 0 {
		return
	}
	select {
	case <-t.s.pass.Listed():
		return
	default:
	}
	t.s.unheard = true
	t.r.warn("door", t.s.info.Shown+" was offered the tools of the workflow ("+strings.Join(t.from.offers.last.tools(), ", ")+
		") and never asked for them: its answer came without.", t.at)
}
