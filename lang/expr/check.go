package expr

import "xmd/lang/diag"

// checker follows types through an expression.
type checker struct {
	types func(name string) *Type
	items []*Type // of # in the predicates around
	errs  []*Error
}

// Check says what types tell beforehand: types gives what is known of each name (nil: nothing). It returns the type of the
// result and the faults, in the order of evaluation. Only what cannot possibly fit is a fault.
func (e *Expr) Check(types func(name string) *Type) (*Type, []*Error) {
	c := &checker{types: types}
	t := e.root.check(c)
	return t, c.errs
}

func (c *checker) fail(at diag.Span, message, hint string) {
	c.errs = append(c.errs, errorAt(at, CodeType, message, hint))
}

// want reports a value that can be of none of the kinds.
func (c *checker) want(n node, t *Type, k Kind, what string) {
	if !t.Can(k) {
		c.fail(n.at(), what+" must be "+kindWords(k)+", is "+t.String(), "")
	}
}

func kindWords(k Kind) string {
	if k == Bool {
		return "true or false"
	}
	return k.String()
}

func (n *literal) check(*checker) *Type { return TypeOf(n.value) }

func (n *ref) check(c *checker) *Type { return c.types(n.ref.Name) }

func (n *item) check(c *checker) *Type { return c.items[len(c.items)-1] }

func (n *memberOf) check(c *checker) *Type {
	t, bad := n.of.check(c).member(func() string { return pathText(n.of) }, n.name)
	if bad != nil {
		bad.Span = n.pos
		c.errs = append(c.errs, bad)
	}
	return t
}

func (n *indexOf) check(c *checker) *Type {
	of, i := n.of.check(c), n.index.check(c)
	c.want(n.index, i, Number|String, "an index")
	if i == nil || i.Kinds != Number {
		return nil
	}
	t, bad := of.index(func() string { return pathText(n.of) })
	if bad != nil {
		bad.Span = n.pos
		c.errs = append(c.errs, bad)
	}
	return t
}

func (n *unary) check(c *checker) *Type {
	t := n.x.check(c)
	if n.op == "!" {
		c.want(n.x, t, Bool, "what ! turns round")
		return Of(Bool)
	}
	c.want(n.x, t, Number, "what "+n.op+" stands before")
	return Of(Number)
}

func (n *binary) check(c *checker) *Type {
	l, r := n.left.check(c), n.right.check(c)
	switch n.op {
	case "&&", "||":
		c.want(n.left, l, Bool, "the left side of "+n.op)
		c.want(n.right, r, Bool, "the right side of "+n.op)
	case "==", "!=":
		c.comparable(n, l, r)
	case "<", "<=", ">", ">=":
		c.pair(n, l, r, "two numbers or two strings", Number, String)
	case "+":
		return c.sum(n, l, r)
	case "-", "*", "/", "%":
		c.pair(n, l, r, "two numbers", Number)
		return Of(Number)
	case "in":
		c.in(n, l, r)
	default:
		c.pair(n, l, r, "two strings", String)
	}
	return Of(Bool)
}

// comparable reports a comparison that is always the same because the kinds differ. Comparing with null is always fine.
func (c *checker) comparable(n *binary, l, r *Type) {
	if l == nil || r == nil || l.Kinds&r.Kinds&^Null != 0 || l.Kinds == Null || r.Kinds == Null || l.Kinds&r.Kinds == Null {
		return
	}
	always := "false"
	if n.op == "!=" {
		always = "true"
	}
	c.fail(n.pos, "this is always "+always+": it compares "+l.String()+" with "+r.String(), "")
}

// pair reports two sides that cannot both be of one of the kinds.
func (c *checker) pair(n *binary, l, r *Type, want string, kinds ...Kind) {
	for _, k := range kinds {
		if l.Can(k) && r.Can(k) {
			return
		}
	}
	hint := ""
	if n.op == "+" && (l.Can(String) || r.Can(String)) {
		hint = "string(x) makes a string of any value"
	}
	c.fail(n.pos, n.op+" wants "+want+", gets "+l.String()+" and "+r.String(), hint)
}

func (c *checker) sum(n *binary, l, r *Type) *Type {
	c.pair(n, l, r, "two strings or two numbers", Number, String)
	switch {
	case !l.Can(String) || !r.Can(String):
		return Of(Number)
	case !l.Can(Number) || !r.Can(Number):
		return Of(String)
	}
	return Of(Number | String)
}

func (c *checker) in(n *binary, l, r *Type) {
	c.want(n.right, r, Array|Object, "the right side of in")
	if r != nil && r.Kinds == Object {
		c.want(n.left, l, String, "the key")
	}
	if r != nil && r.Kinds == Array && r.Elem != nil && l != nil && l.Kinds&r.Elem.Kinds == 0 {
		c.fail(n.pos, "this is always false: it looks for "+l.String()+" in an array of which each item is "+r.Elem.String(), "")
	}
}

func (n *coalesce) check(c *checker) *Type {
	l := n.left.check(c)
	r := n.right.check(c)
	if l != nil && l.Kinds == Null {
		return r
	}
	return Union(l.WithoutNull(), r)
}

func (n *conditional) check(c *checker) *Type {
	c.want(n.cond, n.cond.check(c), Bool, "a condition")
	yes, no := n.yes.check(c), n.no.check(c)
	return Union(yes, no)
}

func (n *array) check(c *checker) *Type {
	t := &Type{Kinds: Array}
	for i, e := range n.items {
		if et := e.check(c); i == 0 {
			t.Elem = et
		} else {
			t.Elem = Union(t.Elem, et)
		}
	}
	return t
}

func (n *object) check(c *checker) *Type {
	t := &Type{Kinds: Object, Fields: make(map[string]*Type, len(n.keys))}
	for i, k := range n.keys {
		t.Fields[k] = n.values[i].check(c)
	}
	return t
}

func (n *call) check(c *checker) *Type {
	args := make([]*Type, len(n.args))
	for i, a := range n.args {
		args[i] = a.check(c)
		if k := n.fn.takes[i]; !args[i].Can(k) {
			c.fail(a.at(), n.name+" wants "+k.String()+", gets "+args[i].String(), "")
		}
	}
	if n.fn.typ != nil {
		return n.fn.typ(args)
	}
	return n.fn.gives
}

func (n *each) check(c *checker) *Type {
	list := n.list.check(c)
	if !list.Can(Array) {
		hint := ""
		if list.Can(Object) {
			hint = "values(x) is the array of an object's values"
		}
		c.fail(n.list.at(), n.name+" wants an array, gets "+list.String(), hint)
	}
	var elem *Type
	if list != nil {
		elem = list.Elem
	}
	c.items = append(c.items, elem)
	body := n.body.check(c)
	c.items = c.items[:len(c.items)-1]
	switch n.name {
	case "map":
		return &Type{Kinds: Array, Elem: body}
	case "filter":
		c.want(n.body, body, Bool, "the predicate of filter")
		return &Type{Kinds: Array, Elem: elem}
	}
	c.want(n.body, body, Bool, "the predicate of "+n.name)
	return Of(Bool)
}
