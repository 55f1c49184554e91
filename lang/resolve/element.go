package resolve

import (
	"maps"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

func (r *resolver) element(el *syntax.Element, p place) {
	c := components[el.Name]
	if c == nil || c.Later {
		r.foreign(el, c, p)
		return
	}
	if c.Name == "Else" {
		r.diags.Add(CodeElse, tagSpan(el), "Else stands only directly in If", "")
		r.nodes(el.Body, p)
		return
	}
	e := r.attributes(el, c, p)
	e.HasBody = hasBody(el)
	r.info.Elements[el] = e
	switch c.Name {
	case "Prompt":
		r.prompt(el, e, p)
	case "Let":
		r.let(el, e, p)
	case "If":
		r.branches(el, p)
	case "Session":
		r.session(el, e, p)
	default:
		r.agentName(e.Arg("name"))
		r.nodes(el.Body, p)
	}
}

// hasBody tells whether a body holds more than white space and author comments.
func hasBody(el *syntax.Element) bool {
	for n := range syntax.Children(el.Body) {
		switch n := n.(type) {
		case *syntax.Comment:
		case *syntax.Text:
			if strings.TrimSpace(n.Value) != "" {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// foreign reports a component that does not exist or is not built. What it would bind is bound, so that no further errors
// come of it.
func (r *resolver) foreign(el *syntax.Element, c *Component, p place) {
	if c != nil {
		r.diags.Add(CodeLaterComponent, tagSpan(el), c.Name+" is not built yet", "")
	} else {
		r.unknownComponent(el)
	}
	inner := place{captured: p.captured, lent: maps.Clone(p.lent)}
	if inner.lent == nil {
		inner.lent = map[string]bool{}
	}
	inner.lent[lends[el.Name]] = true
	for _, a := range el.Attrs {
		switch {
		case a.Kind == syntax.AttrExpr:
			r.expression(a, p)
		case (a.Name == "let" || a.Name == "as" && el.Name == "Catch") && expr.IsName(a.Value):
			r.scope.bind(a.Value, nil, a.ValueSpan)
		}
	}
	r.nodes(el.Body, inner)
	for _, a := range el.Attrs {
		if a.Name == "as" && a.Kind == syntax.AttrString && expr.IsName(a.Value) {
			r.scope.bind(a.Value, nil, a.ValueSpan)
		}
	}
}

func (r *resolver) unknownComponent(el *syntax.Element) {
	hint := expr.DidYouMean(el.Name, componentNames())
	if hint == "" {
		hint = `write \<` + el.Name + "> or use backticks; HTML tags are lower-case; component files are not built yet"
	}
	r.diags.Add(CodeUnknownComponent, tagSpan(el), "there is no component "+el.Name, hint)
}

func (r *resolver) prompt(el *syntax.Element, e *Element, p place) {
	r.bodyOr(el, e, "text", !e.HasBody)
	if text := e.Arg("text"); text.Given && text.Expr == nil && strings.TrimSpace(text.Literal) == "" {
		r.diags.Add(CodeAttributeValue, text.Pos, "the prompt is empty", "")
	}
	r.agentName(e.Arg("agent"))
	r.sessionName(e.Arg("session"))
	r.nodes(el.Body, place{captured: true, lent: p.lent})
	if e.As != "" {
		r.scope.bind(e.As, expr.Of(expr.String), asSpan(el))
	}
}

// bodyOr wants either the attribute or a body; without tells that there is no body.
func (r *resolver) bodyOr(el *syntax.Element, e *Element, attr string, without bool) {
	given := hasAttr(el, attr)
	switch {
	case given && e.HasBody:
		r.diags.Add(CodeBody, attrSpan(el, attr), el.Name+" has both "+attr+" and a body", "leave one of them out")
	case !given && without && !hasUnknown(el, e.Component):
		r.diags.Add(CodeBody, tagSpan(el), el.Name+" has neither "+attr+" nor a body", "give it "+attr+"=… or a body: <"+el.Name+">…</"+el.Name+">")
	}
}

func hasUnknown(el *syntax.Element, c *Component) bool {
	for _, a := range el.Attrs {
		if c.attr(a.Name) == nil {
			return true
		}
	}
	return false
}

func attrSpan(el *syntax.Element, name string) diag.Span {
	for _, a := range el.Attrs {
		if a.Name == name {
			return a.Pos
		}
	}
	return tagSpan(el)
}

func asSpan(el *syntax.Element) diag.Span { return attrSpan(el, "as") }

func (r *resolver) let(el *syntax.Element, e *Element, p place) {
	r.bodyOr(el, e, "value", el.SelfClosing) // an empty body is one: it binds the empty text
	typ := expr.Of(expr.String)
	if hasAttr(el, "value") {
		typ = r.argType(e.Arg("value"))
	}
	r.nodes(el.Body, place{captured: true, lent: p.lent})
	if e.As != "" {
		r.scope.bind(e.As, typ, asSpan(el))
	}
}

// argType is the type of an argument; nil if it has faults.
func (r *resolver) argType(a Arg) *expr.Type {
	switch {
	case !a.Given:
		return nil
	case a.Expr == nil:
		return expr.Of(expr.String)
	}
	typ, _ := a.Expr.Check(r.typeOf)
	return typ
}

// branches resolves the two arms of an If from the same state.
func (r *resolver) branches(el *syntax.Element, p place) {
	then, other := r.arms(el)
	mark := r.scope.arm()
	r.nodes(then, p)
	a := r.scope.leave(mark)
	mark = r.scope.arm()
	if other != nil {
		r.nodes(other.Body, p)
	}
	r.scope.join(a, r.scope.leave(mark))
}

// arms finds the Else of an If and says where one stands wrongly.
func (r *resolver) arms(el *syntax.Element) (then []syntax.Node, other *syntax.Element) {
	for _, n := range el.Body {
		e, ok := n.(*syntax.Element)
		switch {
		case ok && e.Name == "Else" && other == nil:
			other = e
			r.elseTag(e)
			continue
		case ok && e.Name == "Else":
			r.diags.Add(CodeElse, tagSpan(e), "If has two Else", "", diag.Related{Summary: "the first one is here", Span: tagSpan(other)})
			then = append(then, e.Body...)
			continue
		case other != nil && !blank(n):
			r.diags.Add(CodeElse, tagSpan(other), "Else is not the last thing in If", "what stands behind it belongs before it or behind </If>",
				diag.Related{Summary: "this stands behind it", Span: n.Span()})
		}
		then = append(then, n)
	}
	return then, other
}

func (r *resolver) elseTag(el *syntax.Element) {
	for _, a := range el.Attrs {
		r.diags.Add(CodeUnknownAttribute, a.NameSpan, a.Name+" is not an attribute of Else", "Else takes no attributes; a further condition is an If inside it")
	}
}

func blank(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Comment:
		return true
	case *syntax.Text:
		return strings.TrimSpace(n.Value) == ""
	case *syntax.Line:
		for _, inner := range n.Body {
			if !blank(inner) {
				return false
			}
		}
		return true
	}
	return false
}

func (r *resolver) session(el *syntax.Element, e *Element, p place) {
	r.sessionName(e.Arg("name"))
	if !hasAttr(el, "name") && !hasUnknown(el, e.Component) {
		r.diags.Add(CodeLaterComponent, tagSpan(el), "Session without name is not built yet", `write <Session name="…">`)
	}
	r.nodes(el.Body, p)
}

// sessionName checks a name that is written out, or that an expression without names computes.
func (r *resolver) sessionName(a Arg) {
	name, ok := constant(a)
	if !ok {
		return
	}
	if err := SessionName(name); err != nil {
		r.diags.Add(CodeSessionName, a.Pos, err.Error(), "")
	}
}

func (r *resolver) agentName(a Arg) {
	if name, ok := constant(a); ok && strings.TrimSpace(name) == "" {
		r.diags.Add(CodeSessionName, a.Pos, "an agent's name cannot be empty", "")
	}
}

// constant gives the string that an argument always is.
func constant(a Arg) (string, bool) {
	switch {
	case !a.Given:
		return "", false
	case a.Expr == nil:
		return a.Literal, true
	}
	v, ok := a.Expr.Const()
	if !ok {
		return "", false
	}
	s, ok := v.(string)
	return s, ok
}
