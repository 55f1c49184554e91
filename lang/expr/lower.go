package expr

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"

	"xmd/lang/diag"
)

// lowering turns expr-lang's tree into ours and refuses whatever is not on the list.
type lowering struct {
	src    *source
	tokens []lexer.Token
	refs   []*Ref
	errs   []*Error
}

func (l *lowering) fail(span diag.Span, code, message, hint string) node {
	l.errs = append(l.errs, errorAt(span, code, message, hint))
	return &literal{pos: span}
}

// simple reads paths and whole numbers, which most expressions are, without the machinery; nil if it is something else.
func (l *lowering) simple(src string) node {
	span := l.src.span(0, len(src))
	switch src {
	case "true", "false":
		return &literal{span, src == "true"}
	case "null":
		return &literal{span, nil}
	}
	if src != "" && len(src) < 18 && strings.Trim(src, "0123456789") == "" && (src[0] != '0' || len(src) == 1) {
		n, _ := parseNumber(src)
		return &literal{span, n}
	}
	p, ok := ParsePath(src)
	if !ok || words[p.Root] || len(p.Steps) > maxDepth {
		return nil
	}
	n := l.name(p.Root, l.src.span(p.spans[0].Start, p.spans[0].End))
	for i, step := range p.Steps {
		at := l.src.span(p.spans[i+1].Start, p.spans[i+1].End)
		switch step := step.(type) {
		case string:
			n = l.member(n, step, at)
		case int:
			n = l.index(n, &literal{at, int64(step)}, at)
		}
	}
	return n
}

func (l *lowering) node(n ast.Node) node {
	span := l.src.location(n.Location())
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if n.Value == "null" {
			return &literal{span, nil}
		}
		return l.name(n.Value, span)
	case *ast.IntegerNode:
		return &literal{span, int64(n.Value)}
	case *ast.FloatNode:
		return &literal{span, whole(n.Value)}
	case *ast.BoolNode:
		return &literal{span, n.Value}
	case *ast.StringNode:
		return &literal{span, n.Value}
	case *ast.UnaryNode:
		return &unary{span, n.Operator, l.node(n.Node)}
	case *ast.BinaryNode:
		return l.binary(n, span)
	case *ast.ChainNode:
		return l.node(n.Node) // ?. is the same as ., since a member of null is null
	case *ast.MemberNode:
		return l.memberNode(n, span)
	case *ast.ConditionalNode:
		return l.conditional(n)
	case *ast.PointerNode:
		return &item{span}
	case *ast.ArrayNode:
		return &array{span, l.nodes(n.Nodes)}
	case *ast.MapNode:
		return l.object(n, span)
	case *ast.CallNode:
		return l.callNode(n, span)
	case *ast.BuiltinNode:
		return l.call(n.Name, n.Arguments, span)
	case *ast.PredicateNode:
		return l.node(n.Node)
	case *ast.SliceNode:
		return l.fail(span, CodeRefused, "slices are not part of expressions", "take items with x[0], first(x), last(x) or filter(x, …)")
	}
	return l.fail(span, CodeRefused, "this is not part of expressions", "")
}

func (l *lowering) nodes(list []ast.Node) []node {
	out := make([]node, len(list))
	for i, n := range list {
		out[i] = l.node(n)
	}
	return out
}

func (l *lowering) name(name string, span diag.Span) node {
	r := &Ref{Name: name, Span: span}
	l.refs = append(l.refs, r)
	return &ref{span, r}
}

func (l *lowering) binary(n *ast.BinaryNode, span diag.Span) node {
	// A comparison of a comparison comes as && although none was written.
	if written := l.src.raw(lexer.Token{Location: n.Location()}); written != n.Operator {
		l.fail(span, CodeRefused, "comparisons do not chain", "write a < b && b < c")
	}
	left := l.node(n.Left)
	if n.Operator == "??" {
		handle(left)
		return &coalesce{span, left, l.node(n.Right)}
	}
	b := &binary{pos: span, op: n.Operator, left: left, right: l.node(n.Right)}
	if n.Operator == "matches" {
		l.pattern(b)
	}
	return b
}

// handle marks the names whose absence the ?? behind n takes care of.
func handle(n node) {
	switch n := n.(type) {
	case *coalesce:
		handle(n.right)
	default:
		if r := rootOf(n); r != nil {
			r.Handled = true
		}
	}
}

// rootOf finds the name that a path of members begins with; nil if n is no such path.
func rootOf(n node) *Ref {
	switch n := n.(type) {
	case *ref:
		return n.ref
	case *memberOf:
		return n.root
	case *indexOf:
		return n.root
	}
	return nil
}

// pattern compiles a pattern that is written out, so that a bad one is found before anything runs.
func (l *lowering) pattern(b *binary) {
	lit, ok := b.right.(*literal)
	if !ok {
		return
	}
	text, ok := lit.value.(string)
	if !ok {
		return // the types say so
	}
	re, err := regexp.Compile(text)
	if err != nil {
		l.fail(lit.pos, CodeType, patternError(err), patternHint)
		return
	}
	b.re = re
}

const patternHint = "patterns are RE2: no look-around and no references back"

func patternError(err error) string {
	return "the pattern is not valid: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

func (l *lowering) memberNode(n *ast.MemberNode, span diag.Span) node {
	of := l.node(n.Node)
	if s, ok := n.Property.(*ast.StringNode); ok {
		return l.member(of, s.Value, l.src.location(s.Location()))
	}
	return l.index(of, l.node(n.Property), span)
}

func (l *lowering) member(of node, name string, span diag.Span) node {
	root := rootOf(of)
	if root != nil {
		root.Members = append(root.Members, Member{name, span})
	}
	return &memberOf{span, of, name, root}
}

func (l *lowering) index(of, index node, span diag.Span) node {
	n := &indexOf{pos: span, of: of, index: index}
	if lit, ok := index.(*literal); ok {
		if n.root = rootOf(of); n.root != nil {
			n.root.Members = append(n.root.Members, Member{lit.value, lit.pos})
		}
	}
	return n
}

func (l *lowering) conditional(n *ast.ConditionalNode) node {
	c := &conditional{cond: l.node(n.Cond), yes: l.node(n.Exp1), no: l.node(n.Exp2)}
	c.pos = c.cond.at()
	return c
}

func (l *lowering) object(n *ast.MapNode, span diag.Span) node {
	o := &object{pos: span}
	at := map[string]node{}
	for _, p := range n.Pairs {
		pair := p.(*ast.PairNode)
		place := l.src.location(pair.Key.Location())
		value := l.node(pair.Value)
		key, ok := l.key(pair.Key)
		if !ok {
			l.fail(place, CodeRefused, "a key is a name or a string, and never computed", "")
			continue
		}
		if at[key] != nil {
			l.fail(place, CodeSyntax, "the key "+key+" is there twice", "")
		}
		at[key] = value
		o.keys = append(o.keys, key)
	}
	sort.Strings(o.keys) // evaluated in key order, as everything about objects is
	o.keys = slices.Compact(o.keys)
	for _, k := range o.keys {
		o.values = append(o.values, at[k])
	}
	return o
}

// key tells names and strings from numbers, which expr-lang takes too and gives as strings.
func (l *lowering) key(n ast.Node) (string, bool) {
	s, ok := n.(*ast.StringNode)
	if !ok || isDigit(l.src.text[l.src.byteAt(n.Location().From)]) {
		return "", false
	}
	return s.Value, true
}

func (l *lowering) callNode(n *ast.CallNode, span diag.Span) node {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		l.node(n.Callee)
		return l.fail(l.src.location(calleeLocation(n)), CodeFunction, "values have no methods",
			"the functions are "+strings.Join(functionNames(), ", "))
	}
	return l.call(id.Value, n.Arguments, span)
}

func calleeLocation(n *ast.CallNode) file.Location {
	if m, ok := n.Callee.(*ast.MemberNode); ok {
		return m.Property.Location()
	}
	return n.Callee.Location()
}

func (l *lowering) call(name string, args []ast.Node, span diag.Span) node {
	if predicates[name] {
		return l.predicate(name, args, span)
	}
	f := functions[name]
	if f == nil {
		hint := DidYouMean(name, functionNames())
		if hint == "" {
			hint = "the functions are " + strings.Join(functionNames(), ", ")
		}
		l.nodes(args)
		return l.fail(span, CodeFunction, "there is no function "+name, hint)
	}
	c := &call{span, name, f, l.nodes(args)}
	if len(args) < f.least || len(args) > len(f.takes) {
		return l.fail(span, CodeFunction, name+" takes "+f.usage, "")
	}
	return c
}

func (l *lowering) predicate(name string, args []ast.Node, span diag.Span) node {
	if len(args) != 2 {
		l.nodes(args)
		return l.fail(span, CodeFunction, name+" takes an array and a predicate", name+"(items, .ok)")
	}
	return &each{span, name, l.node(args[0]), l.node(args[1])}
}
