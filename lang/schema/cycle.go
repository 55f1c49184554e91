package schema

import "strings"

// A schema that applies itself to the same value (a $ref to itself through allOf, say) never ends: the library would use up
// the stack, which no recover catches. So it is looked for before the library gets to see the schema.

// inPlace are the keywords whose subschemas judge the value that the schema itself judges.
var (
	inPlaceOne  = []string{"not", "if", "then", "else"}
	inPlaceList = []string{"allOf", "anyOf", "oneOf"}
)

// cycles searches the graph of schemas that judge the same value.
type cycles struct {
	doc   *document
	state map[uintptr]uint8
}

const (
	visiting uint8 = iota + 1
	done
)

// findCycle gives the place of a reference that closes a circle; ok is false if there is none.
func findCycle(v any) (at []any, ok bool) {
	c := &cycles{doc: newDocument(v), state: map[uintptr]uint8{}}
	each(v, nil, func(s map[string]any, place []any) {
		if ok {
			return
		}
		if c.visit(s) {
			at, ok = place, true
		}
	})
	return at, ok
}

// visit reports whether s leads back to a schema that is being visited.
func (c *cycles) visit(s map[string]any) bool {
	id := identity(s)
	switch c.state[id] {
	case visiting:
		return true
	case done:
		return false
	}
	c.state[id] = visiting
	for _, next := range c.next(s) {
		if m, ok := next.(map[string]any); ok && c.visit(m) {
			return true
		}
	}
	c.state[id] = done
	return false
}

func (c *cycles) next(s map[string]any) []any {
	var list []any
	for _, k := range inPlaceOne {
		list = append(list, s[k])
	}
	for _, k := range inPlaceList {
		subs, _ := s[k].([]any)
		list = append(list, subs...)
	}
	schemas, _ := s["dependentSchemas"].(map[string]any)
	for _, k := range sorted(schemas) {
		list = append(list, schemas[k])
	}
	if ref, ok := s["$ref"].(string); ok {
		target, _ := c.doc.target(s, ref)
		list = append(list, target)
	}
	if ref, ok := s["$dynamicRef"].(string); ok {
		target, _ := c.doc.target(s, ref)
		list = append(list, target)
		// Which of the schemas of this name is meant depends on the way there: any of them may be.
		if _, name, ok := strings.Cut(ref, "#"); ok {
			list = append(list, c.doc.dynamic[name]...)
		}
	}
	return list
}
