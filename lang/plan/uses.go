package plan

import "xmd/lang/expr"

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
	Depth   int // steps around it
	Agent   Use // of a Prompt: its own, or that of the innermost Agent; of an Agent: its name
	Session Use // of a Prompt: its own, or that of the innermost Session; of a Session: its name
	Throws  bool
}

// Items lists the steps in document order, those inside others behind them.
func (p *Plan) Items() []Item {
	w := &lister{}
	w.nodes(p.Body, 0, Use{}, Use{})
	return w.items
}

type lister struct{ items []Item }

func (w *lister) nodes(list []Node, depth int, agent, session Use) {
	for _, n := range list {
		w.node(n, depth, agent, session)
	}
}

func (w *lister) add(it Item) { w.items = append(w.items, it) }

func (w *lister) node(n Node, depth int, agent, session Use) {
	switch n := n.(type) {
	case *Line:
		w.nodes(n.Body, depth, agent, session)
	case *Prompt:
		it := Item{Step: n.Step, Node: n, Depth: depth, Agent: agent, Session: session, Throws: n.Throws}
		if n.Agent.Given {
			it.Agent = useOf(n.Agent)
		}
		if n.Session.Given {
			it.Session = useOf(n.Session)
		}
		w.add(it)
		w.nodes(n.Body, depth+1, agent, session)
	case *Agent:
		w.add(Item{Step: n.Step, Node: n, Depth: depth, Agent: useOf(n.Name)})
		w.nodes(n.Body, depth+1, useOf(n.Name), session)
	case *Session:
		w.add(Item{Step: n.Step, Node: n, Depth: depth, Session: useOf(n.Name)})
		w.nodes(n.Body, depth+1, agent, useOf(n.Name))
	case *Let:
		w.add(Item{Step: n.Step, Node: n, Depth: depth})
		w.nodes(n.Body, depth+1, agent, session)
	case *If:
		w.add(Item{Step: n.Step, Node: n, Depth: depth})
		w.nodes(n.Then, depth+1, agent, session)
		w.nodes(n.Else, depth+1, agent, session)
	case *Exec:
		w.add(Item{Step: n.Step, Node: n, Depth: depth, Throws: n.As == "" || n.ThrowOnError})
	}
}

// AgentUse is an agent that a plan names, with the first place that does.
type AgentUse struct {
	Use
	Pos Span
}

// Agents lists the agents that the plan names, each once, in the order of their first places. One without Value and Expr
// stands for the run's default, at the first prompt that takes it.
func (p *Plan) Agents() []AgentUse {
	var list []AgentUse
	seen := map[Use]bool{}
	for _, it := range p.Items() {
		pos, ok := agentPlace(it)
		if !ok || seen[it.Agent] {
			continue
		}
		seen[it.Agent] = true
		list = append(list, AgentUse{it.Agent, pos})
	}
	return list
}

func agentPlace(it Item) (Span, bool) {
	switch n := it.Node.(type) {
	case *Prompt:
		if n.Agent.Given {
			return n.Agent.Pos, true
		}
		return n.Pos, true
	case *Agent:
		return n.Name.Pos, true
	}
	return Span{}, false
}

// SessionUse is a session that a plan's prompts go to.
type SessionUse struct {
	Agent, Session Use // a Session without Value and Expr is the run's unnamed session
	Prompts        int
	Pos            Span // of the first prompt
}

// Sessions lists the sessions of a plan, each once, in the order of their first prompts.
func (p *Plan) Sessions() []SessionUse {
	var list []SessionUse
	at := map[[2]Use]int{}
	for _, it := range p.Items() {
		if _, ok := it.Node.(*Prompt); !ok {
			continue
		}
		key := [2]Use{it.Agent, it.Session}
		i, ok := at[key]
		if !ok {
			i = len(list)
			at[key] = i
			list = append(list, SessionUse{Agent: it.Agent, Session: it.Session, Pos: it.Pos})
		}
		list[i].Prompts++
	}
	return list
}

// argText shows an argument: "text", or {expression}.
func argText(a Arg) string {
	if a.Expr != nil {
		return "{" + a.Expr.Source + "}"
	}
	return expr.JSON(a.Literal)
}
