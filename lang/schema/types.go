package schema

import (
	"slices"

	"xmd/lang/expr"
)

var kinds = map[string]expr.Kind{"null": expr.Null, "boolean": expr.Bool, "integer": expr.Number, "number": expr.Number,
	"string": expr.String, "array": expr.Array, "object": expr.Object}

// typer reads types out of a schema. left bounds the work, since references may double it at each step.
type typer struct {
	doc  *document
	left int
}

// typeOf gives what an expression may rely on about values of a subschema. refs are the references followed to get here:
// one that leads to itself says nothing.
func (d *typer) typeOf(schema any, refs []string) *expr.Type {
	s, ok := schema.(map[string]any)
	if d.left--; !ok || d.left < 0 {
		return nil
	}
	t := d.own(s, refs)
	if ref, ok := s["$ref"].(string); ok && !slices.Contains(refs, ref) && len(refs) < 50 {
		if target, ok := d.doc.target(s, ref); ok {
			t = intersect(t, d.typeOf(target, append(slices.Clip(refs), ref)))
		}
	}
	if list, ok := s["allOf"].([]any); ok {
		for _, sub := range list {
			t = intersect(t, d.typeOf(sub, refs))
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if list, ok := s[k].([]any); ok && len(list) > 0 {
			t = intersect(t, d.union(list, refs))
		}
	}
	return t
}

func (d *typer) union(list []any, refs []string) *expr.Type {
	u := d.typeOf(list[0], refs)
	for _, sub := range list[1:] {
		u = expr.Union(u, d.typeOf(sub, refs))
	}
	return u
}

// own is what the keywords of one schema say, without those that combine others.
func (d *typer) own(s map[string]any, refs []string) *expr.Type {
	if v, ok := s["const"]; ok {
		return expr.TypeOf(v)
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		t := expr.TypeOf(list[0])
		for _, e := range list[1:] {
			t = expr.Union(t, expr.TypeOf(e))
		}
		return t
	}
	k := kindsOf(s["type"])
	if k == expr.Any {
		return nil
	}
	t := &expr.Type{Kinds: k}
	if t.Kinds&expr.Array != 0 && s["prefixItems"] == nil {
		t.Elem = d.typeOf(s["items"], refs)
	}
	if t.Kinds&expr.Object != 0 {
		d.members(t, s, refs)
	}
	return t
}

func kindsOf(t any) expr.Kind {
	switch t := t.(type) {
	case string:
		return kinds[t]
	case []any:
		var k expr.Kind
		for _, e := range t {
			name, _ := e.(string)
			k |= kinds[name]
		}
		return k
	}
	return expr.Any
}

// members reads an object's properties. One that lists its properties is taken to have no others, although a schema must
// say so: a member that nobody spoke of is a mistake of spelling far more often.
func (d *typer) members(t *expr.Type, s map[string]any, refs []string) {
	props, _ := s["properties"].(map[string]any)
	t.Fields = make(map[string]*expr.Type, len(props))
	required, _ := s["required"].([]any)
	for _, name := range sorted(props) {
		f := d.typeOf(props[name], refs)
		if !slices.Contains(required, any(name)) {
			f = expr.Nullable(f)
		}
		t.Fields[name] = f
	}
	more, said := s["additionalProperties"]
	t.Closed = (len(props) > 0 && !said || more == false) && s["patternProperties"] == nil
}

// intersect is the type of a value that has both types.
func intersect(a, b *expr.Type) *expr.Type {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	k := a.Kinds & b.Kinds
	if k == 0 {
		return nil // such a value does not exist; nothing is to be said about it
	}
	t := &expr.Type{Kinds: k, Elem: a.Elem, Closed: a.Closed && b.Closed, Fields: map[string]*expr.Type{}}
	if t.Elem == nil {
		t.Elem = b.Elem
	}
	for name, f := range a.Fields {
		t.Fields[name] = f
	}
	for name, f := range b.Fields {
		t.Fields[name] = intersect(t.Fields[name], f)
	}
	return t
}
