package resolve

import (
	"net/url"
	"slices"
	"strings"

	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// fetched is the type of what Fetch binds.
var fetched = object(map[string]*expr.Type{"status": expr.Of(expr.Number), "headers": expr.Of(expr.Object), "body": expr.Of(expr.String)})

// effect resolves the components that read, write, ask and convert.
func (r *resolver) effect(el *syntax.Element, e *Element, p place) (ends bool) {
	captured := place{captured: true}
	switch el.Name {
	case "File":
		if e.As != "" && !el.SelfClosing {
			r.diags.Add(CodeBody, attrSpan(el, "as"), "File has both as and a body", "with a body it writes the file; with as it reads it: <File path=… as=…/>")
		}
		ends = r.nodes(el.Body, captured)
		r.bind(el, e, expr.Of(expr.String))
	case "Glob":
		r.bind(el, e, &expr.Type{Kinds: expr.Array, Elem: expr.Of(expr.String)})
	case "TempDir":
		r.bind(el, e, expr.Of(expr.String))
		ends = r.nodes(el.Body, p)
	case "Json":
		r.bind(el, e, expr.Of(expr.String))
	case "Parse":
		ends = r.nodes(el.Body, captured)
		r.bind(el, e, e.Schema.typ())
	case "SafeParse":
		ends = r.nodes(el.Body, captured)
		r.bind(el, e, object(map[string]*expr.Type{"ok": expr.Of(expr.Bool), "value": expr.Nullable(e.Schema.typ()),
			"input": expr.Of(expr.String | expr.Null), "errors": expr.Of(expr.Array | expr.Null)}))
	case "Fetch":
		r.address(e.Arg("url"))
		r.bind(el, e, fetched)
	case "Elicit":
		r.elicit(el, e)
		ends = r.nodes(el.Body, captured)
		r.bind(el, e, answerType(el, e))
	}
	return ends
}

// address checks an address that is written out.
func (r *resolver) address(a Arg) {
	text, ok := constant(a)
	if !ok {
		return
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.diags.Add(CodeAttributeValue, a.Pos, "url is no address of a page", "write https://… or http://…")
	}
}

// elicit checks what a question takes as its answer.
func (r *resolver) elicit(el *syntax.Element, e *Element) {
	if hasAttr(el, "schema") && hasAttr(el, "choices") {
		r.diags.Add(CodeAttributeValue, attrSpan(el, "choices"), "Elicit has both schema and choices", "leave one of them out")
		return
	}
	byDefault := e.Arg("default")
	if e.Schema != nil {
		r.fitsSchema("the default", byDefault, e.Schema.Schema)
	}
	choices, known := e.Arg("choices").Const()
	list, isList := choices.([]any)
	if !known || !isList {
		return
	}
	if len(list) == 0 {
		r.diags.Add(CodeAttributeValue, e.Arg("choices").Pos, "choices is empty", "list the answers to choose from")
		return
	}
	v, ok := byDefault.Const()
	if ok && !slices.ContainsFunc(list, func(c any) bool { return expr.JSON(c) == expr.JSON(v) }) {
		r.diags.Add(CodeSchemaValue, byDefault.Pos, "the default "+expr.JSON(v)+" is none of the choices", "they are "+expr.JSON(choices))
	}
}

// answerType is the type of an answer.
func answerType(el *syntax.Element, e *Element) *expr.Type {
	if hasAttr(el, "schema") {
		return e.Schema.typ()
	}
	if !hasAttr(el, "choices") {
		return expr.Of(expr.String)
	}
	if v, ok := e.Arg("choices").Const(); ok {
		if t := expr.TypeOf(v); t.Kinds == expr.Array {
			return t.Elem
		}
	}
	return nil
}
