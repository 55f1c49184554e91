package expr

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// function is one function of the language. What it takes is checked before do is called.
type function struct {
	takes []Kind // of each argument
	least int    // how many are needed
	usage string // for messages: "a string and a separator"
	gives *Type
	typ   func(args []*Type) *Type // instead of gives, where the result depends on the arguments
	do    func(args []any) (v any, problem string)
}

// predicates are the functions whose second argument is evaluated for each item.
var predicates = map[string]bool{"map": true, "filter": true, "any": true, "all": true}

var functions = map[string]*function{
	"len": {takes: []Kind{String | Array | Object}, least: 1, usage: "a string, an array or an object", gives: Of(Number), do: length},
	"lower": {takes: []Kind{String}, least: 1, usage: "a string", gives: Of(String),
		do: func(a []any) (any, string) { return strings.ToLower(a[0].(string)), "" }},
	"upper": {takes: []Kind{String}, least: 1, usage: "a string", gives: Of(String),
		do: func(a []any) (any, string) { return strings.ToUpper(a[0].(string)), "" }},
	"trim": {takes: []Kind{String}, least: 1, usage: "a string", gives: Of(String),
		do: func(a []any) (any, string) { return strings.TrimSpace(a[0].(string)), "" }},
	"split": {takes: []Kind{String, String}, least: 2, usage: "a string and a separator",
		gives: &Type{Kinds: Array, Elem: Of(String)}, do: split},
	"join":   {takes: []Kind{Array, String}, least: 1, usage: "an array and a separator", gives: Of(String), do: join},
	"keys":   {takes: []Kind{Object}, least: 1, usage: "an object", gives: &Type{Kinds: Array, Elem: Of(String)}, do: keys},
	"values": {takes: []Kind{Object}, least: 1, usage: "an object", gives: Of(Array), do: values},
	"first": {takes: []Kind{Array | Null}, least: 1, usage: "an array", typ: itemType,
		do: func(a []any) (any, string) { return index(a[0], 0) }},
	"last": {takes: []Kind{Array | Null}, least: 1, usage: "an array", typ: itemType, do: last},
	"string": {takes: []Kind{Any}, least: 1, usage: "one value", gives: Of(String),
		do: func(a []any) (any, string) { return Render(a[0]), "" }},
	"json": {takes: []Kind{Any}, least: 1, usage: "one value", gives: Of(String),
		do: func(a []any) (any, string) { return JSON(a[0]), "" }},
	"fromJSON": {takes: []Kind{String}, least: 1, usage: "a string", do: fromJSON},
}

// functionNames lists what can be called, as the specification does.
func functionNames() []string {
	return []string{"len", "lower", "upper", "trim", "split", "join", "keys", "values", "map", "filter", "any", "all",
		"first", "last", "string", "json", "fromJSON"}
}

func length(a []any) (any, string) {
	switch v := a[0].(type) {
	case string:
		return int64(utf8.RuneCountInString(v)), ""
	case []any:
		return int64(len(v)), ""
	case map[string]any:
		return int64(len(v)), ""
	}
	return nil, "len wants a string, an array or an object"
}

func split(a []any) (any, string) {
	parts := strings.Split(a[0].(string), a[1].(string))
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return out, ""
}

func join(a []any) (any, string) {
	sep := ""
	if len(a) > 1 {
		sep = a[1].(string)
	}
	var b strings.Builder
	for i, v := range a[0].([]any) {
		if kindOf(v)&(Array|Object) != 0 {
			return nil, "join wants strings, item " + strconv.Itoa(i) + " is " + KindName(v)
		}
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(Render(v))
	}
	return b.String(), ""
}

func keys(a []any) (any, string) {
	names := Keys(a[0].(map[string]any))
	out := make([]any, len(names))
	for i, k := range names {
		out[i] = k
	}
	return out, ""
}

func values(a []any) (any, string) {
	m := a[0].(map[string]any)
	out := make([]any, 0, len(m))
	for _, k := range Keys(m) {
		out = append(out, m[k])
	}
	return out, ""
}

func last(a []any) (any, string) {
	list, _ := a[0].([]any)
	return index(a[0], int64(len(list))-1)
}

func itemType(args []*Type) *Type {
	if args[0] == nil {
		return nil
	}
	return Nullable(args[0].Elem)
}

func fromJSON(a []any) (any, string) {
	v, err := ParseJSON(a[0].(string))
	if err != nil {
		return nil, "the text " + err.Error()
	}
	return v, ""
}
