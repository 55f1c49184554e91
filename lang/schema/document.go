package schema

import (
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"xmd/lang/expr"
)

// document is a whole schema, in which references are looked up.
type document struct {
	value    any
	bases    map[uintptr]*url.URL // of each subschema: what references in it are relative to
	named    map[string]any       // schemas by $id and by $id#anchor
	dynamic  map[string][]any     // schemas by $dynamicAnchor
	patterns map[string]*regexp.Regexp
}

func newDocument(v any) *document {
	d := &document{value: v, bases: map[uintptr]*url.URL{}, named: map[string]any{"": v}, dynamic: map[string][]any{},
		patterns: map[string]*regexp.Regexp{}}
	d.index(v, &url.URL{})
	each(v, nil, func(s map[string]any, _ []any) {
		if p, ok := s["pattern"].(string); ok {
			d.pattern(p)
		}
		if m, ok := s["patternProperties"].(map[string]any); ok {
			for p := range m {
				d.pattern(p)
			}
		}
	})
	return d
}

// index notes the names of a schema and of all in it.
func (d *document) index(v any, base *url.URL) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	if id, ok := s["$id"].(string); ok {
		if u, err := base.Parse(id); err == nil {
			u.Fragment = ""
			base = u
			d.named[u.String()] = s
		}
	}
	d.bases[identity(s)] = base
	for _, k := range []string{"$anchor", "$dynamicAnchor"} {
		if a, ok := s[k].(string); ok {
			d.named[base.String()+"#"+a] = s
		}
	}
	if a, ok := s["$dynamicAnchor"].(string); ok {
		d.dynamic[a] = append(d.dynamic[a], s)
	}
	children(s, func(sub any, _ ...any) { d.index(sub, base) })
}

// identity tells objects apart, which Go does not compare.
func identity(m map[string]any) uintptr { return reflect.ValueOf(m).Pointer() }

// pattern compiles each pattern once, while the document is made; afterwards the map is only read.
func (d *document) pattern(p string) {
	if re, err := regexp.Compile(p); err == nil {
		d.patterns[p] = re
	}
}

// target finds what a reference in the schema from stands for; ok is false if it is not in the document.
func (d *document) target(from map[string]any, ref string) (any, bool) {
	base := d.bases[identity(from)]
	if base == nil {
		base = &url.URL{}
	}
	u, err := base.Parse(ref)
	if err != nil {
		return nil, false
	}
	fragment := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	if fragment != "" && !strings.HasPrefix(fragment, "/") {
		v, ok := d.named[u.String()+"#"+fragment]
		return v, ok
	}
	v, ok := d.named[u.String()]
	if !ok {
		return nil, false
	}
	return pointer(v, fragment)
}

func pointer(v any, p string) (any, bool) {
	for _, step := range strings.Split(p, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// How keywords hold subschemas.
var (
	holdsOne  = []string{"additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
	holdsList = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	holdsMap  = []string{"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)

// each goes through a schema and all schemas in it, in key order of the keywords of one kind.
func each(v any, at []any, visit func(s map[string]any, at []any)) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	visit(s, at)
	children(s, func(sub any, steps ...any) { each(sub, append(slices.Clip(at), steps...), visit) })
}

// children calls do for each schema directly in s, with the steps that lead there.
func children(s map[string]any, do func(sub any, steps ...any)) {
	for _, k := range holdsOne {
		if sub, ok := s[k]; ok {
			do(sub, k)
		}
	}
	for _, k := range holdsList {
		list, _ := s[k].([]any)
		for i, sub := range list {
			do(sub, k, int64(i))
		}
	}
	for _, k := range holdsMap {
		m, _ := s[k].(map[string]any)
		for _, name := range sorted(m) {
			do(m[name], k, name)
		}
	}
}

// sorted lists the keys of an object in key order.
func sorted(m map[string]any) []string { return expr.Keys(m) }
