package resolve

import (
	"math"
	"strconv"
	"strings"

	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// attribute checks one value by its form and keeps it in e. It returns what is known of the value's type; nil: nothing.
func (r *resolver) attribute(e *Element, row *Attribute, el *syntax.Element, a *syntax.Attr, p place) *expr.Type {
	if a.Kind == syntax.AttrString {
		r.stringBraces(a)
	}
	switch row.Form {
	case Name:
		r.nameAttribute(e, a)
		return nil
	case Literal:
		r.literal(e, el, a)
		return nil
	case Flag:
		r.flag(e, a)
		return nil
	}
	arg, typ := r.argument(row, a)
	if !arg.Given || !r.fitsForm(row, a, arg, typ) {
		return nil
	}
	switch row.Form {
	case Schema:
		e.Schema = r.schemaArg(a, arg)
		return nil
	case Time:
		if ms, written := r.duration(arg); written {
			e.TimeoutMS = ms
			return nil
		}
	}
	e.Args = append(e.Args, NamedArg{a.Name, arg})
	return typ
}

// argument is the value of an attribute, with its type as far as it is known. It is not given if it has faults.
func (r *resolver) argument(row *Attribute, a *syntax.Attr) (Arg, *expr.Type) {
	arg := Arg{Given: true, Pos: a.ValueSpan}
	switch a.Kind {
	case syntax.AttrString:
		arg.Literal = a.Value
		return arg, expr.Of(expr.String)
	case syntax.AttrTrue:
		arg.Pos = a.NameSpan
		arg.Expr, _ = expr.Compile("true", a.NameSpan.Start)
		if row.Form != Value && row.Form != Cond {
			hint := a.Name + "={…}"
			if formKinds[row.Form].kinds&expr.String != 0 {
				hint = a.Name + `="…" or ` + hint
			}
			r.diags.Add(CodeAttributeValue, a.NameSpan, a.Name+" needs a value", "write "+hint)
			return Arg{}, nil
		}
		return arg, expr.Of(expr.Bool)
	}
	x, typ := r.expression(a)
	if x == nil {
		return Arg{}, nil
	}
	arg.Expr = x
	return arg, typ
}

// formKinds are what an attribute takes by its form, and how a message says it.
var formKinds = map[Form]struct {
	kinds expr.Kind
	what  string
	hint  string
}{
	Text:    {expr.String, "a string", "string(x) makes a string of any value"},
	Time:    {expr.String, "a duration, which is a string", `write "30s" or "5m"`},
	Word:    {expr.String, "a string", ""},
	Cond:    {expr.Bool, "true or false", ""},
	Count:   {expr.Number, "a whole number", ""},
	Array:   {expr.Array, "an array", "values(x) is the array of an object's values; an array is written [a, b]"},
	Object:  {expr.Object, "an object", `an object is written {"key": value}`},
	Strings: {expr.String | expr.Array, "a string or an array of strings", ""},
	Schema:  {expr.Object | expr.Bool | expr.String, "a schema, which is an object, or the path of a file", ""},
}

// fitsForm compares a value with what the attribute takes; false: that was wrong, and said.
func (r *resolver) fitsForm(row *Attribute, a *syntax.Attr, arg Arg, typ *expr.Type) bool {
	want, ok := formKinds[row.Form]
	if !ok {
		return true
	}
	if arg.Expr == nil && want.kinds&expr.String == 0 {
		hint := "write " + a.Name + "={…}"
		if _, err := strconv.ParseInt(a.Value, 10, 64); err == nil && row.Form == Count {
			hint = "write " + a.Name + "={" + a.Value + "}"
		}
		r.diags.Add(CodeAttributeValue, a.ValueSpan, a.Name+" is "+want.what+", not a string", hint)
		return false
	}
	if !typ.Can(want.kinds) {
		hint := want.hint
		if row.Form == Cond {
			hint = "compare it: " + a.Name + "={x == …}"
		}
		r.diags.Add(CodeAttributeValue, a.ValueSpan, a.Name+" must be "+want.what+", is "+typ.String(), hint)
		return false
	}
	switch row.Form {
	case Count:
		return r.count(row, a, arg)
	case Word:
		return r.oneOf(row, a, arg)
	case Strings:
		return r.strings(a, typ)
	}
	return true
}

// count checks a whole number that is written out.
func (r *resolver) count(row *Attribute, a *syntax.Attr, arg Arg) bool {
	v, ok := arg.Expr.Const()
	if !ok {
		return true
	}
	n, whole := v.(int64)
	if f, ok := v.(float64); ok && f == math.Trunc(f) { // what is beyond int64: any limit says what is wrong
		n, whole = math.MaxInt64, f > 0
	}
	what, hint := "", ""
	switch {
	case !whole:
		what = "must be a whole number"
	case n < row.Min && row.Min == 1:
		what, hint = "must be 1 or more", "nothing runs without end: give the largest number"
	case n < row.Min:
		what = "cannot be negative"
	case row.Max > 0 && n > row.Max:
		what = "can be at most " + strconv.FormatInt(row.Max, 10)
	default:
		return true
	}
	r.diags.Add(CodeBound, a.ValueSpan, a.Name+" "+what+", is "+expr.JSON(v), hint)
	return false
}

// oneOf checks a word of a closed list, which must be known before the run.
func (r *resolver) oneOf(row *Attribute, a *syntax.Attr, arg Arg) bool {
	list := strings.Join(row.Words, " or ")
	word, ok := constant(arg)
	if !ok {
		r.diags.Add(CodeAttributeValue, a.ValueSpan, a.Name+" must be written out", "it is "+list)
		return false
	}
	for _, w := range row.Words {
		if word == w {
			return true
		}
	}
	hint := "it is " + list
	if near := expr.DidYouMean(word, row.Words); near != "" {
		hint = near
	}
	r.diags.Add(CodeAttributeValue, a.ValueSpan, a.Name+" cannot be "+strconv.Quote(word), hint)
	return false
}

// strings checks the items of an array of strings.
func (r *resolver) strings(a *syntax.Attr, typ *expr.Type) bool {
	if typ == nil || typ.Kinds != expr.Array || typ.Elem.Can(expr.String) {
		return true
	}
	r.diags.Add(CodeAttributeValue, a.ValueSpan, a.Name+" must be a string or an array of strings, each item is "+typ.Elem.String(), "")
	return false
}

// duration reads a duration that is written out; written is false if an expression computes it.
func (r *resolver) duration(arg Arg) (ms int64, written bool) {
	text, written := constant(arg)
	if !written {
		return 0, false
	}
	ms, err := Duration(text)
	if err != nil {
		r.diags.Add(CodeDuration, arg.Pos, err.Error(), "")
	}
	return ms, true
}

func (r *resolver) flag(e *Element, a *syntax.Attr) {
	switch a.Kind {
	case syntax.AttrTrue:
		e.set(a.Name, true)
	case syntax.AttrString:
		r.diags.Add(CodeAttributeValue, a.ValueSpan, a.Name+" is true or false, not a string", "write "+a.Name+" alone")
	case syntax.AttrExpr:
		x, typ := r.expression(a)
		if x == nil || !r.fitsForm(&Attribute{Form: Cond}, a, Arg{Expr: x}, typ) {
			return
		}
		if v, ok := x.Const(); ok {
			e.set(a.Name, v == true)
			return
		}
		e.Args = append(e.Args, NamedArg{a.Name, Arg{Given: true, Expr: x, Pos: a.ValueSpan}})
	}
}

// nameAttribute reads as="name" and let="name".
func (r *resolver) nameAttribute(e *Element, a *syntax.Attr) {
	if a.Kind != syntax.AttrString {
		r.diags.Add(CodeAttributeValue, a.Pos, a.Name+" takes a name in quotes", "write "+a.Name+`="name"`)
		return
	}
	if bad := badName(a.Value); bad != "" {
		r.diags.Add(CodeBadName, a.ValueSpan, bad, "")
		return
	}
	if a.Name == "let" {
		e.Let = a.Value
		return
	}
	e.As = a.Value
}

// literal reads a string that names something before the run.
func (r *resolver) literal(e *Element, el *syntax.Element, a *syntax.Attr) {
	if a.Kind != syntax.AttrString {
		r.diags.Add(CodeAttributeValue, a.Pos, a.Name+" of "+el.Name+" takes a name in quotes", "write "+a.Name+`="name"`)
		return
	}
	if a.Name == "slot" {
		r.slotName(e, a)
		return
	}
	e.Args = append(e.Args, NamedArg{a.Name, Arg{Given: true, Literal: a.Value, Pos: a.ValueSpan}})
}
