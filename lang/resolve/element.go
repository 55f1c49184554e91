package resolve

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// element resolves an element; ends tells that what stands behind it is never reached.
func (r *resolver) element(el *syntax.Element, p place) (ends bool) {
	if p.rules && el.Name == rule {
		return false
	}
	c := components[el.Name]
	if c == nil {
		return r.component(el, p)
	}
	if c.Name == "Else" || c.Name == "Catch" {
		return r.strayArm(el, p)
	}
	e := r.attributes(el, c, p)
	e.HasBody = hasBody(el)
	r.info.Elements[el] = e
	r.body(el, c, e)
	return r.builtin(el, e, p)
}

// builtin resolves what is particular to each built-in component.
func (r *resolver) builtin(el *syntax.Element, e *Element, p place) (ends bool) {
	in := place{captured: p.captured}
	switch el.Name {
	case "Prompt":
		return r.prompt(el, e)
	case "Let":
		return r.let(el, e)
	case "If":
		return r.branches(el, e, p)
	case "Try":
		return r.try(el, p)
	case "Each":
		return r.each(el, e, in)
	case "Loop":
		return r.loop(el, e, in)
	case "Break":
		return r.breaks(el)
	case "Parallel":
		return r.parallel(el, in)
	case "Fail":
		return true
	case "Output":
		return r.output(el, p)
	case "Return":
		return r.returns(el, e, p)
	case "Content":
		return r.content(el, e, in)
	case "Agent":
		r.agentName(e.Arg("name"))
	case "Session":
		r.sessionElement(el, e)
	case "Permissions":
		r.permissions(el, e)
	case "File", "Glob", "TempDir", "Json", "Parse", "SafeParse", "Fetch", "Elicit":
		return r.effect(el, e, in)
	case "Session.Launch":
		return r.launch(el, e)
	case "Conversation":
		return r.conversation(el, e, in)
	case "Instructions", "Tool", "Mcp":
		return r.offer(el, e)
	case "Test", "TestAgent", "Run", "Assert", "AssertEquals", "AssertContains", "AssertMatch", "AssertThrows":
		return r.testing(el, e, p)
	}
	return r.nodes(el.Body, in)
}

// body checks that there is a body where one is needed, and none where none is taken.
func (r *resolver) body(el *syntax.Element, c *Component, e *Element) {
	switch {
	case c.Body == NoBody && e.HasBody:
		r.diags.Add(CodeBody, tagSpan(el), c.Name+" takes no body", "write <"+c.Name+" …/>")
	case c.Body == NeedBody && el.SelfClosing, c.Body == FullBody && !e.HasBody:
		r.diags.Add(CodeBody, tagSpan(el), c.Name+" has no body", c.BodyHint+": <"+c.Name+">…</"+c.Name+">")
	}
}

// hasBody tells whether a body holds more than white space and author comments.
func hasBody(el *syntax.Element) bool {
	for n := range syntax.Children(el.Body) {
		if !blank(n) {
			return true
		}
	}
	return false
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

// foreign resolves what stands in and around an element of which nothing is known. What it would bind is bound, so that no
// further errors come of it.
func (r *resolver) foreign(el *syntax.Element, p place) {
	for _, a := range el.Attrs {
		switch {
		case a.Kind == syntax.AttrExpr:
			r.expression(a)
		case a.Name == "let" && expr.IsName(a.Value):
			r.scope.bind(a.Value, nil, a.ValueSpan)
		}
	}
	r.inside(func(in *around) {
		for _, name := range lends(el.Name) {
			in.lend(name, nil)
		}
	}, func() { r.nodes(el.Body, place{captured: p.captured}) })
	for _, a := range el.Attrs {
		if a.Name == "as" && a.Kind == syntax.AttrString && expr.IsName(a.Value) {
			r.scope.bind(a.Value, nil, a.ValueSpan)
		}
	}
}

func (r *resolver) unknownComponent(el *syntax.Element) {
	hint := expr.DidYouMean(el.Name, append(r.linker.names(r.name), componentNames()...))
	if hint == "" {
		hint = `write \<` + el.Name + "> or use backticks; HTML tags are lower-case; a component file is components/" +
			strings.ReplaceAll(el.Name, ".", "/") + ".xmd"
	}
	r.diags.Add(CodeUnknownComponent, tagSpan(el), "there is no component "+el.Name, hint)
}

func (r *resolver) prompt(el *syntax.Element, e *Element) (ends bool) {
	r.bodyOr(el, e, "text", !e.HasBody)
	if text := e.Arg("text"); text.Given && text.Expr == nil && strings.TrimSpace(text.Literal) == "" {
		r.diags.Add(CodeAttributeValue, text.Pos, "the prompt is empty", "")
	}
	r.agentName(e.Arg("agent"))
	r.sessionName(e.Arg("session"))
	if hasAttr(el, "session") {
		r.namesSession(attrSpan(el, "session"))
	}
	if hasAttr(el, "retries") && !hasAttr(el, "schema") {
		r.warn(CodeIdle, attrSpan(el, "retries"), "retries does nothing without schema", "it counts how often a reply that does not fit is asked for again")
	}
	ends = r.nodes(el.Body, place{captured: true})
	typ := expr.Of(expr.String)
	if hasAttr(el, "schema") {
		typ = e.Schema.typ()
	}
	r.bind(el, e, typ)
	return ends
}

// bind binds what as= names.
func (r *resolver) bind(el *syntax.Element, e *Element, typ *expr.Type) {
	if e.As != "" {
		r.scope.bind(e.As, typ, attrSpan(el, "as"))
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

func (r *resolver) let(el *syntax.Element, e *Element) (ends bool) {
	r.bodyOr(el, e, "value", el.SelfClosing) // an empty body is one: it binds the empty text
	typ := expr.Of(expr.String)
	if hasAttr(el, "value") {
		typ = r.argType(e.Arg("value"))
	}
	ends = r.nodes(el.Body, place{captured: true})
	r.bind(el, e, typ)
	return ends
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

// sessionElement checks a Session.
func (r *resolver) sessionElement(el *syntax.Element, e *Element) {
	r.sessionName(e.Arg("name"))
	r.namesSession(tagSpan(el))
}

// namesSession notes that sessions are named or opened here, which a Conversation does not allow.
func (r *resolver) namesSession(at diag.Span) {
	r.note(&r.info.holds.session, at, "a session is chosen here")
	if r.in.conversation {
		r.diags.Add(CodeConversation, at, "a Conversation has its own sessions; none can be chosen in it", "leave it out, or end the Conversation before it")
	}
}

// note keeps the first place of something.
func (r *resolver) note(first **diag.Related, at diag.Span, what string) {
	if *first == nil {
		*first = &diag.Related{Summary: what, Span: at, Source: r.source}
	}
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
	v, ok := a.Const()
	s, isString := v.(string)
	return s, ok && isString
}
