package resolve

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/schema"
)

// PropError is one thing that is wrong with the props that were given.
type PropError struct {
	Prop    string // "" if it is about no prop of the document
	Message string
	Hint    string
}

// Error gives the message without the hint.
func (e PropError) Error() string { return e.Message }

// BindValues takes the props of a component from the values that its use gives, adds defaults, checks all, and gives the value
// of props. Values are normalized. Null stands for nothing where the prop's schema does not admit null. With errors, all of
// which are returned in the order of the props, the value is nil. vals is not changed.
func (in *Inputs) BindValues(vals map[string]any) (map[string]any, []PropError) {
	out := make(map[string]any, len(in.Props))
	var errs []PropError
	for _, name := range expr.Keys(vals) {
		if in.Prop(name) == nil {
			errs = append(errs, PropError{Message: "there is no prop " + name, Hint: in.propHint(name)})
		}
	}
	for i := range in.Props {
		p := &in.Props[i]
		v, given := vals[p.Name]
		if given && v == nil && len(in.faultsOfProp(p, nil)) > 0 {
			given = false
		}
		switch {
		case given:
			out[p.Name] = v
			for _, f := range in.faultsOfProp(p, v) {
				errs = append(errs, PropError{p.Name, p.Name + ": " + faultText(f), f.Hint})
			}
		case p.HasDefault:
			out[p.Name] = p.Default
		case p.Required:
			errs = append(errs, PropError{p.Name, "the prop " + p.Name + " is missing", ""})
		}
	}
	if in.Object != nil && len(errs) == 0 {
		for _, f := range in.Object.Validate(out) {
			errs = append(errs, PropError{Message: "the props: " + faultText(f), Hint: f.Hint})
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return out, nil
}

// propHint names the props that there are.
func (in *Inputs) propHint(name string) string {
	names := in.names()
	switch near := diag.Nearest(name, names); {
	case near != "":
		return "did you mean " + near + "?"
	case len(names) == 0:
		return "it takes no props"
	}
	return "its props are " + strings.Join(names, ", ")
}

// faultsOfProp validates one prop, whichever form the props are declared in.
func (in *Inputs) faultsOfProp(p *Prop, v any) []schema.Fault {
	if p.Schema != nil {
		return p.Schema.Validate(v)
	}
	if in.Object == nil {
		return nil
	}
	return in.faultsOf(p.Name, v)
}
