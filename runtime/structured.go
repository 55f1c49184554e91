package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/schema"
)

// Retries of a prompt with a schema: how often it is asked again, by itself and at most.
const (
	defaultRetries = 2
	mostRetries    = 20
)

// maxFaultsSaid bounds what is said of one answer that does not fit.
const maxFaultsSaid = 20

// structured makes the turns of a prompt with a schema. The schema is asked for in words; what comes is read leniently and judged
// here. An answer that does not fit is told what is wrong with it in the same conversation, each time in a turn of its own, until
// the retries are used up. Only the value that fits goes into the document.
func (r *Runner) structured(ctx context.Context, want form, q request) (any, *Error, error) {
	step := q.where.Step
	q.own = q.words
	q.words += "\n\n" + schemaFrame(want.schema)
	q.schema = json.RawMessage(expr.Indented(want.schema.Value()))
	q.whole = true
	for k := 0; ; k++ {
		var faults []schema.Fault
		q.out = layout.Nowhere{}
		q.check = func(reply string) (any, *Error) {
			found := readValue(reply, want.schema)
			if faults = found.faults; len(faults) == 0 {
				return found.value, nil
			}
			if k < want.retries {
				return nil, nil // it is asked again
			}
			return nil, unfit(q.with.shown(), faults, k+1)
		}
		value, failure, err := r.sendOnce(ctx, q)
		if err != nil || failure != nil || len(faults) == 0 {
			return value, failure, err
		}
		q.words, q.own = faultFrame(faults), ""
		q.where.Step = fmt.Sprintf("%s#%d", step, k+2)
	}
}

// unfit is the failure of a prompt whose last answer does not fit.
func unfit(shown string, faults []schema.Fault, turns int) *Error {
	times := ""
	if turns > 1 {
		times = fmt.Sprintf(" after %d turns", turns)
	}
	return Errorf(KindFailed, "the answer of %s does not fit the schema%s: %s", shown, times, faultList(faults, 5))
}

// schemaFrame asks for a value in words. It stands behind the author's words.
func schemaFrame(want *schema.Schema) string {
	return "Answer with exactly one JSON value that fits the JSON Schema below, and with nothing else: no words before or after it.\n\n" +
		expr.Indented(want.Value())
}

// faultFrame says what was wrong with the last answer. The schema is in the conversation already.
func faultFrame(faults []schema.Fault) string {
	var b strings.Builder
	b.WriteString("That answer does not fit the JSON Schema:\n")
	for line := range strings.SplitSeq(schema.Lines(faults, maxFaultsSaid), "\n") {
		b.WriteString("- " + line + "\n")
	}
	b.WriteString("\nAnswer again with the whole JSON value, corrected, and with nothing else.")
	return b.String()
}
