package expr

import (
	"sort"
	"strings"
)

// Kind is a set of kinds of JSON values.
type Kind uint8

// The kinds of values. Whole numbers and others are one kind.
const (
	Null Kind = 1 << iota
	Bool
	Number
	String
	Array
	Object

	Any = Null | Bool | Number | String | Array | Object
)

// kindNames stand in the order in which messages list them.
var kindNames = []struct {
	kind Kind
	name string
}{{String, "a string"}, {Number, "a number"}, {Bool, "a boolean"}, {Array, "an array"}, {Object, "an object"}, {Null, "null"}}

// String names the kinds as messages do: "a string or null".
func (k Kind) String() string {
	if k&Any == Any {
		return "any value"
	}
	var names []string
	for _, n := range kindNames {
		if k&n.kind != 0 {
			names = append(names, n.name)
		}
	}
	switch len(names) {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Type is what is known of a value before anything runs. A nil *Type knows nothing. Types are shared and never changed.
type Type struct {
	Kinds  Kind
	Fields map[string]*Type // members that are known, if it is an object
	Closed bool             // it has no members but Fields
	Elem   *Type            // of each item, if it is an array
}

// Of is a type of the given kinds of which no more is known.
func Of(kinds Kind) *Type {
	if kinds&Any == Any {
		return nil
	}
	return &plainTypes[kinds]
}

// plainTypes are the types of which only the kinds are known. Types are never changed, so one of each is enough.
var plainTypes = func() (all [Any]Type) {
	for k := range all {
		all[k].Kinds = Kind(k)
	}
	return all
}()

// TypeOf is the type of a value. An object stays open: that a value lacks a member is no mistake, it is null then.
func TypeOf(v any) *Type {
	t := &Type{Kinds: kindOf(v)}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			if i == 0 {
				t.Elem = TypeOf(e)
			} else {
				t.Elem = Union(t.Elem, TypeOf(e))
			}
		}
	case map[string]any:
		t.Fields = make(map[string]*Type, len(v))
		for k, e := range v {
			t.Fields[k] = TypeOf(e)
		}
	}
	return t
}

// Union is the type of a value that has one of the two types.
func Union(a, b *Type) *Type {
	if a == nil || b == nil {
		return nil
	}
	if a == b {
		return a
	}
	u := &Type{Kinds: a.Kinds | b.Kinds}
	switch {
	case a.Kinds&Array == 0:
		u.Elem = b.Elem
	case b.Kinds&Array == 0:
		u.Elem = a.Elem
	default:
		u.Elem = Union(a.Elem, b.Elem)
	}
	switch {
	case a.Kinds&Object == 0:
		u.Fields, u.Closed = b.Fields, b.Closed
	case b.Kinds&Object == 0:
		u.Fields, u.Closed = a.Fields, a.Closed
	default:
		u.Closed = a.Closed && b.Closed
		u.Fields = unionFields(a, b)
	}
	return u
}

// unionFields keeps a member of which only one side knows, since the other may lack it: then it is null.
func unionFields(a, b *Type) map[string]*Type {
	fields := map[string]*Type{}
	for k, t := range a.Fields {
		if o, ok := b.Fields[k]; ok {
			fields[k] = Union(t, o)
		} else if b.Closed {
			fields[k] = Union(t, Of(Null))
		} else {
			fields[k] = nil
		}
	}
	for k, t := range b.Fields {
		if _, ok := a.Fields[k]; ok {
			continue
		}
		fields[k] = nil
		if a.Closed {
			fields[k] = Union(t, Of(Null))
		}
	}
	return fields
}

// Can reports whether a value of the type may be of one of the kinds.
func (t *Type) Can(k Kind) bool { return t == nil || t.Kinds&k != 0 }

// String names the type's kinds.
func (t *Type) String() string {
	if t == nil {
		return Any.String()
	}
	return t.Kinds.String()
}

// Nullable adds null to a type.
func Nullable(t *Type) *Type {
	if t == nil || t.Kinds&Null != 0 {
		return t
	}
	return Union(t, Of(Null))
}

// WithoutNull is what is left of a type where null was taken care of.
func (t *Type) WithoutNull() *Type {
	if t == nil || t.Kinds&Null == 0 || t.Kinds == Null {
		return t
	}
	u := *t
	u.Kinds &^= Null
	return &u
}

// member is the type of owner.name. The error has no span yet. owner is asked only for a message: spelling each step of
// a long path would be quadratic.
func (t *Type) member(owner func() string, name string) (*Type, *Error) {
	if t == nil {
		return nil, nil
	}
	solid := t.Kinds &^ Null
	switch {
	case solid == 0:
		return Of(Null), nil
	case solid == Array:
		return nil, &Error{Code: CodeMember, Message: owner() + " is an array and has no member " + name,
			Hint: "an item is " + owner() + "[0]"}
	case solid&Object == 0 && solid&Array == 0:
		return nil, &Error{Code: CodeMember, Message: owner() + " is " + solid.String() + " and has no member " + name}
	case solid != Object:
		return nil, nil
	}
	f, ok := t.Fields[name]
	if !ok && t.Closed {
		return nil, t.noMember(owner, name)
	}
	if t.Kinds&Null != 0 {
		f = Nullable(f)
	}
	return f, nil
}

func (t *Type) noMember(owner func() string, name string) *Error {
	names := make([]string, 0, len(t.Fields))
	for k := range t.Fields {
		names = append(names, k)
	}
	sort.Strings(names)
	hint := DidYouMean(name, names)
	switch {
	case hint != "":
	case len(names) == 0:
		hint = owner() + " is an empty object"
	case len(names) <= 12:
		hint = "it has: " + strings.Join(names, ", ")
	}
	return &Error{Code: CodeMember, Message: owner() + " has no member " + name, Hint: hint}
}

// index is the type of owner[i]. The error has no span yet.
func (t *Type) index(owner func() string) (*Type, *Error) {
	if t == nil {
		return nil, nil
	}
	solid := t.Kinds &^ Null
	switch {
	case solid == 0:
		return Of(Null), nil
	case solid == Array:
		return Nullable(t.Elem), nil
	case solid&Array == 0:
		return nil, &Error{Code: CodeMember, Message: owner() + " is " + solid.String() + " and has no items"}
	}
	return nil, nil
}
