package expr

import (
	"regexp"

	"xmd/lang/diag"
)

// node is one piece of our own tree. Nodes are made by lowering and never changed.
type node interface {
	at() diag.Span
	eval(m *machine) (any, *Error)
	check(c *checker) *Type
	canon(b []byte) []byte
}

type (
	// literal is a value as it was written.
	literal struct {
		pos   diag.Span
		value any
	}
	// ref is a name from outside.
	ref struct {
		pos diag.Span
		ref *Ref
	}
	// item is # in a predicate.
	item struct{ pos diag.Span }
	// memberOf is of.name or of["name"].
	memberOf struct {
		pos  diag.Span
		of   node
		name string
		root *Ref // the name that the path begins with; nil if this is no path
	}
	// indexOf is of[index].
	indexOf struct {
		pos       diag.Span
		of, index node
		root      *Ref // as in memberOf; nil also where the index is computed
	}
	// unary is !x, -x or +x.
	unary struct {
		pos diag.Span
		op  string
		x   node
	}
	// binary is every operator with two sides but ??; && and || do not always look at the right one.
	binary struct {
		pos         diag.Span
		op          string
		left, right node
		re          *regexp.Regexp // of a pattern that is written out
	}
	// coalesce is left ?? right.
	coalesce struct {
		pos         diag.Span
		left, right node
	}
	// conditional is cond ? yes : no.
	conditional struct {
		pos           diag.Span
		cond, yes, no node
	}
	// array is [a, b].
	array struct {
		pos   diag.Span
		items []node
	}
	// object is {"a": b}; keys are sorted.
	object struct {
		pos    diag.Span
		keys   []string
		values []node
	}
	// call is f(a, b).
	call struct {
		pos  diag.Span
		name string
		fn   *function
		args []node
	}
	// each is map, filter, any or all over a list.
	each struct {
		pos        diag.Span
		name       string
		list, body node
	}
)

func (n *literal) at() diag.Span     { return n.pos }
func (n *ref) at() diag.Span         { return n.pos }
func (n *item) at() diag.Span        { return n.pos }
func (n *memberOf) at() diag.Span    { return n.pos }
func (n *indexOf) at() diag.Span     { return n.pos }
func (n *unary) at() diag.Span       { return n.pos }
func (n *binary) at() diag.Span      { return n.pos }
func (n *coalesce) at() diag.Span    { return n.pos }
func (n *conditional) at() diag.Span { return n.pos }
func (n *array) at() diag.Span       { return n.pos }
func (n *object) at() diag.Span      { return n.pos }
func (n *call) at() diag.Span        { return n.pos }
func (n *each) at() diag.Span        { return n.pos }

// pathText spells a path for messages; what is no path is "the value".
func pathText(n node) string {
	switch n := n.(type) {
	case *ref:
		return n.ref.Name
	case *item:
		return "#"
	case *memberOf:
		if _, ok := n.of.(*item); ok {
			return "." + n.name
		}
		if of := pathText(n.of); of != theValue {
			return of + "." + n.name
		}
	case *indexOf:
		if lit, ok := n.index.(*literal); ok && pathText(n.of) != theValue {
			return pathText(n.of) + "[" + JSON(lit.value) + "]"
		}
	}
	return theValue
}

const theValue = "the value"
