package schema

import (
	"math"
	"strings"
	"unicode/utf8"

	"xmd/lang/expr"
)

func (x *explainer) number(s map[string]any, v any, at []any) {
	if m, ok := s["minimum"]; ok && expr.Less(v, m) {
		x.add(at, "must be at least %s, is %s", quote(m), quote(v))
	}
	if m, ok := s["maximum"]; ok && expr.Less(m, v) {
		x.add(at, "must be at most %s, is %s", quote(m), quote(v))
	}
	if m, ok := s["exclusiveMinimum"]; ok && !expr.Less(m, v) {
		x.add(at, "must be more than %s, is %s", quote(m), quote(v))
	}
	if m, ok := s["exclusiveMaximum"]; ok && !expr.Less(v, m) {
		x.add(at, "must be less than %s, is %s", quote(m), quote(v))
	}
	if m, ok := s["multipleOf"]; ok && !isMultiple(v, m) {
		x.add(at, "must be a multiple of %s, is %s", quote(m), quote(v))
	}
}

// isMultiple computes as the library does, with floats: what it accepts must not be called wrong here.
func isMultiple(v, m any) bool {
	_, fraction := math.Modf(float(v) / float(m))
	return fraction == 0
}

func float(v any) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	f, _ := v.(float64)
	return f
}

// count reports a number of things outside its limits.
func (x *explainer) count(s map[string]any, low, high string, n int, thing string, at []any) {
	if m, ok := s[low]; ok && expr.Less(int64(n), m) {
		x.add(at, "must have at least %s %s, has %d", quote(m), plural(thing, m), n)
	}
	if m, ok := s[high]; ok && expr.Less(m, int64(n)) {
		x.add(at, "must have at most %s %s, has %d", quote(m), plural(thing, m), n)
	}
}

func plural(thing string, n any) string {
	if expr.Equal(n, int64(1)) {
		return thing
	}
	if base, ok := strings.CutSuffix(thing, "y"); ok {
		return base + "ies"
	}
	return thing + "s"
}

func (x *explainer) text(s map[string]any, v string, at []any) {
	x.count(s, "minLength", "maxLength", utf8.RuneCountInString(v), "character", at)
	p, ok := s["pattern"].(string)
	if !ok {
		return
	}
	if re := x.doc.patterns[p]; re != nil && !re.MatchString(v) {
		x.add(at, "must match %s, is %s", p, quote(v))
	}
}

func (x *explainer) array(s map[string]any, v []any, at []any) {
	x.count(s, "minItems", "maxItems", len(v), "item", at)
	if s["uniqueItems"] == true {
		x.unique(v, at)
	}
	prefix, _ := s["prefixItems"].([]any)
	rest, more := s["items"]
	for i, e := range v {
		place := join(at, int64(i))
		switch {
		case i < len(prefix):
			x.value(prefix[i], e, place)
		case more && rest == false:
			x.add(at, "must have at most %d %s, has %d", len(prefix), plural("item", int64(len(prefix))), len(v))
			more = false
		case more:
			x.value(rest, e, place)
		}
	}
	x.contains(s, v, at)
}

func (x *explainer) unique(v []any, at []any) {
	for i := range v {
		for j := range i {
			if expr.Equal(v[i], v[j]) {
				x.add(at, "items must differ, items %d and %d are the same", j, i)
				return
			}
		}
	}
}

func (x *explainer) contains(s map[string]any, v []any, at []any) {
	want, ok := s["contains"]
	if !ok {
		return
	}
	n := 0
	for i, e := range v {
		sub := x.try(want, e, join(at, int64(i)))
		if sub.partial {
			x.partial = true
			return
		}
		if sub.fits() {
			n++
		}
	}
	least, ok := s["minContains"]
	if !ok {
		least = int64(1)
	}
	if expr.Less(int64(n), least) {
		x.add(at, "must hold at least %s %s of the kind wanted, holds %d", quote(least), plural("item", least), n)
	}
	if most, ok := s["maxContains"]; ok && expr.Less(most, int64(n)) {
		x.add(at, "must hold at most %s %s of the kind wanted, holds %d", quote(most), plural("item", most), n)
	}
}

func (x *explainer) object(s map[string]any, v map[string]any, at []any) {
	x.count(s, "minProperties", "maxProperties", len(v), "property", at)
	required, _ := s["required"].([]any)
	for _, r := range required {
		if name, ok := r.(string); ok {
			if _, there := v[name]; !there {
				x.add(at, "%s is missing", quote(name))
			}
		}
	}
	if names, ok := s["propertyNames"]; ok {
		for _, k := range sorted(v) {
			if sub := x.try(names, k, at); len(sub.faults) > 0 {
				x.add(at, "the name %s is not allowed: %s", quote(k), sub.faults[0].Message)
			}
		}
	}
	x.members(s, v, at)
	x.dependent(s, v, at)
}

// members looks at each property by what is said of its name.
func (x *explainer) members(s map[string]any, v map[string]any, at []any) {
	props, _ := s["properties"].(map[string]any)
	patterns, _ := s["patternProperties"].(map[string]any)
	rest, closed := s["additionalProperties"]
	for _, k := range sorted(v) {
		place := join(at, k)
		sub, known := props[k]
		if known {
			x.value(sub, v[k], place)
		}
		for _, p := range sorted(patterns) {
			if re := x.doc.patterns[p]; re != nil && re.MatchString(k) {
				known = true
				x.value(patterns[p], v[k], place)
			}
		}
		switch {
		case known || !closed:
		case rest == false:
			x.notAllowed(k, props, at)
		default:
			x.value(rest, v[k], place)
		}
	}
}

func (x *explainer) notAllowed(name string, props map[string]any, at []any) {
	hint := expr.DidYouMean(name, sorted(props))
	text := quote(name) + " is not allowed"
	if len(props) > 0 {
		text += "; allowed: " + strings.Join(sorted(props), ", ")
	}
	x.faults = append(x.faults, Fault{At: at, Message: text, Hint: hint})
}

func (x *explainer) dependent(s map[string]any, v map[string]any, at []any) {
	needs, _ := s["dependentRequired"].(map[string]any)
	for _, k := range sorted(needs) {
		list, _ := needs[k].([]any)
		if _, there := v[k]; !there {
			continue
		}
		for _, r := range list {
			if name, ok := r.(string); ok {
				if _, there := v[name]; !there {
					x.add(at, "%s is missing, which %s needs", quote(name), quote(k))
				}
			}
		}
	}
	schemas, _ := s["dependentSchemas"].(map[string]any)
	for _, k := range sorted(schemas) {
		if _, there := v[k]; there {
			x.value(schemas[k], v, at)
		}
	}
}
