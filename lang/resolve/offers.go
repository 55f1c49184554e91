package resolve

import (
	"maps"
	"slices"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// OwnServer is the name under which agents know the workflow's own tools. No Mcp can have it.
const OwnServer = "xmd"

// offer resolves Tool, Mcp and Instructions, which hold for the prompts behind them in the element around.
func (r *resolver) offer(el *syntax.Element, e *Element) (ends bool) {
	switch el.Name {
	case "Tool":
		r.tool(el, e)
	case "Mcp":
		r.mcp(el, e)
	default:
		return r.nodes(el.Body, place{captured: true})
	}
	return false
}

// isOffer tells whether an element holds for the prompts behind it.
func isOffer(name string) bool { return name == "Tool" || name == "Mcp" || name == "Instructions" }

// tool resolves Tool: its body has a scope of its own and runs when an agent calls it. Agents are told of a tool before the document comes
// to it, so all of that must be written out.
func (r *resolver) tool(el *syntax.Element, e *Element) {
	name := e.Arg("name")
	switch {
	case !name.Given:
	case name.Literal == "" || len(name.Literal) > MaxToolName || strings.Trim(name.Literal, toolLetters) != "":
		r.diags.Add(CodeAttributeValue, name.Pos, "a tool's name is up to 64 letters, digits, _ and -", "")
	case strings.HasPrefix(name.Literal, OwnServer+"_"):
		r.diags.Add(CodeOfferName, name.Pos, "a tool's name cannot begin with "+OwnServer+"_", "such tools are built in")
	default:
		r.offered(&r.info.tools, "tool", name.Literal, el, name.Pos)
	}
	for _, attr := range []string{"description", "timeout"} {
		if a := e.Arg(attr); a.Given {
			if _, known := a.Const(); !known {
				r.writtenOut(attr, a.Pos)
			}
		}
	}
	if e.Schema != nil && e.Schema.Schema == nil && e.Schema.Expr.Given {
		r.writtenOut("schema", e.Schema.Expr.Pos)
	}
	args := e.Schema.typ()
	switch {
	case args != nil && !args.Can(expr.Object):
		r.diags.Add(CodeAttributeValue, attrSpan(el, "schema"), "the arguments of a tool are an object, its schema wants "+args.String(), "")
		args = nil
	case !hasAttr(el, "schema"):
		args = object(map[string]*expr.Type{})
	}
	r.inside(func(in *around) {
		in.lend("args", args)
		in.lend("call", object(map[string]*expr.Type{"id": expr.Of(expr.String)}))
		in.loop, in.wall, in.at, in.conversation = nil, "a Tool", "Tool", false
	}, func() {
		mark := r.scope.arm()
		r.nodes(el.Body, place{captured: true})
		r.scope.leave(mark)
	})
}

const toolLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func (r *resolver) writtenOut(attr string, at diag.Span) {
	r.diags.Add(CodeAttributeValue, at, attr+" of Tool must be written out", "agents are told of a tool when their session begins")
}

// mcp checks that a server is reached by an address or by a command.
func (r *resolver) mcp(el *syntax.Element, e *Element) {
	byURL, byCommand := hasAttr(el, "url"), hasAttr(el, "command")
	switch {
	case byURL && byCommand:
		r.diags.Add(CodeAttributeValue, attrSpan(el, "command"), "Mcp has both url and command", "leave one of them out")
	case !byURL && !byCommand:
		r.diags.Add(CodeMissingAttribute, tagSpan(el), "Mcp needs url or command", "write <Mcp name=… url=…/> or <Mcp name=… command=…/>")
	}
	for _, pair := range [][2]string{{"headers", "url"}, {"args", "command"}, {"env", "command"}} {
		if attr, want := pair[0], pair[1]; hasAttr(el, attr) && !hasAttr(el, want) && (byURL || byCommand) {
			r.diags.Add(CodeAttributeValue, attrSpan(el, attr), attr+" of Mcp goes with "+want, "")
		}
	}
	r.address(e.Arg("url"))
	name, known := constant(e.Arg("name"))
	if !known {
		return
	}
	if err := ServerName(name); err != nil {
		r.diags.Add(CodeOfferName, e.Arg("name").Pos, err.Error(), "")
		return
	}
	r.offered(&r.info.servers, "MCP server", name, el, e.Arg("name").Pos)
}

// offer is one tool or server of a known name.
type offer struct {
	source *diag.Source
	at     diag.Span // of the name
	text   string    // the whole element, without what is only white space
}

// offered keeps a tool or server, and reports another one that has its name: agents know it by the name alone.
func (r *resolver) offered(all *map[string]offer, what, name string, el *syntax.Element, at diag.Span) {
	mine := offer{source: r.source, at: at, text: strings.Join(strings.Fields(r.src[el.Pos.Start:el.Pos.End]), " ")}
	other, twice := (*all)[name]
	if twice && other.text != mine.text {
		r.diags.Add(CodeOfferName, at, "there is another "+what+" "+name, "one name is one "+what+" for the whole run: give each its own",
			diag.Related{Summary: "it is here", Span: other.at, Source: other.source})
	}
	if *all == nil {
		*all = map[string]offer{}
	}
	if !twice {
		(*all)[name] = mine
	}
}

// useOffers takes over the tools and servers of a component file, and reports those that have a name of another one.
func (r *resolver) useOffers(el *syntax.Element, unit *Unit) {
	for _, pair := range []struct {
		what string
		mine *map[string]offer
		from map[string]offer
	}{{"tool", &r.info.tools, unit.Info.tools}, {"MCP server", &r.info.servers, unit.Info.servers}} {
		for _, name := range slices.Sorted(maps.Keys(pair.from)) {
			theirs := pair.from[name]
			other, twice := (*pair.mine)[name]
			switch {
			case twice && other.text != theirs.text:
				r.diags.Add(CodeOfferName, tagSpan(el), el.Name+" has another "+pair.what+" "+name, "one name is one "+pair.what+" for the whole run: give each its own",
					diag.Related{Summary: "that of " + el.Name + " is here", Span: theirs.at, Source: theirs.source},
					diag.Related{Summary: "the other one is here", Span: other.at, Source: other.source})
			case !twice:
				if *pair.mine == nil {
					*pair.mine = map[string]offer{}
				}
				(*pair.mine)[name] = theirs
			}
		}
	}
}

// idleOffers warns of a Tool, Mcp or Instructions behind which no prompt can come in the body that it stands in.
func (r *resolver) idleOffers(body []syntax.Node) {
	last := -1 // where the last element with a prompt begins
	var offers []*syntax.Element
	for n := range syntax.Children(body) {
		el, ok := n.(*syntax.Element)
		if ok && isOffer(el.Name) {
			offers = append(offers, el)
		}
		if ok && len(offers) > 0 && mayPrompt(el) {
			last = el.Pos.Start
		}
	}
	for _, el := range offers {
		if el.Pos.Start >= last {
			r.warn(CodeIdle, tagSpan(el), el.Name+" does nothing here", "it holds for the prompts behind it in the element around, and none comes")
		}
	}
}

// mayPrompt tells whether an element is a prompt or may hold one.
func mayPrompt(el *syntax.Element) (found bool) {
	syntax.Walk([]syntax.Node{el}, func(n syntax.Node) bool {
		if el, ok := n.(*syntax.Element); ok && !found {
			_, builtin := syntax.Builtins[el.Name]
			found = el.Name == "Prompt" || el.Name == "Content" || !builtin
		}
		return !found
	})
	return found
}
