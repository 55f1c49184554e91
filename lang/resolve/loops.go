package resolve

import (
	"slices"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// loop is a Loop being resolved.
type loop struct{ breaks bool }

// round is the type of loop and each.
var round = object(map[string]*expr.Type{"index": expr.Of(expr.Number)})

// each resolves Each: its body has a scope of its own.
func (r *resolver) each(el *syntax.Element, e *Element, p place) (ends bool) {
	var item *expr.Type
	if list := r.argType(e.Arg("in")); list != nil {
		item = list.Elem
	}
	if v, ok := e.Arg("in").Const(); ok {
		if list, ok := v.([]any); ok && len(list) == 0 && hasNodes(el.Body) {
			r.unreachable(el, "in", "the array is always empty", el.Body[0])
		}
	}
	parallel := hasAttr(el, "parallel")
	if parallel {
		r.atOnce(el, "a parallel Each")
	}
	element := expr.Of(expr.String)
	r.inside(func(in *around) {
		in.lend("each", round)
		if parallel {
			in.loop, in.wall, in.at = nil, "a parallel Each", "a parallel Each"
		}
	}, func() {
		mark := r.scope.arm()
		if e.Let != "" {
			r.scope.bind(e.Let, item, attrSpan(el, "let"))
		}
		r.nodes(el.Body, p)
		if hasAttr(el, "collect") {
			element = r.deferred(e, el, "collect", p)
		}
		r.scope.leave(mark)
	})
	if hasAttr(el, "collect") && !hasAttr(el, "as") {
		r.diags.Add(CodeMissingAttribute, attrSpan(el, "collect"), "collect needs as", `write as="name": the array that is collected is bound to it`)
	}
	r.bind(el, e, &expr.Type{Kinds: expr.Array, Elem: element})
	return false
}

// loop resolves Loop: the body counts as run once, up to its first Break.
func (r *resolver) loop(el *syntax.Element, e *Element, p place) (ends bool) {
	left := r.scope.left
	r.scope.left = notLeft
	mark := r.scope.arm()
	r.again(el)
	l := &loop{}
	r.inside(func(in *around) {
		in.lend("loop", round)
		in.loop, in.wall = l, ""
	}, func() { ends = r.nodes(el.Body, p) })
	late := r.scope.late()
	bound := r.scope.leave(mark)
	r.scope.left = left
	for name, b := range bound {
		if c, ok := late[name]; ok { // the Break may come before it is bound again
			b.Type, b.Sometimes = expr.Union(b.Type, c.was.Type), c.was.Sometimes || !c.had
		}
		r.scope.set(name, b)
	}
	return ends && !l.breaks
}

// again prepares the scope for a body that runs more than once: a name that it binds may hold, where the body begins, what the
// round before bound to it.
func (r *resolver) again(el *syntax.Element) {
	for _, found := range r.bindings(el) {
		b, bound := r.scope.names[found.name]
		b.Type = nil
		if !bound {
			b = Bound{Sometimes: true, At: found.at}
		}
		r.scope.set(found.name, b)
	}
}

// binding is a name that the body of a Loop binds, at its first place.
type binding struct {
	name string
	at   diag.Span
}

// bindings finds the names that the body of a Loop binds in the scope it shares. Loops in it are asked once, however deep they are.
func (r *resolver) bindings(loop *syntax.Element) []binding {
	if list, ok := r.bound[loop]; ok {
		return list
	}
	var list []binding
	seen := map[string]bool{}
	add := func(name string, at diag.Span) {
		if !seen[name] && badName(name) == "" {
			seen[name] = true
			list = append(list, binding{name, at})
		}
	}
	syntax.Walk(loop.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Exec:
			for _, w := range n.Words {
				if w.Name == "as" {
					add(w.Value, w.Pos)
				}
			}
		case *syntax.Element:
			for _, a := range n.Attrs {
				if a.Name == "as" && a.Kind == syntax.AttrString {
					add(a.Value, a.Pos)
				}
			}
			if n.Name == "Loop" {
				for _, b := range r.bindings(n) {
					add(b.name, b.at)
				}
			}
			return n.Name != "Loop" && n.Name != "Each" && n.Name != "Tool" // the last two have scopes of their own
		}
		return true
	})
	if r.bound == nil {
		r.bound = map[*syntax.Element][]binding{}
	}
	r.bound[loop] = list
	return list
}

// breaks resolves Break.
func (r *resolver) breaks(el *syntax.Element) (ends bool) {
	switch {
	case r.in.loop != nil:
		r.in.loop.breaks = true
		if r.scope.left == notLeft {
			r.scope.left = len(r.scope.log)
		}
		return true
	case r.in.wall != "":
		r.diags.Add(CodeBreak, tagSpan(el), "Break cannot leave a Loop across "+r.in.wall, "put the Loop inside, or bind a value and break behind it")
	default:
		r.diags.Add(CodeBreak, tagSpan(el), "Break is in no Loop", "it leaves the nearest Loop of the same file")
	}
	return false
}

// atOnce checks what runs several at once.
func (r *resolver) atOnce(el *syntax.Element, what string) {
	r.note(&r.info.holds.parallel, tagSpan(el), what+" is here")
	if r.in.conversation {
		r.diags.Add(CodeConversation, tagSpan(el), what+" cannot stand in a Conversation: its turns take turns", "end the Conversation before it")
	}
}

// parallel resolves Parallel: no branch sees what another one binds, and all is bound behind it.
func (r *resolver) parallel(el *syntax.Element, p place) (ends bool) {
	r.atOnce(el, "Parallel")
	all := Names{}
	from, talks := len(r.conversations), map[string]diag.Span{}
	r.inside(func(in *around) { in.loop, in.wall, in.at = nil, "Parallel", "Parallel" }, func() {
		for n := range syntax.Children(el.Body) {
			if !isBranch(n) {
				r.node(n, p)
				continue
			}
			if el, ok := n.(*syntax.Element); ok && isOffer(el.Name) {
				r.diags.Add(CodeOfferPlace, tagSpan(el), el.Name+" cannot stand directly in Parallel: no prompt comes behind it in a branch", "put it before the Parallel, or inside of a branch")
			}
			mark := r.scope.arm()
			ends = r.node(n, p) || ends
			bound := r.scope.leave(mark)
			r.branchNames(n, bound, all)
			r.branchConversations(talks, from)
			from = len(r.conversations)
		}
	})
	for _, name := range sortedNames(all) {
		r.scope.set(name, all[name])
	}
	return ends
}

// isBranch tells whether a node directly inside of a Parallel is a branch.
func isBranch(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.Element, *syntax.Exec:
		return true
	}
	return false
}

func sortedNames(names Names) []string {
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// branchNames keeps what a branch binds, and reports names that another branch binds too.
func (r *resolver) branchNames(n syntax.Node, bound, all Names) {
	if r.info.Branches == nil {
		r.info.Branches = map[syntax.Node][]string{}
	}
	names := sortedNames(bound)
	r.info.Branches[n] = names
	for _, name := range names {
		b := bound[name]
		if other, twice := all[name]; twice {
			r.diags.Add(CodeTwoBranches, b.At, "two branches of Parallel bind "+name, "give each its own name; all are bound behind the Parallel",
				diag.Related{Summary: "the first one is here", Span: other.At})
			continue
		}
		all[name] = b
	}
}
