package schema

import (
	"strings"
)

func (x *explainer) logic(s map[string]any, v any, at []any) {
	if list, ok := s["allOf"].([]any); ok {
		for _, sub := range list {
			x.value(sub, v, at)
		}
	}
	if list, ok := s["anyOf"].([]any); ok {
		x.forms(list, v, at, false)
	}
	if list, ok := s["oneOf"].([]any); ok {
		x.forms(list, v, at, true)
	}
	if not, ok := s["not"]; ok {
		sub := x.try(not, v, at)
		switch {
		case sub.fits():
			x.add(at, "has the form that is not allowed")
		case len(sub.faults) == 0:
			x.partial = true
		}
	}
	x.condition(s, v, at)
}

// forms explains anyOf, and oneOf if exactly one must fit.
func (x *explainer) forms(list []any, v any, at []any, one bool) {
	fitting := 0
	var reasons []string
	for _, sub := range list {
		t := x.try(sub, v, at)
		switch {
		case len(t.faults) > 0:
			reasons = append(reasons, reason(t.faults, at))
		case t.partial:
			x.partial = true
			return
		default:
			fitting++
		}
	}
	switch {
	case fitting == 0 && len(list) == 1:
		x.value(list[0], v, at)
	case fitting == 0:
		x.add(at, "fits none of %d forms: %s", len(list), few(reasons))
	case fitting > 1 && one:
		x.add(at, "fits %d of %d forms, must fit exactly one", fitting, len(list))
	}
}

// reason gives the first fault of a form, with its place only where that is another one.
func reason(faults []Fault, at []any) string {
	f := faults[0]
	text := f.Message
	if len(f.At) > len(at) {
		text = f.String()
	}
	if len(faults) > 1 {
		text += " (and more)"
	}
	return text
}

func few(reasons []string) string {
	if len(reasons) > 4 {
		reasons = append(reasons[:4:4], "…")
	}
	return strings.Join(reasons, "; or ")
}

func (x *explainer) condition(s map[string]any, v any, at []any) {
	cond, ok := s["if"]
	if !ok {
		return
	}
	sub := x.try(cond, v, at)
	switch {
	case len(sub.faults) > 0:
		if no, ok := s["else"]; ok {
			x.value(no, v, at)
		}
	case sub.partial:
		x.partial = true
	default:
		if yes, ok := s["then"]; ok {
			x.value(yes, v, at)
		}
	}
}
