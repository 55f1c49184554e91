package resolve

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// component resolves the use of a component file.
func (r *resolver) component(el *syntax.Element, p place) (ends bool) {
	unit, found, problem, cycle := r.linker.component(r.name, el.Name)
	switch {
	case !found:
		r.unknownComponent(el)
	case problem != "":
		r.diags.Add(CodeFile, tagSpan(el), problem, "")
	case unit == nil:
		r.diags.Add(CodeCycle, tagSpan(el), el.Name+" is part of itself: "+strings.Join(cycle, " → "), "what is done again and again is a Loop or an Each")
	}
	if unit == nil {
		r.foreign(el, p)
		return false
	}
	e := &Element{Use: unit, HasBody: hasBody(el)}
	r.info.Elements[el] = e
	r.useAttributes(el, e, p)
	r.useHere(el, unit)
	r.children(el, unit)
	typ := expr.Of(expr.String)
	switch {
	case !unit.Info.front:
		typ = nil
	case unit.Info.value:
		typ = (&SchemaArg{Schema: unit.Info.Returns}).typ()
		if !hasAttr(el, "as") {
			r.diags.Add(CodeMissingAttribute, tagSpan(el), el.Name+" needs as", "its file has returns: it gives a value, which as binds")
		}
	}
	r.bind(el, e, typ)
	return false
}

// useAttributes checks the props of a use.
func (r *resolver) useAttributes(el *syntax.Element, e *Element, p place) {
	known := e.Use.Info.front
	in := &e.Use.Info.Inputs
	unknown := false
	for _, a := range el.Attrs {
		switch {
		case a.Name == "as":
			r.attribute(e, &binds, el, a, p)
		case a.Name == "slot":
			r.slotOf(e, a, p.slots)
		default:
			prop := in.Prop(a.Name)
			if prop == nil && known {
				unknown = true
				r.unknownProp(el, in, a)
			}
			if a.Kind == syntax.AttrString {
				r.stringBraces(a)
			}
			arg, typ := r.argument(&Attribute{Form: Value}, a)
			if prop != nil && arg.Given {
				r.propValue(in, prop, a, arg, typ)
				e.Args = append(e.Args, NamedArg{a.Name, arg})
			}
		}
	}
	if unknown || !known {
		return
	}
	for i := range in.Props {
		if prop := &in.Props[i]; prop.Required && !prop.HasDefault && !hasAttr(el, prop.Name) {
			r.diags.Add(CodeMissingAttribute, tagSpan(el), el.Name+" needs "+prop.Name, "write <"+el.Name+" "+prop.Name+propExample(prop),
				diag.Related{Summary: "the prop is declared here", Span: prop.Pos, Source: e.Use.Doc.Source})
		}
	}
}

func propExample(p *Prop) string {
	if p.Type.Can(expr.String) {
		return `="…">`
	}
	return "={…}>"
}

func (r *resolver) unknownProp(el *syntax.Element, in *Inputs, a *syntax.Attr) {
	names := append(in.names(), "as", "slot")
	hint := expr.DidYouMean(a.Name, names)
	if hint == "" {
		hint = el.Name + " takes " + strings.Join(names, ", ")
	}
	r.diags.Add(CodeUnknownAttribute, a.NameSpan, a.Name+" is not a prop of "+el.Name, hint)
}

// propValue checks what is known beforehand of a prop's value.
func (r *resolver) propValue(in *Inputs, prop *Prop, a *syntax.Attr, arg Arg, typ *expr.Type) {
	v, known := arg.Const()
	if !known {
		if bad := misfit(prop.Name, typ, r.taken(prop)); bad != "" {
			r.diags.Add(CodePropValue, arg.Pos, bad, "")
		}
		return
	}
	if v == nil && !prop.Required {
		return // as if it was not given
	}
	for _, f := range in.faultsOfProp(prop, v) {
		text := prop.Name + ": " + faultText(f)
		hint := f.Hint
		if a.Kind == syntax.AttrString && !prop.Type.Can(expr.String) {
			hint = "write " + a.Name + "={" + a.Value + "}"
		}
		r.diags.Add(CodePropValue, arg.Pos, text, hint)
	}
}

// taken is the type of what may be given to a prop: null stands for nothing where the prop need not be given.
func (r *resolver) taken(prop *Prop) *expr.Type {
	if prop.Required {
		return prop.Type
	}
	return expr.Nullable(prop.Type)
}

// slotOf keeps which slot of the component around an element goes to.
func (r *resolver) slotOf(e *Element, a *syntax.Attr, unit *Unit) {
	if a.Kind != syntax.AttrString {
		r.diags.Add(CodeAttributeValue, a.Pos, "slot takes a name in quotes", `write slot="name"`)
		return
	}
	switch {
	case unit == nil:
		r.diags.Add(CodeSlot, a.NameSpan, "slot stands only on what is directly inside a component of a file", "")
	case unit.Info.front && unit.Info.slots[a.Value] == nil:
		hint := expr.DidYouMean(a.Value, unit.slotNames())
		if names := unit.slotNames(); hint == "" && len(names) > 0 {
			hint = "its slots are " + strings.Join(names, ", ")
		}
		r.diags.Add(CodeSlot, a.ValueSpan, unit.Name+" has no slot "+a.Value, hint)
	}
	e.Slot = a.Value
}

// slotName reads the slot that a Content fills.
func (r *resolver) slotName(e *Element, a *syntax.Attr) {
	if a.Value == "" || strings.Trim(a.Value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		r.diags.Add(CodeSlot, a.ValueSpan, "a slot's name is letters, digits, _ and -", "")
		return
	}
	e.Slot = a.Value
}

// content resolves a place for children.
func (r *resolver) content(el *syntax.Element, e *Element, p place) (ends bool) {
	if r.info.slots == nil {
		r.info.slots = map[string]*slot{}
	}
	s := r.info.slots[e.Slot]
	if s == nil {
		s = &slot{}
		r.info.slots[e.Slot] = s
	}
	s.parallel = s.parallel || r.in.at != ""
	mark := r.scope.arm()
	r.nodes(el.Body, p)
	r.scope.maybe(r.scope.leave(mark))
	return false
}

// children resolves what stands between the tags of a component: it runs where the file puts it, if at all.
func (r *resolver) children(el *syntax.Element, unit *Unit) {
	known := unit.Info.front
	at := ""
	for _, s := range unit.Info.slots {
		if s.parallel {
			at = "what runs several at once in " + unit.Name
		}
	}
	mark := r.scope.arm()
	r.inside(func(in *around) {
		in.loop, in.wall = nil, "a component"
		if at != "" {
			in.at = at
		}
	}, func() { r.nodes(el.Body, place{captured: true, slots: unit}) })
	bound := r.scope.leave(mark)
	for _, name := range sortedNames(bound) {
		if at != "" {
			r.diags.Add(CodeTwoBranches, bound[name].At, "the children of "+unit.Name+" cannot bind "+name, unit.Name+" puts them where several run at once")
		}
	}
	r.scope.maybe(bound)
	if known && unit.Info.slots[""] == nil && r.hasChildren(el) {
		r.warn(CodeUnreachable, tagSpan(el), "the children of "+unit.Name+" are put nowhere", "its file has no <Content/>")
	}
}

// hasChildren tells whether a component has children of no slot.
func (r *resolver) hasChildren(el *syntax.Element) bool {
	for n := range syntax.Children(el.Body) {
		child, ok := n.(*syntax.Element)
		if ok && r.info.Elements[child] != nil && child.Name != "Content" && r.info.Elements[child].Slot != "" {
			continue
		}
		if !blank(n) {
			return true
		}
	}
	return false
}

// useHere checks that what a component file holds may stand where the component is used.
func (r *resolver) useHere(el *syntax.Element, unit *Unit) {
	r.useOffers(el, unit)
	h := unit.Info.holds
	at := tagSpan(el)
	if r.in.conversation {
		for _, held := range []*diag.Related{h.session, h.parallel, h.conversation, h.launch} {
			if held != nil {
				r.diags.Add(CodeConversation, at, el.Name+" cannot be used in a Conversation", "a Conversation chooses its sessions itself, and its turns take turns", *held)
				break
			}
		}
	}
	if h.launch != nil && r.in.at != "" {
		r.diags.Add(CodeLaunch, at, el.Name+" cannot be used in "+r.in.at+": it holds a Session.Launch", "", *h.launch)
	}
	mine := &r.info.holds
	for _, pair := range []struct{ to, from **diag.Related }{{&mine.session, &h.session}, {&mine.parallel, &h.parallel},
		{&mine.conversation, &h.conversation}, {&mine.launch, &h.launch}} {
		if *pair.to == nil {
			*pair.to = *pair.from
		}
	}
}
