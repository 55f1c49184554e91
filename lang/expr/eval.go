package expr

import (
	"regexp"

	"xmd/lang/diag"
)

// budget is how many steps one evaluation may take: a step is a node evaluated, an item gone through, or 64 bytes of text.
const budget = 1_000_000

// machine is one evaluation.
type machine struct {
	env   map[string]any
	items []any // # of the predicates around
	left  int
}

// Eval computes the expression in env, which holds normalized values (see Normalize) and is only read. The result is a
// normalized value that may share parts with env. The error is an *Error with its place in the document: a name that is
// not bound, a value of the wrong kind, a result that JSON does not have, or too many steps.
func (e *Expr) Eval(env map[string]any) (any, error) {
	v, err := e.root.eval(&machine{env: env, left: budget})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// spend takes n steps from the budget.
func (m *machine) spend(n int, at diag.Span) *Error {
	if m.left -= n; m.left < 0 {
		return errorAt(at, CodeValue, "the expression takes too many steps", "an expression may take a million; do this in an exec block")
	}
	return nil
}

func (n *literal) eval(*machine) (any, *Error) { return n.value, nil }

func (n *ref) eval(m *machine) (any, *Error) {
	v, ok := m.env[n.ref.Name]
	if !ok && !n.ref.Handled {
		return nil, errorAt(n.pos, CodeValue, n.ref.Name+" is not bound", "")
	}
	return v, m.spend(1, n.pos)
}

func (n *item) eval(m *machine) (any, *Error) { return m.items[len(m.items)-1], m.spend(1, n.pos) }

func (n *memberOf) eval(m *machine) (any, *Error) {
	of, err := n.of.eval(m)
	if err != nil {
		return nil, err
	}
	v, problem := member(of, n.name)
	if problem != "" {
		return nil, errorAt(n.pos, CodeMember, problem, "")
	}
	return v, m.spend(1, n.pos)
}

func (n *indexOf) eval(m *machine) (any, *Error) {
	of, err := n.of.eval(m)
	if err != nil {
		return nil, err
	}
	i, err := n.index.eval(m)
	if err != nil {
		return nil, err
	}
	var v any
	var problem string
	switch i := i.(type) {
	case string:
		v, problem = member(of, i)
	case int64:
		v, problem = index(of, i)
	default:
		problem = "an index is a whole number or a string, not " + indexName(i)
	}
	if problem != "" {
		return nil, errorAt(n.pos, CodeMember, problem, "")
	}
	return v, m.spend(1, n.pos)
}

func indexName(i any) string {
	if _, ok := i.(float64); ok {
		return JSON(i)
	}
	return KindName(i)
}

func (n *coalesce) eval(m *machine) (any, *Error) {
	v, err := n.left.eval(m)
	if err != nil || v != nil {
		return v, err
	}
	return n.right.eval(m)
}

func (n *conditional) eval(m *machine) (any, *Error) {
	yes, err := m.boolean(n.cond, "a condition")
	if err != nil {
		return nil, err
	}
	if yes {
		return n.yes.eval(m)
	}
	return n.no.eval(m)
}

// boolean evaluates n, which must give true or false.
func (m *machine) boolean(n node, what string) (bool, *Error) {
	v, err := n.eval(m)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, errorAt(n.at(), CodeValue, what+" must be true or false, is "+KindName(v), "")
	}
	return b, nil
}

func (n *array) eval(m *machine) (any, *Error) {
	out := make([]any, len(n.items))
	for i, e := range n.items {
		v, err := e.eval(m)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, m.spend(len(out)+1, n.pos)
}

func (n *object) eval(m *machine) (any, *Error) {
	out := make(map[string]any, len(n.keys))
	for i, k := range n.keys {
		v, err := n.values[i].eval(m)
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, m.spend(len(out)+1, n.pos)
}

func (n *call) eval(m *machine) (any, *Error) {
	args := make([]any, len(n.args))
	for i, a := range n.args {
		v, err := a.eval(m)
		if err != nil {
			return nil, err
		}
		if !Of(n.fn.takes[i]).Can(kindOf(v)) {
			return nil, errorAt(a.at(), CodeValue, n.name+" wants "+n.fn.takes[i].String()+", got "+KindName(v), "")
		}
		if err := m.spend(1+size(v), a.at()); err != nil {
			return nil, err
		}
		args[i] = v
	}
	v, problem := n.fn.do(args)
	if problem != "" {
		return nil, errorAt(n.pos, CodeValue, problem, "")
	}
	return v, m.spend(1+size(v), n.pos)
}

// size is what going through a value once costs.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) / 64
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

func (n *each) eval(m *machine) (any, *Error) {
	v, err := n.list.eval(m)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, errorAt(n.list.at(), CodeValue, n.name+" wants an array, got "+KindName(v), listHint(v))
	}
	out := []any{}
	depth := len(m.items)
	defer func() { m.items = m.items[:depth] }()
	for _, it := range list {
		m.items = append(m.items[:depth], it)
		if err := m.spend(1, n.pos); err != nil {
			return nil, err
		}
		done, err := n.step(m, it, &out)
		if err != nil || done {
			return n.name == "any", err
		}
	}
	switch n.name {
	case "any":
		return false, nil
	case "all":
		return true, nil
	}
	return out, nil
}

// step runs the body for one item; done is true where any or all knows its result.
func (n *each) step(m *machine, it any, out *[]any) (done bool, err *Error) {
	if n.name == "map" {
		v, err := n.body.eval(m)
		*out = append(*out, v)
		return false, err
	}
	ok, err := m.boolean(n.body, "the predicate of "+n.name)
	if err != nil {
		return false, err
	}
	switch n.name {
	case "any":
		return ok, nil
	case "all":
		return !ok, nil
	}
	if ok {
		*out = append(*out, it)
	}
	return false, nil
}

func listHint(v any) string {
	if _, ok := v.(map[string]any); ok {
		return "values(x) is the array of an object's values"
	}
	return ""
}

func compilePattern(p string) (*regexp.Regexp, string) {
	re, err := regexp.Compile(p)
	if err != nil {
		return nil, patternError(err)
	}
	return re, ""
}
