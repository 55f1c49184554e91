package resolve

import (
	"slices"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// attributes checks the attributes of a built-in component against its row of the table.
func (r *resolver) attributes(el *syntax.Element, c *Component, p place) *Element {
	e := &Element{Component: c}
	unknown := false
	for _, a := range el.Attrs {
		row := c.attr(a.Name)
		switch {
		case row == nil && a.Name == "slot" && p.slots != nil:
			r.slotOf(e, a, p.slots)
		case row == nil:
			unknown = true
			r.unknownAttribute(el, c, a)
			r.attribute(&Element{}, &Attribute{Name: a.Name}, el, a, p) // its expression may have faults of its own
		case row.Form != Deferred:
			r.attribute(e, row, el, a, p)
		}
	}
	if unknown {
		return e // the missing one is most likely the misspelled one
	}
	for i := range c.Attrs {
		if row := &c.Attrs[i]; row.Needed && !hasAttr(el, row.Name) {
			r.diags.Add(CodeMissingAttribute, tagSpan(el), c.Name+" needs "+row.Name, example(c, row))
		}
	}
	return e
}

// deferred resolves an attribute whose names are those at the end of the body.
func (r *resolver) deferred(e *Element, el *syntax.Element, name string, p place) *expr.Type {
	for _, a := range el.Attrs {
		if a.Name == name {
			return r.attribute(e, &Attribute{Name: name}, el, a, p)
		}
	}
	return nil
}

func hasAttr(el *syntax.Element, name string) bool {
	for _, a := range el.Attrs {
		if a.Name == name {
			return true
		}
	}
	return false
}

// tagSpan is < and name, which is where an error about the whole tag points.
func tagSpan(el *syntax.Element) diag.Span {
	return diag.Span{Start: el.Pos.Start, End: el.NameSpan.End}
}

func example(c *Component, a *Attribute) string {
	start := "write <" + c.Name + " " + a.Name
	switch a.Form {
	case Name, Literal:
		return start + `="name" …>`
	case Cond, Array, Object:
		return start + "={…}>"
	case Count:
		return start + "={3}>"
	}
	return start + `="…">`
}

// takes lists what a component takes.
func takes(c *Component) string {
	names := c.names()
	if len(names) == 0 {
		return c.Name + " takes no attributes"
	}
	return c.Name + " takes " + strings.Join(names, ", ")
}

func (r *resolver) unknownAttribute(el *syntax.Element, c *Component, a *syntax.Attr) {
	hint := takes(c)
	if c.Name == "Session" && a.Name == "agent" {
		hint += "; write <Prompt agent=… session=…> or <Agent>"
	} else if near := expr.DidYouMean(a.Name, c.names()); near != "" {
		hint = near + " " + hint
	}
	r.diags.Add(CodeUnknownAttribute, a.NameSpan, a.Name+" is not an attribute of "+el.Name, hint)
}

// expression compiles the expression of an attribute and resolves its names. The Expr is nil if it has faults.
func (r *resolver) expression(a *syntax.Attr) (*expr.Expr, *expr.Type) {
	x, errs := compileAttr(r.src, a)
	if x == nil {
		r.exprErrors(errs)
		return nil, nil
	}
	for _, ref := range x.Names() {
		r.ref(ref)
	}
	typ, faults := x.Check(r.typeOf)
	for _, f := range faults {
		r.typeFault(f, x.Names())
	}
	if len(faults) > 0 {
		return x, nil // one fault is enough to say
	}
	return x, typ
}

// ref looks one name of an expression up.
func (r *resolver) ref(ref *expr.Ref) {
	b, ok := r.scope.names[ref.Name]
	switch {
	case given[ref.Name] || r.isLent(ref.Name):
	case !ok:
		r.unbound(ref.Name, ref.Span, "")
	case b.Sometimes && !ref.Handled:
		r.sometimes(ref.Name, ref.Span, b)
	}
}

func (r *resolver) unbound(name string, at diag.Span, hint string) {
	near := r.suggest(name)
	switch {
	case reserved[name]:
		hint = "it is only inside " + lender(name)
	case near != "":
		hint = "did you mean " + near + "?"
	case hint == "":
		hint = `bind it before, with <Let as="` + name + `" …> or as="` + name + `"`
	}
	r.diags.Add(CodeUnbound, at, name+" is not bound here", hint)
}

// lender names the component that gives a reserved name to its body.
func lender(name string) string {
	if c := lenders[name]; c != "" {
		return "<" + c + ">"
	}
	return "a component file"
}

func (r *resolver) sometimes(name string, at diag.Span, b Bound) {
	var where []diag.Related
	if b.At != (diag.Span{}) {
		where = append(where, diag.Related{Summary: "bound here", Span: b.At})
	}
	r.diags.Add(CodeSometimes, at, name+" is bound on some paths only",
		"handle it in an expression, "+name+` ?? "…", or bind it before with <Let as="`+name+`" value={null}/>`, where...)
}

// typeFault reports what types tell, in other words where the value is one of the document's inputs.
func (r *resolver) typeFault(f *expr.Error, refs []*expr.Ref) {
	for _, ref := range refs {
		if len(ref.Members) > 0 && ref.Members[0].Span == f.Span && given[ref.Name] {
			if key, ok := ref.Members[0].Key.(string); ok && f.Code == expr.CodeMember {
				r.noInput(ref.Name, key, f.Span)
				return
			}
		}
	}
	r.diags.Add(f.Code, f.Span, f.Message, f.Hint)
}

// noInput reports props.x, env.X, meta.x and run.x that do not exist.
func (r *resolver) noInput(root, key string, at diag.Span) {
	summary, hint := r.noInputWords(root, key)
	r.diags.Add(CodeNoInput, at, summary, hint)
}

func (r *resolver) noInputWords(root, key string) (summary, hint string) {
	var names []string
	if t := r.types[root]; t != nil {
		for n := range t.Fields {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	if near := diag.Nearest(key, names); near != "" {
		hint = "did you mean " + root + "." + near + "?"
	}
	switch root {
	case "props":
		summary = "there is no prop " + key
		hint = orElse(hint, "declare it in the frontmatter under props:")
	case "env":
		summary = key + " is not listed under env:"
		hint = orElse(hint, "list it in the frontmatter: env: ["+key+"]")
	case "meta":
		summary = "the frontmatter has no key " + key
	default:
		summary = root + " has no member " + key
		hint = orElse(hint, "it has: "+strings.Join(names, ", "))
	}
	return summary, hint
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
