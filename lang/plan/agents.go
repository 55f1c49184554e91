package plan

import "xmd/lang/diag"

// AgentUse is an agent that a plan names, with the first place that does.
type AgentUse struct {
	Use
	Pos    Span
	Source *diag.Source // where Pos counts: the document, or a component file
}

// SessionUse is a session that a plan's prompts go to, or whose interface it opens.
type SessionUse struct {
	Agent, Session Use           // a Session without Value and Expr is an unnamed session
	Conversation   *Conversation // that the session is of; nil: of none
	Scope          string        // of an unnamed session: the identity of what it belongs to, as in Item; "": the run
	Prompts        int           // how many steps there are; each may be sent many times
	Launches       int           // how many Session.Launch there are
	Pos            Span          // of the first of them
	Source         *diag.Source
}

// Agents lists the agents that the plan and its component files name, each once, in the order of their first places. One without
// Value and Expr stands for the run's default, at the first prompt that takes it.
func (p *Plan) Agents() []AgentUse {
	var list []AgentUse
	seen := map[Use]bool{}
	p.walk(func(src *diag.Source, it Item) {
		pos, ok := agentPlace(it)
		if !ok || seen[it.Agent] {
			return
		}
		seen[it.Agent] = true
		list = append(list, AgentUse{it.Agent, pos, src})
	})
	return list
}

func agentPlace(it Item) (Span, bool) {
	switch n := it.Node.(type) {
	case *Prompt:
		if n.Agent.Given {
			return n.Agent.Pos, true
		}
		return n.Pos, true
	case *Launch:
		if n.Agent.Given {
			return n.Agent.Pos, true
		}
		return n.Pos, true
	case *Agent:
		return n.Name.Pos, true
	}
	return Span{}, false
}

// Sessions lists the sessions of a plan and its component files, each once, in the order of their first steps.
func (p *Plan) Sessions() []SessionUse {
	type key struct {
		agent, session Use
		talk           string
		scope          string
	}
	var list []SessionUse
	at := map[key]int{}
	p.walk(func(src *diag.Source, it Item) {
		_, launch := it.Node.(*Launch)
		if _, prompt := it.Node.(*Prompt); !prompt && !launch {
			return
		}
		k := key{it.Agent, it.Session, talkOf(it.Conversation), it.Scope}
		i, ok := at[k]
		if !ok {
			i = len(list)
			at[k] = i
			list = append(list, SessionUse{Agent: it.Agent, Session: it.Session, Conversation: it.Conversation, Scope: it.Scope, Pos: it.Pos, Source: src})
		}
		if launch {
			list[i].Launches++
		} else {
			list[i].Prompts++
		}
	})
	return list
}

// talkOf names a conversation; "" for none.
func talkOf(n *Conversation) string {
	if n == nil {
		return ""
	}
	return n.talk()
}

// visit is a component file under an agent and a session: how its prompts are listed.
type visit struct {
	doc            *Plan
	agent, session Use
	talk           *Conversation
	scope          string
}

// maxVisits bounds how many uses of component files are listed: files that use each other twice would have no end of them.
const maxVisits = 1000

// walk calls do for each step of the plan and, where a component is used, for the steps of its file. Under the same agent, session
// and scope a file is walked once. The Scope of the items is a whole identity, that of a step in a file included.
func (p *Plan) walk(do func(src *diag.Source, it Item)) {
	walkFile(visit{doc: p}, "", map[visit]bool{}, do)
}

func walkFile(v visit, prefix string, seen map[visit]bool, do func(*diag.Source, Item)) {
	w := &lister{}
	w.nodes(v.doc.Body, spot{agent: v.agent, session: v.session, talk: v.talk})
	for _, it := range w.items {
		switch {
		case it.Scope != "":
			it.Scope = prefix + it.Scope
		case it.Session == (Use{}) && it.Conversation == nil:
			it.Scope = v.scope
		}
		do(v.doc.Source, it)
		c, ok := it.Node.(*Component)
		if !ok {
			continue
		}
		inner := visit{c.Document, it.Agent, it.Session, it.Conversation, it.Scope}
		if !seen[inner] && len(seen) < maxVisits {
			seen[inner] = true
			walkFile(inner, prefix+it.ID+"/file/", seen, do)
		}
	}
}

// Documents lists the plan itself and the plans of all component files that it uses, each once, in the order of their first uses.
func (p *Plan) Documents() []*Plan {
	list := []*Plan{p}
	seen := map[*Plan]bool{p: true}
	for i := 0; i < len(list); i++ {
		for _, it := range list[i].Items() {
			if c, ok := it.Node.(*Component); ok && !seen[c.Document] {
				seen[c.Document] = true
				list = append(list, c.Document)
			}
		}
	}
	return list
}

// Sources lists the texts that the plan was made of: the document, its component files and the schema files of all of them.
func (p *Plan) Sources() []*diag.Source {
	var list []*diag.Source
	seen := map[*diag.Source]bool{}
	add := func(src *diag.Source) {
		if !seen[src] {
			seen[src] = true
			list = append(list, src)
		}
	}
	docs := p.Documents()
	for _, d := range docs {
		add(d.Source)
	}
	for _, d := range docs {
		for _, f := range d.Files {
			add(f)
		}
	}
	return list
}
