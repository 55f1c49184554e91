package resolve

import (
	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// branches resolves the two arms of an If from the same state.
func (r *resolver) branches(el *syntax.Element, e *Element, p place) (ends bool) {
	then, other := r.arms(el, "Else", CodeElse)
	in := place{captured: p.captured, returns: p.returns}
	yes, known := e.Arg("condition").Const()
	if known && yes == false && hasNodes(then) {
		r.unreachable(el, "condition", "the condition is always false", then[0])
	}
	mark := r.scope.arm()
	thenEnds := r.nodes(then, in)
	a := r.scope.leave(mark)
	mark = r.scope.arm()
	otherEnds := false
	if other != nil {
		if known && yes == true && hasNodes(other.Body) {
			r.unreachable(el, "condition", "the condition is always true", other)
		}
		r.noAttributes(other, "a further condition is an If inside it")
		otherEnds = r.nodes(other.Body, in)
	}
	r.scope.join(a, r.scope.leave(mark))
	switch {
	case known && yes == true:
		return thenEnds
	case known && yes == false:
		return otherEnds
	}
	return thenEnds && otherEnds
}

func hasNodes(list []syntax.Node) bool {
	for _, n := range list {
		if !blank(n) {
			return true
		}
	}
	return false
}

// unreachable warns of a body that is never taken.
func (r *resolver) unreachable(el *syntax.Element, attr, why string, body syntax.Node) {
	r.warn(CodeUnreachable, attrSpan(el, attr), why, "", diag.Related{Summary: "this is never reached", Span: firstLine(r.src, body.Span())})
}

// try resolves Try and Catch. What Try binds may be missing in Catch and behind, unless both bind it.
func (r *resolver) try(el *syntax.Element, p place) (ends bool) {
	body, catch := r.arms(el, "Catch", CodeCatch)
	in := place{captured: p.captured, returns: p.returns}
	mark := r.scope.arm()
	bodyEnds := r.nodes(body, in)
	a := r.scope.leave(mark)
	if catch == nil {
		r.scope.maybe(a)
		return false
	}
	mark = r.scope.arm()
	r.scope.maybe(a)
	e := r.attributes(catch, components["Catch"], place{})
	r.info.Elements[catch] = e
	r.bind(catch, e, failure)
	catchEnds := r.nodes(catch.Body, in)
	r.scope.join(a, r.scope.leave(mark))
	return bodyEnds && catchEnds
}

// failure is the type of what Catch binds.
var failure = object(map[string]*expr.Type{"code": expr.Of(expr.Number), "kind": expr.Of(expr.String), "retryable": expr.Of(expr.Bool),
	"message": expr.Of(expr.String), "position": expr.Of(expr.String | expr.Null), "step": expr.Of(expr.String | expr.Null),
	"agent": expr.Of(expr.String | expr.Null), "session": expr.Of(expr.String | expr.Null)})

// arms finds the second body of an element, its Else or Catch, and says where one stands wrongly.
func (r *resolver) arms(el *syntax.Element, name, code string) (first []syntax.Node, other *syntax.Element) {
	first = el.Body
	for i, n := range el.Body {
		e, ok := n.(*syntax.Element)
		is := ok && e.Name == name
		if is && other == nil {
			first = append([]syntax.Node(nil), el.Body[:i]...) // what follows is left out, or is a mistake
			other = e
			r.idleOffers(e.Body)
			continue
		}
		if other == nil {
			continue
		}
		switch {
		case is:
			r.diags.Add(code, tagSpan(e), el.Name+" has two "+name, "", diag.Related{Summary: "the first one is here", Span: tagSpan(other)})
			first = append(first, e.Body...)
			continue
		case !blank(n):
			r.diags.Add(code, tagSpan(other), name+" is not the last thing in "+el.Name, "what stands behind it belongs before it or behind </"+el.Name+">",
				diag.Related{Summary: "this stands behind it", Span: n.Span()})
		}
		first = append(first, n)
	}
	return first, other
}

// strayArm reports an Else or Catch that stands in nothing that takes one.
func (r *resolver) strayArm(el *syntax.Element, p place) (ends bool) {
	code, holder := CodeElse, "If"
	if el.Name == "Catch" {
		code, holder = CodeCatch, "Try"
	}
	r.diags.Add(code, tagSpan(el), el.Name+" stands only directly in "+holder, "")
	for _, a := range el.Attrs {
		if a.Name == "as" && expr.IsName(a.Value) {
			r.scope.bind(a.Value, nil, a.ValueSpan)
		}
	}
	return r.nodes(el.Body, place{captured: p.captured})
}

func (r *resolver) noAttributes(el *syntax.Element, hint string) {
	for _, a := range el.Attrs {
		r.diags.Add(CodeUnknownAttribute, a.NameSpan, a.Name+" is not an attribute of "+el.Name, el.Name+" takes no attributes; "+hint)
	}
}
