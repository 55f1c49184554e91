package resolve

import (
	"slices"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// attributes checks the attributes of a built component against its row of the table.
func (r *resolver) attributes(el *syntax.Element, c *Component, p place) *Element {
	e := &Element{Component: c}
	unknown := false
	for _, a := range el.Attrs {
		row := c.attr(a.Name)
		switch {
		case row == nil:
			unknown = true
			r.unknownAttribute(el, c, a)
			r.attribute(&Element{}, &Attribute{Name: a.Name}, el, a, p) // its expression may have faults of its own
		case row.Later:
			r.diags.Add(CodeLaterAttribute, a.NameSpan, a.Name+" of "+c.Name+" is not built yet", takes(c))
			r.attribute(e, row, el, a, p)
		default:
			r.attribute(e, row, el, a, p)
		}
	}
	if unknown {
		return e // the missing one is most likely the misspelled one
	}
	for _, row := range c.Attrs {
		if row.Needed && !hasAttr(el, row.Name) {
			r.diags.Add(CodeMissingAttribute, tagSpan(el), c.Name+" needs "+row.Name, example(c, row))
		}
	}
	return e
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

func example(c *Component, a Attribute) string {
	switch a.Form {
	case Name:
		return "write <" + c.Name + " " + a.Name + `="name" …>`
	case Cond:
		return "write <" + c.Name + " " + a.Name + "={…}>"
	}
	return "write <" + c.Name + " " + a.Name + `="…">`
}

// takes lists what a component takes.
func takes(c *Component) string {
	names := c.names(false)
	if len(names) == 0 {
		return c.Name + " takes no attributes"
	}
	return c.Name + " takes " + strings.Join(names, ", ")
}

func (r *resolver) unknownAttribute(el *syntax.Element, c *Component, a *syntax.Attr) {
	hint := takes(c)
	if c.Name == "Session" && a.Name == "agent" {
		hint += "; write <Prompt agent=… session=…> or <Agent>"
	} else if near := expr.DidYouMean(a.Name, c.names(true)); near != "" {
		hint = near + " " + hint
	}
	r.diags.Add(CodeUnknownAttribute, a.NameSpan, a.Name+" is not an attribute of "+el.Name, hint)
}

// attribute checks one value by its form and keeps it in e.
func (r *resolver) attribute(e *Element, row *Attribute, el *syntax.Element, a *syntax.Attr, p place) {
	if a.Kind == syntax.AttrString {
		r.stringBraces(a, p)
	}
	switch row.Form {
	case Name:
		r.nameAttribute(e, el, a)
		return
	case Flag:
		r.flag(e, a, p)
		return
	}
	arg := Arg{Given: true, Pos: a.ValueSpan}
	switch a.Kind {
	case syntax.AttrString:
		arg.Literal = a.Value
		if row.Form == Cond {
			r.diags.Add(CodeAttributeValue, a.ValueSpan, a.Name+" is true or false, not a string", "write "+a.Name+"={…}")
		}
	case syntax.AttrTrue:
		arg.Pos = a.NameSpan
		arg.Expr, _ = expr.Compile("true", a.NameSpan.Start)
		if row.Form == Text {
			r.diags.Add(CodeAttributeValue, a.NameSpan, a.Name+" needs a value", "write "+a.Name+`="…" or `+a.Name+"={…}")
			return
		}
	case syntax.AttrExpr:
		var typ *expr.Type
		if arg.Expr, typ = r.expression(a, p); arg.Expr == nil {
			return
		}
		r.formOf(row, a, typ)
	}
	e.Args = append(e.Args, NamedArg{a.Name, arg})
}

// formOf compares the type of an expression with what the attribute takes.
func (r *resolver) formOf(row *Attribute, a *syntax.Attr, typ *expr.Type) {
	switch {
	case row.Form == Text && !typ.Can(expr.String):
		r.diags.Add(CodeAttributeValue, a.ValueSpan, a.Name+" must be a string, is "+typ.String(), "string(x) makes a string of any value")
	case (row.Form == Cond || row.Form == Flag) && !typ.Can(expr.Bool):
		r.diags.Add(CodeAttributeValue, a.ValueSpan, a.Name+" must be true or false, is "+typ.String(), "compare it: "+a.Name+"={x == …}")
	}
}

func (r *resolver) flag(e *Element, a *syntax.Attr, p place) {
	switch a.Kind {
	case syntax.AttrTrue:
		e.set(a.Name, true)
	case syntax.AttrString:
		r.diags.Add(CodeAttributeValue, a.ValueSpan, a.Name+" is true or false, not a string", "write "+a.Name+" alone")
	case syntax.AttrExpr:
		x, typ := r.expression(a, p)
		r.formOf(&Attribute{Form: Flag}, a, typ)
		if x == nil {
			return
		}
		if v, ok := x.Const(); ok {
			e.set(a.Name, v == true)
			return
		}
		e.Args = append(e.Args, NamedArg{a.Name, Arg{Given: true, Expr: x, Pos: a.ValueSpan}})
	}
}

// nameAttribute reads as="name".
func (r *resolver) nameAttribute(e *Element, el *syntax.Element, a *syntax.Attr) {
	if a.Kind != syntax.AttrString {
		r.diags.Add(CodeAttributeValue, a.Pos, a.Name+" takes a name in quotes", "write "+a.Name+`="name"`)
		return
	}
	if bad := badName(a.Value); bad != "" {
		r.diags.Add(CodeBadName, a.ValueSpan, bad, "")
		return
	}
	e.As = a.Value
}

// expression compiles the expression of an attribute and resolves its names. The Expr is nil if it has faults.
func (r *resolver) expression(a *syntax.Attr, p place) (*expr.Expr, *expr.Type) {
	x, errs := compileAttr(r.src, a)
	if x == nil {
		r.exprErrors(errs)
		return nil, nil
	}
	for _, ref := range x.Names() {
		r.ref(ref, p)
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
func (r *resolver) ref(ref *expr.Ref, p place) {
	b, ok := r.scope.names[ref.Name]
	switch {
	case given[ref.Name] || p.lent[ref.Name]:
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

// lender names the component that gives a reserved name.
func lender(name string) string {
	for c, n := range lends {
		if n == name {
			return "<" + c + ">"
		}
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
