package runtime

import (
	"net/url"
	"slices"
	"strings"

	"xmd/lang/expr"
	"xmd/lang/plan"
	"xmd/lang/resolve"
)

// offer is what one element offers the prompts behind it. up is what was offered before it, in the elements around too. Immutable: whoever
// holds one has all that held at that place.
type offer struct {
	up     *offer
	tool   *offeredTool // or
	server *MCPServer   // or
	told   string       // instructions
}

// offeredTool is a Tool with the place where it stands.
type offeredTool struct {
	n  *plan.Tool
	at place
}

// offers are what the elements of one body have offered so far. Used by the strand that renders the body.
type offers struct{ last *offer }

// inner are the offers of a body that stands where o holds.
func (o *offers) inner() *offers { return &offers{o.last} }

func (o *offers) add(one offer) {
	one.up = o.last
	o.last = &one
}

// toolNamed finds a tool; nil: none of that name is offered.
func (o *offer) toolNamed(name string) *offeredTool {
	for ; o != nil; o = o.up {
		if o.tool != nil && o.tool.n.Name == name {
			return o.tool
		}
	}
	return nil
}

// tools are the names of the tools that are offered, in document order.
func (o *offer) tools() []string {
	var names []string
	for ; o != nil; o = o.up {
		if o.tool != nil && !slices.Contains(names, o.tool.n.Name) {
			names = append(names, o.tool.n.Name)
		}
	}
	slices.Reverse(names)
	return names
}

// servers are the MCP servers that are offered, in document order; of one name the innermost.
func (o *offer) servers() []MCPServer {
	var list []MCPServer
	for ; o != nil; o = o.up {
		if o.server != nil && !slices.ContainsFunc(list, func(s MCPServer) bool { return s.Name == o.server.Name }) {
			list = append(list, *o.server)
		}
	}
	slices.Reverse(list)
	return list
}

// instructions joins all that agents are told there, in document order; "" for nothing.
func (o *offer) instructions() string {
	var texts []string
	for ; o != nil; o = o.up {
		if o.told != "" {
			texts = append(texts, o.told)
		}
	}
	slices.Reverse(texts)
	return strings.Join(texts, "\n\n")
}

// offerTool offers a Tool to the prompts behind it. What its body sees is what holds here.
func (r *Runner) offerTool(n *plan.Tool, at place) {
	inside := at
	inside.offers = at.offers.inner()
	at.offers.add(offer{tool: &offeredTool{n, inside}})
}

// offerServer offers an MCP server to the prompts behind it.
func (r *Runner) offerServer(n *plan.Mcp, at place) error {
	s := &MCPServer{}
	var err error
	if s.Name, err = at.text(n.Name, n.Step, "name"); err != nil {
		return err
	}
	if err := resolve.ServerName(s.Name); err != nil {
		return at.wrong(n.Name, n.Step, "%w", err)
	}
	if n.URL.Given {
		if s.URL, err = at.text(n.URL, n.Step, "url"); err != nil {
			return err
		}
		if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return at.wrong(n.URL, n.Step, "url must be an http or https address")
		}
		s.Headers, err = at.pairs(n.Headers, n.Step, "headers")
	} else {
		if s.Command, err = at.text(n.Command, n.Step, "command"); err != nil {
			return err
		}
		if s.Command == "" {
			return at.wrong(n.Command, n.Step, "command is empty")
		}
		if s.Args, err = at.texts(n.Args, n.Step, "args"); err != nil {
			return err
		}
		s.Env, err = at.pairs(n.Env, n.Step, "env")
	}
	if err == nil {
		at.offers.add(offer{server: s})
	}
	return err
}

// pairs evaluates an attribute that must be an object of strings, in the order of its names.
func (at place) pairs(a plan.Arg, s plan.Step, what string) ([]Pair, error) {
	if !a.Given {
		return nil, nil
	}
	v, err := at.value(a, s)
	if err != nil {
		return nil, err
	}
	given, ok := v.(map[string]any)
	if !ok {
		return nil, at.wrong(a, s, "%s must be an object of strings, is %s", what, expr.KindName(v))
	}
	var list []Pair
	for _, name := range expr.Keys(given) {
		text, ok := given[name].(string)
		if !ok {
			return nil, at.wrong(a, s, "%s: %s must be a string, is %s", what, name, expr.KindName(given[name]))
		}
		list = append(list, Pair{name, text})
	}
	return list, nil
}
