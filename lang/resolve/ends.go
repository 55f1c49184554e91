package resolve

import (
	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// output resolves Output.
func (r *resolver) output(el *syntax.Element, p place) (ends bool) {
	switch {
	case r.entry:
		r.diags.Add(CodeOutput, tagSpan(el), "Output belongs in a file, not in an entry", "")
	case !p.root:
		r.diags.Add(CodeOutput, tagSpan(el), "Output stands only directly in the document", "move it out of the elements around it")
	case r.info.value:
		r.diags.Add(CodeOutput, tagSpan(el), "a document with returns: has no Output", "it prints the value that Return gives, and nothing else")
	}
	r.info.Regions = true
	return r.nodes(el.Body, place{captured: p.captured})
}

// returns resolves Return, which ends its document.
func (r *resolver) returns(el *syntax.Element, e *Element, p place) (ends bool) {
	if r.firstReturn == nil {
		r.firstReturn = el
	}
	r.fitsSchema("the value", e.Arg("value"), r.info.Returns)
	switch {
	case r.entry:
		r.diags.Add(CodeReturn, tagSpan(el), "Return belongs in a file, not in an entry", "")
	case !p.returns:
		r.diags.Add(CodeReturn, tagSpan(el), "Return stands only at the top or in If, Else, Try, Catch", "bind the value with <Let> and return it behind the element")
	case !r.info.value && r.info.front:
		r.diags.Add(CodeReturn, tagSpan(el), "Return needs returns: in the frontmatter", "declare the value's schema there: returns: {type: object}")
	default:
		return true
	}
	return false
}

// returned checks at the end of a document with returns: that every path came to a Return.
func (r *resolver) returned(ends bool) {
	if !r.info.value || ends || r.entry {
		return
	}
	summary, hint := "the document has returns: and no Return", "end it with <Return value={…}/>"
	var related []diag.Related
	if r.firstReturn != nil {
		summary = "not every path of the document comes to a Return"
		hint = "put one behind the last element, or one in each arm"
		related = append(related, diag.Related{Summary: "this one is not always reached", Span: tagSpan(r.firstReturn)})
	}
	r.diags.Add(CodeReturn, r.returnsAt, summary, hint, related...)
}

// misfit says where a value of type t can never have type want; "" if it may.
func misfit(what string, t, want *expr.Type) string {
	if t == nil || want == nil {
		return ""
	}
	if !want.Can(t.Kinds) {
		return what + " must be " + want.String() + ", is " + t.String()
	}
	if t.Kinds != expr.Object || want.Kinds&^expr.Null != expr.Object {
		return ""
	}
	for _, name := range fieldNames(want) {
		if f, ok := t.Fields[name]; ok {
			if bad := misfit(name, f, want.Fields[name]); bad != "" {
				return bad
			}
		}
	}
	return ""
}
