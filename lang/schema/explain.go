package schema

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"xmd/lang/expr"
)

// explainer finds words for what is wrong with a value. It never decides whether something is wrong.
type explainer struct {
	doc    *document
	faults []Fault
	// partial: a keyword was met that it cannot judge, so that having no faults says nothing.
	partial bool
	depth   int
	left    *int // steps; shared with the explainers of subschemas
}

// Bounds of one explanation: references may lead to themselves, and may double the work at each step.
const (
	maxDepth = 200
	maxSteps = 200_000
)

func (d *document) explain(v any) []Fault {
	left := maxSteps
	x := &explainer{doc: d, left: &left}
	x.value(d.value, v, nil)
	return x.faults
}

func (x *explainer) add(at []any, format string, args ...any) {
	x.faults = append(x.faults, Fault{At: at, Message: fmt.Sprintf(format, args...)})
}

// try explains a subschema apart: whether v fits it (as far as this can be told) and why not.
func (x *explainer) try(schema, v any, at []any) *explainer {
	sub := &explainer{doc: x.doc, depth: x.depth, left: x.left}
	sub.value(schema, v, at)
	return sub
}

// fits: no fault and nothing left out.
func (x *explainer) fits() bool { return len(x.faults) == 0 && !x.partial }

func (x *explainer) value(schema, v any, at []any) {
	if schema == false {
		x.add(at, "is not allowed")
		return
	}
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if *x.left--; *x.left < 0 || x.depth >= maxDepth {
		x.partial = true
		return
	}
	x.depth++
	defer func() { x.depth-- }()
	for _, k := range []string{"$dynamicRef", "unevaluatedItems", "unevaluatedProperties", "dependencies"} {
		if _, ok := s[k]; ok {
			x.partial = true
		}
	}
	x.reference(s, v, at)
	before := len(x.faults)
	x.kind(s, v, at)
	if len(x.faults) > before {
		return // of a value of the wrong kind nothing else is worth saying
	}
	x.enum(s, v, at)
	switch v := v.(type) {
	case int64, float64:
		x.number(s, v, at)
	case string:
		x.text(s, v, at)
	case []any:
		x.array(s, v, at)
	case map[string]any:
		x.object(s, v, at)
	}
	x.logic(s, v, at)
}

func (x *explainer) reference(s map[string]any, v any, at []any) {
	ref, ok := s["$ref"].(string)
	if !ok {
		return
	}
	if target, ok := x.doc.target(s, ref); ok {
		x.value(target, v, at)
		return
	}
	x.partial = true
}

func (x *explainer) kind(s map[string]any, v any, at []any) {
	var want []string
	switch t := s["type"].(type) {
	case string:
		want = []string{t}
	case []any:
		for _, e := range t {
			name, _ := e.(string)
			want = append(want, name)
		}
	default:
		return
	}
	for _, t := range want {
		if isKind(t, v) {
			return
		}
	}
	x.add(at, "must be %s, is %s", strings.Join(want, " or "), describe(v))
}

func isKind(t string, v any) bool {
	switch t {
	case "integer":
		switch v := v.(type) {
		case int64:
			return true
		case float64:
			return v == math.Trunc(v)
		}
		return false
	case "number":
		_, isInt := v.(int64)
		_, isFloat := v.(float64)
		return isInt || isFloat
	}
	return kindName(v) == t
}

func kindName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case int64, float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// describe says what a value is, with the value where it is short.
func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case []any, map[string]any:
		return kindName(v)
	}
	return kindName(v) + " (" + quote(v) + ")"
}

// quote writes a value on one line, cut where it is long.
func quote(v any) string {
	text := expr.JSON(v)
	if utf8.RuneCountInString(text) <= 60 {
		return text
	}
	return string([]rune(text)[:57]) + "…"
}

func (x *explainer) enum(s map[string]any, v any, at []any) {
	if want, ok := s["const"]; ok && !expr.Equal(want, v) {
		x.add(at, "must be %s, is %s", quote(want), quote(v))
	}
	list, ok := s["enum"].([]any)
	if !ok {
		return
	}
	var names []string
	for _, e := range list {
		if expr.Equal(e, v) {
			return
		}
		names = append(names, quote(e))
	}
	if len(names) == 1 {
		x.add(at, "must be %s, is %s", names[0], quote(v))
		return
	}
	x.add(at, "must be one of %s, is %s", strings.Join(names, ", "), quote(v))
}
