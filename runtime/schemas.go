package runtime

import (
	"strings"
	"time"

	"xmd/lang/plan"
	"xmd/lang/resolve"
	"xmd/lang/schema"
)

// schema is the schema of an attribute, compiled now where an expression computes it; nil when it is not given.
func (at place) schema(a plan.SchemaArg, s plan.Step) (*schema.Schema, error) {
	if !a.Given || a.Schema != nil {
		return a.Schema, nil
	}
	v, err := at.value(a.Expr, s)
	if err != nil {
		return nil, err
	}
	compiled, faults := schema.Compile(v)
	if compiled == nil {
		return nil, at.wrong(a.Expr, s, "the schema cannot be used: %s", faultList(faults, 5))
	}
	return compiled, nil
}

// duration is the timeout of a step: fixed in the document, or computed; 0 for none.
func (at place) duration(ms int64, a plan.Arg, s plan.Step) (time.Duration, error) {
	if a.Given {
		text, err := at.text(a, s, "timeout")
		if err != nil {
			return 0, err
		}
		if ms, err = resolve.Duration(text); err != nil {
			return 0, at.wrong(a, s, "timeout: %w", err)
		}
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// faultList puts faults on one line, the first few of them.
func faultList(faults []schema.Fault, limit int) string {
	return strings.ReplaceAll(schema.Lines(faults, limit), "\n", "; ")
}

// faultValues are faults as a document sees them: {path, message}, in order.
func faultValues(faults []schema.Fault) []any {
	list := make([]any, len(faults))
	for i, f := range faults {
		list[i] = map[string]any{"path": f.Path(), "message": f.Message}
	}
	return list
}

// reading is what was found in a text that should hold a value.
type reading struct {
	value  any
	faults []schema.Fault // nothing: the value fits
}

// readValue finds the value that a text holds and checks it; a nil schema takes every value. See findJSON for how it is found.
func readValue(text string, want *schema.Schema) reading {
	v, err := findJSON(text, want)
	if err != nil {
		return reading{faults: []schema.Fault{{Message: err.Error()}}}
	}
	if want == nil {
		return reading{value: v}
	}
	return reading{v, want.Validate(v)}
}
