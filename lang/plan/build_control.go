package plan

import (
	"xmd/lang/resolve"
	"xmd/lang/syntax"
)

// policies are the permission policies of the components that set one.
var policies = map[string]string{"ApproveAll": "allow-all", "ApproveReads": "approve-reads", "AskPermission": "ask", "DenyAll": "deny-all", "Permissions": ""}

// control builds what decides whether, how often and under which rules its body runs; nil: the element is something else.
func (b *builder) control(el *syntax.Element, e *resolve.Element, step Step, l *level) Node {
	switch el.Name {
	case "If":
		n := &If{Step: step, Cond: e.Arg("condition")}
		n.Then, n.Else, _ = b.arms(el, "Else", step, l.throws, l.throws)
		return n
	case "Try":
		return b.try(el, step, l)
	case "Each":
		return &Each{Step: step, In: e.Arg("in"), Let: e.Let, As: e.As, Collect: e.Arg("collect"), Parallel: e.Arg("parallel"),
			Body: b.body(el, step, l.throws || e.As != "")}
	case "Loop":
		return &Loop{Step: step, Max: e.Arg("max"), Body: b.body(el, step, l.throws)}
	case "Break":
		return &Break{Step: step}
	case "Parallel":
		return b.parallel(el, e, step, l)
	case "Fail":
		return &Fail{Step: step, Message: e.Arg("message")}
	case "Output":
		return &Output{Step: step, Body: b.body(el, step, l.throws)}
	case "Return":
		return &Return{Step: step, Value: e.Arg("value")}
	case "TempDir":
		return &TempDir{Step: step, As: e.As, Body: b.body(el, step, l.throws)}
	case "Content":
		return &Content{Step: step, Slot: e.Slot, Throws: l.throws, Fallback: b.body(el, step, l.throws)}
	}
	if policy, ok := policies[el.Name]; ok {
		return &Policy{Step: step, Policy: policy, Deny: e.Arg("deny"), Allow: e.Arg("allow"), Body: b.body(el, step, l.throws)}
	}
	return nil
}

// arms builds the two bodies of an element; the second one is that of the element other in it, which is nil if there is none.
func (b *builder) arms(el *syntax.Element, other string, step Step, firstThrows, otherThrows bool) (first, second []Node, arm *syntax.Element) {
	var body []syntax.Node
	for _, child := range el.Body {
		if c, ok := child.(*syntax.Element); ok && c.Name == other {
			arm = c
			part := "else"
			if other == "Catch" {
				part = "catch"
			}
			second, _ = b.nodes(c.Body, inside(step, part, otherThrows))
			continue
		}
		body = append(body, child)
	}
	first, _ = b.nodes(body, inside(step, "body", firstThrows))
	return first, second, arm
}

func (b *builder) try(el *syntax.Element, step Step, l *level) *Try {
	n := &Try{Step: step}
	var catch *syntax.Element
	n.Body, n.Catch, catch = b.arms(el, "Catch", step, true, l.throws)
	if catch != nil {
		n.HasCatch = true
		n.As = b.info.Elements[catch].As
	}
	return n
}

// parallel builds the branches, each of which numbers its steps anew.
func (b *builder) parallel(el *syntax.Element, e *resolve.Element, step Step, l *level) *Parallel {
	n := &Parallel{Step: step, Max: e.Arg("max")}
	n.Body = b.branches(el.Body, n, l.throws)
	return n
}

// branches builds what stands directly inside of a Parallel, lines of whole elements included.
func (b *builder) branches(list []syntax.Node, n *Parallel, throws bool) (out []Node) {
	for _, child := range list {
		switch c := child.(type) {
		case *syntax.Line:
			out = append(out, &Line{Indent: c.Indent, EOL: c.EOL, Body: b.branches(c.Body, n, throws)})
			continue
		case *syntax.Element, *syntax.Exec:
			branch := &level{path: n.ID + "/branch" + number(len(n.Branches)+1) + "/", throws: throws}
			made, _ := b.node(child, branch)
			n.Branches = append(n.Branches, &Branch{Node: made, Binds: b.info.Branches[child]})
			out = append(out, made)
			continue
		}
		if made, _ := b.node(child, &level{}); made != nil {
			out = appendNode(out, made)
		}
	}
	return out
}

// component builds the use of a component file, and its file unless that was done.
func (b *builder) component(el *syntax.Element, e *resolve.Element, step Step, l *level) *Component {
	doc := b.units[e.Use]
	if doc == nil {
		doc = build(e.Use.Doc, e.Use.Info, b.units)
		b.units[e.Use] = doc
	}
	n := &Component{Step: step, Name: el.Name, Document: doc, As: e.As, Throws: l.throws || e.As != "", Props: map[string]Arg{}}
	for _, a := range e.Args {
		n.Props[a.Name] = a.Arg
	}
	if !e.HasBody {
		return n
	}
	children := inside(step, "body", n.Throws)
	for _, child := range el.Body {
		b.child(child, n, children)
	}
	if blankNodes(n.Children) {
		n.Children = nil
	}
	return n
}

// child builds one node directly inside of a component: what names a slot goes there, with its line, all else is of no slot.
func (b *builder) child(child syntax.Node, n *Component, l *level) {
	line, ok := child.(*syntax.Line)
	if !ok {
		slot := b.slotOf(child)
		made, _ := b.node(child, l)
		n.put(slot, made)
		return
	}
	parts := map[string]*Line{}
	var order []string
	for _, inner := range line.Body {
		slot := b.slotOf(inner)
		made, _ := b.node(inner, l)
		if made == nil {
			continue
		}
		if parts[slot] == nil {
			parts[slot] = &Line{Indent: line.Indent, EOL: line.EOL}
			order = append(order, slot)
		}
		parts[slot].Body = appendNode(parts[slot].Body, made)
	}
	for _, slot := range order {
		if slot == "" && blankNodes(parts[slot].Body) {
			continue // the blanks between elements of slots
		}
		n.put(slot, parts[slot])
	}
}

// put appends to the children of a slot.
func (n *Component) put(slot string, made Node) {
	switch {
	case made == nil:
	case slot == "":
		n.Children = appendNode(n.Children, made)
	default:
		if n.Slots == nil {
			n.Slots = map[string][]Node{}
		}
		n.Slots[slot] = append(n.Slots[slot], made)
	}
}

// slotOf is the slot that a child of a component goes to; "" for none.
func (b *builder) slotOf(n syntax.Node) string {
	el, ok := n.(*syntax.Element)
	if !ok || el.Name == "Content" {
		return ""
	}
	return b.info.Elements[el].Slot
}
