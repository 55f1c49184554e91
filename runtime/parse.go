package runtime

import (
	"context"

	"xmd/lang/layout"
	"xmd/lang/plan"
)

// parse runs one <Parse> or <SafeParse>: the value in the rendered body, read as leniently as a structured reply, and checked.
// SafeParse gives {ok: true, value} or {ok: false, input, errors}, where errors is a list of {path, message}.
func (r *Runner) parse(ctx context.Context, n *plan.Parse, at place, out layout.Sink) error {
	want, err := at.schema(n.Schema, n.Step)
	if err != nil {
		return err
	}
	text, err := r.capture(ctx, n.Body, at)
	if err != nil {
		return err
	}
	found := readValue(text, want)
	switch {
	case n.Safe && len(found.faults) > 0:
		return at.put(n.As, map[string]any{"ok": false, "input": text, "errors": faultValues(found.faults)}, out)
	case n.Safe:
		return at.put(n.As, map[string]any{"ok": true, "value": found.value}, out)
	case len(found.faults) > 0:
		return thrown(Errorf(KindFailed, "the text of Parse does not fit: %s", faultList(found.faults, 5)), at.where(n.Step))
	}
	return at.put(n.As, found.value, out)
}
