package schema

import (
	"regexp"
	"slices"
	"strings"

	"xmd/lang/expr"
)

// lint checks a schema itself. The faults are errors if fatal, else warnings.
func lint(v any) (faults []Fault, fatal bool) {
	if m, ok := v.(map[string]any); ok {
		if draft, ok := m["$schema"].(string); ok && strings.TrimSuffix(draft, "#") != Draft {
			return []Fault{{At: []any{"$schema"}, Message: "is " + quote(draft) + "; schemas are read as JSON Schema 2020-12",
				Hint: "leave $schema out, or write " + Draft}}, true
		}
	}
	if faults := metaschema().Validate(v); len(faults) > 0 {
		return faults, true
	}
	l := &linter{doc: newDocument(v)}
	each(v, nil, l.schema)
	if len(l.errors) > 0 {
		return l.errors, true
	}
	if at, ok := findCycle(v); ok {
		return []Fault{{At: at, Message: "refers to itself for the same value, which has no end",
			Hint: "a schema may refer to itself for members and items only"}}, true
	}
	return l.warnings, false
}

type linter struct {
	doc              *document
	errors, warnings []Fault
}

func (l *linter) schema(s map[string]any, at []any) {
	if p, ok := s["pattern"].(string); ok {
		l.pattern(p, join(at, "pattern"))
	}
	if m, ok := s["patternProperties"].(map[string]any); ok {
		for _, p := range sorted(m) {
			l.pattern(p, join(join(at, "patternProperties"), p))
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		l.reference(s, ref, join(at, "$ref"))
	}
	for _, k := range sorted(s) {
		if !slices.Contains(keywords(), k) && !strings.HasPrefix(k, "x-") {
			l.warnings = append(l.warnings, Fault{At: join(at, k), Message: "is no keyword of JSON Schema and has no effect",
				Hint: expr.DidYouMean(k, keywords())})
		}
	}
}

func (l *linter) pattern(p string, at []any) {
	if _, err := regexp.Compile(p); err != nil {
		l.errors = append(l.errors, Fault{At: at,
			Message: "is not a valid pattern: " + strings.TrimPrefix(err.Error(), "error parsing regexp: "),
			Hint:    "patterns are RE2: no look-around and no references back"})
	}
}

func (l *linter) reference(s map[string]any, ref string, at []any) {
	if _, ok := l.doc.target(s, ref); ok || strings.TrimSuffix(ref, "#") == Draft {
		return
	}
	if !strings.HasPrefix(ref, "#") {
		l.errors = append(l.errors, Fault{At: at, Message: "refers to " + quote(ref) + ", outside the schema",
			Hint: "references reach only into the schema itself: #/$defs/NAME"})
		return
	}
	f := Fault{At: at, Message: "refers to " + quote(ref) + ", which is not there"}
	if root, ok := l.doc.value.(map[string]any); ok {
		var names []string
		for _, holder := range []string{"$defs", "definitions"} {
			defs, _ := root[holder].(map[string]any)
			for _, name := range sorted(defs) {
				names = append(names, "#/"+holder+"/"+name)
			}
		}
		f.Hint = expr.DidYouMean(ref, names)
	}
	l.errors = append(l.errors, f)
}

// keywords are all keywords of the draft, in key order.
func keywords() []string {
	props, _ := metaschema().value.(map[string]any)["properties"].(map[string]any)
	return sorted(props)
}
