package schema

import (
	"strconv"
	"strings"

	"xmd/lang/expr"
)

// Fault is one thing that is wrong with a value.
type Fault struct {
	At      []any  // the way to the place: string is a member, int64 an item; empty is the value itself
	Message string // "must be integer, is string (\"2\")"
	Hint    string // what to do; may be empty
}

// Path spells the place as expressions do: "issues[1].line"; "" is the value itself.
func (f Fault) Path() string { return spell(f.At) }

// String gives place and message: "issues[1].line: must be …", "the value: …".
func (f Fault) String() string {
	if len(f.At) == 0 {
		return "the value: " + f.Message
	}
	return f.Path() + ": " + f.Message
}

func spell(at []any) string {
	var b strings.Builder
	for i, step := range at {
		switch step := step.(type) {
		case int64:
			b.WriteString("[" + strconv.FormatInt(step, 10) + "]")
		case string:
			switch {
			case !expr.IsName(step) && !strings.HasPrefix(step, "$"):
				b.WriteString("[" + expr.JSON(step) + "]")
			case i > 0:
				b.WriteString("." + step)
			default:
				b.WriteString(step)
			}
		}
	}
	return b.String()
}

// join makes a new way, so that faults never share the end of one array.
func join(at []any, step any) []any {
	return append(append(make([]any, 0, len(at)+1), at...), step)
}

// Lines puts faults into one text, a line each, at most limit of them; the rest is counted.
func Lines(faults []Fault, limit int) string {
	var b strings.Builder
	for i, f := range faults {
		if i == limit {
			b.WriteString("\nand " + strconv.Itoa(len(faults)-limit) + " more")
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f.String())
	}
	return b.String()
}
