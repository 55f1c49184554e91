package resolve

import (
	"slices"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// Options change how a document is resolved. The zero value is for a whole file.
type Options struct {
	Entry bool  // a REPL entry: frontmatter is an error
	Bound Names // names bound by earlier entries; not changed
}

// Resolve checks a parsed document and annotates it. All errors and warnings come in one list, sorted by place. The Info
// is complete only if the list has no errors; it is never nil. A document that did not parse without errors may be
// resolved too: what was understood of it is checked.
func Resolve(doc *syntax.Document, o Options) (*Info, diag.List) {
	r := &resolver{
		src:   doc.Source.Text,
		scope: newScope(o.Bound),
		info: &Info{Elements: map[*syntax.Element]*Element{}, Paths: map[*syntax.Interp]*expr.Path{},
			Execs: map[*syntax.Exec]*Exec{}},
		near: 20_000,
	}
	r.front(doc.Front, o.Entry)
	r.types = r.info.Inputs.types()
	if r.diags.HasErrors() { // what the frontmatter declares is not known then: no errors about its use
		r.types = map[string]*expr.Type{"run": r.types["run"]}
	}
	r.nodes(doc.Body, place{})
	r.info.Bound = Names(r.scope.names)
	r.diags.Sort()
	return r.info, r.diags
}

// resolver is one pass over a document.
type resolver struct {
	src   string
	scope *scope
	types map[string]*expr.Type // of the reserved names that every document has
	info  *Info
	diags diag.List
	near  int // how many more names may be compared to find one that was meant

	warnings int // said so far; see maxWarnings
}

// place is where in the tree the resolver is.
type place struct {
	captured bool            // inside a body that is a text of its own: a prompt, a Let
	lent     map[string]bool // reserved names that elements around give; nil mostly
}

func (r *resolver) nodes(list []syntax.Node, p place) {
	for _, n := range list {
		r.node(n, p)
	}
}

func (r *resolver) node(n syntax.Node, p place) {
	switch n := n.(type) {
	case *syntax.Text:
		r.text(n, p)
	case *syntax.Interp:
		r.interp(n, p)
	case *syntax.Element:
		r.element(n, p)
	case *syntax.Exec:
		r.exec(n)
	case *syntax.Fill:
		r.nodes(n.Body, p)
	case *syntax.Line:
		r.nodes(n.Body, p)
	}
}

// typeOf is what is known of a name; nil if nothing is.
func (r *resolver) typeOf(name string) *expr.Type {
	if given[name] {
		return r.types[name]
	}
	return r.scope.names[name].Type
}

// isBound reports whether a name is bound here, if only on some paths.
func (r *resolver) isBound(name string, p place) bool {
	_, ok := r.scope.names[name]
	return ok || given[name] || p.lent[name]
}

// suggest finds a bound name near to one that is not bound; "" if there is none, or if too much was searched already.
func (r *resolver) suggest(name string) string {
	if r.near -= len(r.scope.names) + 1; r.near < 0 {
		return ""
	}
	names := make([]string, 0, len(r.scope.names)+len(given))
	for n := range r.scope.names {
		names = append(names, n)
	}
	for n := range given {
		names = append(names, n)
	}
	slices.Sort(names) // equally near names must give the same one each time
	return diag.Nearest(name, names)
}

func (r *resolver) exprErrors(errs []*expr.Error) {
	for _, e := range errs {
		r.diags.Add(e.Code, e.Span, e.Message, e.Hint)
	}
}
