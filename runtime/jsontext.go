package runtime

import (
	"context"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
)

// jsonText runs one <Json>: the value as two-space JSON text, in place or bound.
func (r *Runner) jsonText(_ context.Context, n *plan.Json, at place, out layout.Sink) error {
	v, err := at.value(n.Value, n.Step)
	if err != nil {
		return err
	}
	text := expr.Indented(v)
	if n.As != "" {
		at.vars.set(n.As, text)
		return nil
	}
	return out.Value(text)
}

// put binds a value, or renders it as two-space JSON where it has no name.
func (at place) put(name string, v any, out layout.Sink) error {
	if name != "" {
		at.vars.set(name, v)
		return nil
	}
	return out.Value(expr.Indented(v))
}
