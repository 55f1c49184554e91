package resolve

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// later resolves the components that are refused as not built yet.
func (r *resolver) later(el *syntax.Element, e *Element, p place) (ends bool) {
	captured := place{captured: true}
	switch el.Name {
	case "Tool":
		r.tool(el, e)
		return false
	case "Mcp":
		r.mcp(el)
	case "Conversation":
		return r.conversation(el, e, p)
	default:
		return r.nodes(el.Body, captured)
	}
	return false
}

// tool resolves Tool: its body has a scope of its own and runs when an agent calls it.
func (r *resolver) tool(el *syntax.Element, e *Element) {
	if name := e.Arg("name"); name.Given && (name.Literal == "" || len(name.Literal) > MaxToolName || strings.Trim(name.Literal, toolLetters) != "") {
		r.diags.Add(CodeAttributeValue, name.Pos, "a tool's name is up to 64 letters, digits, _ and -", "")
	}
	args := e.Schema.typ()
	if args != nil && !args.Can(expr.Object) {
		r.diags.Add(CodeAttributeValue, attrSpan(el, "schema"), "the arguments of a tool are an object, its schema wants "+args.String(), "")
	}
	r.inside(func(in *around) {
		in.lend("args", args)
		in.lend("call", object(map[string]*expr.Type{"id": expr.Of(expr.String)}))
		in.loop, in.wall, in.at = nil, "a Tool", "Tool"
	}, func() {
		mark := r.scope.arm()
		r.nodes(el.Body, place{captured: true})
		r.scope.leave(mark)
	})
}

const toolLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// mcp checks that a server is reached by an address or by a command.
func (r *resolver) mcp(el *syntax.Element) {
	byURL, byCommand := hasAttr(el, "url"), hasAttr(el, "command")
	switch {
	case byURL && byCommand:
		r.diags.Add(CodeAttributeValue, attrSpan(el, "command"), "Mcp has both url and command", "leave one of them out")
	case !byURL && !byCommand:
		r.diags.Add(CodeMissingAttribute, tagSpan(el), "Mcp needs url or command", "write <Mcp name=… url=…/> or <Mcp name=… command=…/>")
	}
	for attr, want := range map[string]string{"headers": "url", "args": "command", "env": "command"} {
		if hasAttr(el, attr) && !hasAttr(el, want) && (byURL || byCommand) {
			r.diags.Add(CodeAttributeValue, attrSpan(el, attr), attr+" of Mcp goes with "+want, "")
		}
	}
}

// conversation is a Conversation of a known name.
type conversation struct {
	name string
	at   diag.Span
}

// conversation resolves Conversation, whose turns take turns in sessions of its own.
func (r *resolver) conversation(el *syntax.Element, e *Element, p place) (ends bool) {
	r.sessionName(e.Arg("name"))
	if r.in.conversation {
		r.diags.Add(CodeConversation, tagSpan(el), "Conversations do not nest", "end the outer one before it")
	}
	r.note(&r.info.holds.conversation, tagSpan(el), "a Conversation is here")
	if name, ok := constant(e.Arg("name")); ok {
		r.conversations = append(r.conversations, conversation{name, e.Arg("name").Pos})
	}
	r.inside(func(in *around) { in.conversation = true }, func() { ends = r.nodes(el.Body, p) })
	return ends
}

// branchConversations reports the Conversations of a branch, those from first on, that an earlier branch names too.
func (r *resolver) branchConversations(earlier map[string]diag.Span, first int) {
	for _, c := range r.conversations[first:] {
		if other, twice := earlier[c.name]; twice {
			r.diags.Add(CodeConversation, c.at, "two branches of Parallel name the Conversation "+c.name, "its turns take turns: put them into one branch",
				diag.Related{Summary: "the first one is here", Span: other})
		}
	}
	for _, c := range r.conversations[first:] {
		if _, twice := earlier[c.name]; !twice {
			earlier[c.name] = c.at
		}
	}
}
