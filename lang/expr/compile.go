package expr

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"

	"xmd/lang/diag"
)

// Expr is a compiled expression. It is immutable and safe for concurrent use.
type Expr struct {
	Source string
	Pos    diag.Span // of the source in the document

	root node
	refs []*Ref
}

// Compile reads an expression whose first byte stands at offset off of the document. With errors the Expr is nil; they
// come in the order of their places.
func Compile(src string, off int) (*Expr, []*Error) {
	return CompileAt(src, func(i int) int { return off + i })
}

// CompileAt is Compile for a source that does not stand in the document in one piece: at gives the document's offset of
// each byte of src, and of the end.
func CompileAt(src string, at func(i int) int) (*Expr, []*Error) {
	s := newSource(src, at)
	e := &Expr{Source: src, Pos: s.span(0, len(src))}
	l := &lowering{src: s}
	if e.root = l.simple(src); e.root != nil {
		e.refs = l.refs
		return e, nil
	}
	list, bad := lex(s)
	if bad != nil {
		return nil, []*Error{bad}
	}
	if len(list) <= 1 {
		return nil, []*Error{errorAt(e.Pos, CodeSyntax, "the expression is empty", "")}
	}
	if errs := (&fence{src: s, list: list}).check(); len(errs) > 0 {
		return nil, errs
	}
	tree, err := parser.Parse(src)
	if err != nil {
		return nil, []*Error{parseError(s, list, err)}
	}
	l.tokens = list
	e.root = l.node(tree.Node)
	if len(l.errs) > 0 {
		slices.SortStableFunc(l.errs, func(a, b *Error) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
		return nil, l.errs
	}
	e.refs = l.refs
	return e, nil
}

// parseError says in our words where expr-lang's parser stopped.
func parseError(s *source, list []lexer.Token, err error) *Error {
	var bad *file.Error
	if !errors.As(err, &bad) {
		return errorAt(s.span(0, len(s.text)), CodeSyntax, "this is not an expression", "")
	}
	span := s.location(bad.Location)
	text := s.text[s.byteAt(bad.From):s.byteAt(bad.To)]
	last := list[len(list)-1]
	switch msg := bad.Message; {
	case strings.Contains(msg, "coalesce expressions"):
		return errorAt(span, CodeSyntax, "?? and "+text+" cannot stand beside each other", "write (a ?? b) "+text+" c")
	case strings.Contains(msg, "maximum allowed nodes"):
		return errorAt(span, CodeSyntax, "the expression is too long", "put the data into a file and read it")
	case strings.Contains(msg, "token EOF"), strings.Contains(msg, "end of expression"):
		return errorAt(s.location(last.Location), CodeSyntax, "the expression ends too early", "")
	case strings.HasPrefix(msg, "expected name"):
		return errorAt(span, CodeSyntax, "a name must follow the dot", "")
	case strings.HasPrefix(msg, "a map key must be"):
		return errorAt(span, CodeSyntax, "a key is a name or a string, not "+text, "")
	case text == "#" || text == ".":
		return errorAt(span, CodeSyntax, text+" stands only in the predicate of map, filter, any and all", "")
	}
	return errorAt(span, CodeSyntax, "unexpected "+text, "")
}

// Ref is one use of a name in an expression.
type Ref struct {
	Name    string
	Span    diag.Span // of the name alone
	Members []Member  // the members that follow it, as far as they are written out
	Handled bool      // the expression gives a value of its own if the name is absent or null: x ?? "…"
}

// Path spells the name with its members, "verdict.passed".
func (r *Ref) Path() string {
	var b strings.Builder
	b.WriteString(r.Name)
	for _, m := range r.Members {
		if name, ok := m.Key.(string); ok && IsName(name) {
			b.WriteString("." + name)
		} else {
			b.WriteString("[" + JSON(m.Key) + "]")
		}
	}
	return b.String()
}

// Member is one step of a Ref's path.
type Member struct {
	Key  any // string or int64
	Span diag.Span
}

// Names lists each use of a name from outside, in the order of the source. The caller must not change it.
func (e *Expr) Names() []*Ref { return e.refs }

// Const gives the value of an expression that uses no names; ok is false if it uses some or fails.
func (e *Expr) Const() (v any, ok bool) {
	if len(e.refs) > 0 {
		return nil, false
	}
	v, err := e.Eval(nil)
	return v, err == nil
}

// Canonical writes the expression in one form that no spacing, quoting or redundant parenthesis changes.
func (e *Expr) Canonical() string { return string(e.root.canon(nil)) }
