package plan

import (
	"cmp"
	"slices"

	"xmd/lang/expr"
)

// Use is a value that a plan may need to know before it runs: a name that is written out, an expression, or nothing, which
// leaves it to the run.
type Use struct {
	Value string // the name; "" if it is not known before
	Expr  string // the expression's source; "" if there is none
}

// useOf tells what an argument says beforehand. An expression without names is computed.
func useOf(a Arg) Use {
	switch {
	case !a.Given:
		return Use{}
	case a.Expr == nil:
		return Use{Value: a.Literal}
	}
	if v, ok := a.Expr.Const(); ok {
		if s, ok := v.(string); ok {
			return Use{Value: s}
		}
	}
	return Use{Expr: a.Expr.Source}
}

// String shows a use: the name, {expression}, or "" for what the run decides.
func (u Use) String() string {
	if u.Expr != "" {
		return "{" + u.Expr + "}"
	}
	return u.Value
}

// Item is one step of a plan as it is shown.
type Item struct {
	Step
	Node    Node
	Depth   int    // steps around it
	Agent   Use    // of a Prompt or Launch: its own, or that of the innermost Agent; of an Agent: its name; of a Component: that around it
	Session Use    // of a Prompt or Launch: its own, or that of the innermost Session; of a Session: its name; of a Component: that around it
	Scope   string // whose unnamed session a Prompt or Launch without a session name continues: the identity of a branch, a parallel Each, a Tool or a Session without name; "": that of the run
	Throws  bool

	Conversation *Conversation // that a Prompt is a turn of, or around a Component; nil: none
}

// Items lists the steps of the document in their order, those inside others behind them. A Component is one step; its children
// are listed, the steps of its file are in its Document.
func (p *Plan) Items() []Item {
	w := &lister{}
	w.nodes(p.Body, spot{})
	return w.items
}

// spot is where the lister is.
type spot struct {
	depth          int
	agent, session Use
	talk           *Conversation
	scope          string
}

func (s spot) deeper() spot {
	s.depth++
	return s
}

type lister struct{ items []Item }

func (w *lister) nodes(list []Node, at spot) {
	for _, n := range list {
		w.node(n, at)
	}
}

func (w *lister) add(n Node, s Step, at spot, throws bool) {
	w.items = append(w.items, Item{Step: s, Node: n, Depth: at.depth, Throws: throws})
}

func (w *lister) node(n Node, at spot) {
	switch n := n.(type) {
	case *Line:
		w.nodes(n.Body, at)
	case *Prompt:
		w.turns(n, n.Step, n.Agent, n.Session, at, n.Throws)
		w.nodes(n.Body, at.deeper())
	case *Launch:
		w.turns(n, n.Step, n.Agent, n.Session, at, true)
		w.nodes(n.Body, at.deeper())
	case *Agent:
		w.items = append(w.items, Item{Step: n.Step, Node: n, Depth: at.depth, Agent: useOf(n.Name)})
		at.agent = useOf(n.Name)
		w.nodes(n.Body, at.deeper())
	case *Session:
		at.session = useOf(n.Name)
		if !n.Name.Given {
			at.scope = n.ID
		}
		w.items = append(w.items, Item{Step: n.Step, Node: n, Depth: at.depth, Session: at.session, Scope: scopeOf(at)})
		w.nodes(n.Body, at.deeper())
	case *Component:
		w.items = append(w.items, Item{Step: n.Step, Node: n, Depth: at.depth, Agent: at.agent, Session: at.session, Scope: scopeOf(at), Throws: n.Throws, Conversation: at.talk})
		w.children(n, at.deeper())
	case *Conversation:
		w.add(n, n.Step, at, false)
		at.talk, at.session, at.scope = n, Use{}, ""
		w.nodes(n.Body, at.deeper())
	case *Tool:
		w.add(n, n.Step, at, false)
		at.talk, at.session, at.scope = nil, Use{}, n.ID // each call is a scope
		w.nodes(n.Body, at.deeper())
	case *Parallel:
		w.add(n, n.Step, at, false)
		w.branches(n, at.deeper())
	case *Each:
		w.add(n, n.Step, at, false)
		if n.Parallel.Given {
			at.scope = n.ID
		}
		w.nodes(n.Body, at.deeper())
	default:
		w.plain(n, at)
	}
}

// turns lists a step that goes to a session.
func (w *lister) turns(n Node, s Step, agent, session Arg, at spot, throws bool) {
	it := Item{Step: s, Node: n, Depth: at.depth, Agent: at.agent, Session: at.session, Throws: throws, Conversation: at.talk}
	if agent.Given {
		it.Agent = useOf(agent)
	}
	if session.Given {
		it.Session = useOf(session)
	}
	if it.Session == (Use{}) {
		it.Scope = at.scope
	}
	w.items = append(w.items, it)
}

// children lists what stands in a component in the order of the document, whichever slot it goes to.
func (w *lister) children(n *Component, at spot) {
	first := len(w.items)
	w.nodes(n.Children, at)
	for _, slot := range sortedKeys(n.Slots) {
		w.nodes(n.Slots[slot], at)
	}
	slices.SortStableFunc(w.items[first:], func(a, b Item) int { return cmp.Compare(a.Pos.Start, b.Pos.Start) })
}

func scopeOf(at spot) string {
	if at.session != (Use{}) {
		return ""
	}
	return at.scope
}

func (w *lister) branches(n *Parallel, at spot) {
	for i, b := range n.Branches {
		branch := at
		branch.scope = n.ID + "/branch" + number(i+1)
		w.node(b.Node, branch)
	}
}

// plain lists the steps that change neither agent nor session.
func (w *lister) plain(n Node, at spot) {
	switch n := n.(type) {
	case *Exec:
		w.add(n, n.Step, at, n.As == "" || n.ThrowOnError)
	case *If:
		w.add(n, n.Step, at, false)
		w.nodes(n.Then, at.deeper())
		w.nodes(n.Else, at.deeper())
	case *Try:
		w.add(n, n.Step, at, false)
		w.nodes(n.Body, at.deeper())
		w.nodes(n.Catch, at.deeper())
	default:
		if s, ok := stepOf(n); ok {
			w.add(n, s, at, throws(n))
			w.nodes(bodyOf(n), at.deeper())
		}
	}
}

// throws tells whether the failure of a step ends the run at once because of what it is.
func throws(n Node) bool {
	switch n := n.(type) {
	case *Fail, *File, *Glob, *Fetch, *Assertion:
		return true
	case *Run:
		return n.As == ""
	case *Parse:
		return !n.Safe
	}
	return false
}

// stepOf is the step that a node is; false for what only renders.
func stepOf(n Node) (Step, bool) {
	switch n := n.(type) {
	case *Let:
		return n.Step, true
	case *Loop:
		return n.Step, true
	case *Break:
		return n.Step, true
	case *Fail:
		return n.Step, true
	case *Output:
		return n.Step, true
	case *Return:
		return n.Step, true
	case *Policy:
		return n.Step, true
	case *Content:
		return n.Step, true
	case *Mcp:
		return n.Step, true
	case *Instructions:
		return n.Step, true
	case *File:
		return n.Step, true
	case *Glob:
		return n.Step, true
	case *TempDir:
		return n.Step, true
	case *Json:
		return n.Step, true
	case *Parse:
		return n.Step, true
	case *Fetch:
		return n.Step, true
	case *Elicit:
		return n.Step, true
	case *Test:
		return n.Step, true
	case *TestAgent:
		return n.Step, true
	case *Run:
		return n.Step, true
	case *Assertion:
		return n.Step, true
	}
	return Step{}, false
}

// bodyOf is the body of a step that has one body.
func bodyOf(n Node) []Node {
	switch n := n.(type) {
	case *Let:
		return n.Body
	case *Loop:
		return n.Body
	case *Output:
		return n.Body
	case *Policy:
		return n.Body
	case *Content:
		return n.Fallback
	case *Instructions:
		return n.Body
	case *File:
		return n.Body
	case *TempDir:
		return n.Body
	case *Parse:
		return n.Body
	case *Elicit:
		return n.Body
	case *Test:
		return n.Body
	case *TestAgent:
		return n.Body
	case *Assertion:
		return n.Body
	}
	return nil
}

// argText shows an argument: "text", or {expression}.
func argText(a Arg) string {
	if a.Expr != nil {
		return "{" + a.Expr.Source + "}"
	}
	return expr.JSON(a.Literal)
}
