package resolve

import (
	"slices"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// Options change how a document is resolved. The zero value is for a whole file that uses no others.
type Options struct {
	Entry bool  // a REPL entry: what belongs in a file is an error
	Bound Names // names bound by earlier entries; not changed
	Files Files // gives component files and schema files; nil: there are none
}

// Resolve checks a parsed document, and the files that it uses, and annotates it. All errors and warnings come in one list:
// those of the document sorted by place, then those of the files, which name their Source. The Info is complete only if the
// list has no errors; it is never nil. A document that did not parse without errors may be resolved too: what was understood
// of it is checked.
func Resolve(doc *syntax.Document, o Options) (*Info, diag.List) {
	l := newLinker(o.Files, doc.Source)
	info, list := resolve(doc, o, l)
	list = append(list, l.diags...)
	list.Sort()
	return info, list
}

// resolve checks one document; what is wrong with the files it uses is in l.
func resolve(doc *syntax.Document, o Options, l *linker) (*Info, diag.List) {
	r := &resolver{
		src:   doc.Source.Text,
		name:  doc.Source.Name,
		entry: o.Entry,
		scope: newScope(o.Bound),
		info: &Info{Elements: map[*syntax.Element]*Element{}, Paths: map[*syntax.Interp]*expr.Path{},
			Execs: map[*syntax.Exec]*Exec{}},
		in:     &around{},
		linker: l,
		source: doc.Source,
		near:   20_000,
	}
	r.front(doc.Front, o.Entry)
	r.info.front = !r.diags.HasErrors()
	r.types = r.info.Inputs.types()
	if !r.info.front { // what the frontmatter declares is not known then: no errors about its use
		r.types = map[string]*expr.Type{"run": r.types["run"]}
	}
	l.clashes(doc.Source.Name)
	r.noResult(doc.Body)
	r.idleOffers(doc.Body)
	ends := r.nodes(doc.Body, place{root: true, returns: true})
	r.returned(ends)
	r.info.Bound = Names(r.scope.names)
	r.diags.Sort()
	return r.info, r.diags
}

// resolver is one pass over a document.
type resolver struct {
	src    string
	name   string // of the document, as files are looked for from it
	entry  bool
	scope  *scope
	types  map[string]*expr.Type // of the reserved names that every document has
	info   *Info
	diags  diag.List
	in     *around // what is around the node being resolved; replaced, never changed
	linker *linker
	source *diag.Source
	near   int // how many more names may be compared to find one that was meant

	warnings      int // said so far; see maxWarnings
	conversations []conversation
	bound         map[*syntax.Element][]binding // names that the bodies of Loops bind, as far as they were asked for
	firstReturn   *syntax.Element
	tests         map[string]diag.Span // the tests of a test document, by name
	returnsAt     diag.Span            // the key in the frontmatter
}

// place is how a node stands in the node that holds it.
type place struct {
	captured bool  // inside a body that is a text of its own: a prompt, a Let
	root     bool  // directly in the document
	returns  bool  // a Return may stand here
	slots    *Unit // directly in the children of this component; nil: not
	rules    bool  // directly in a TestAgent: the rules of its script may stand here
}

// around is what holds for a whole body and all inside it.
type around struct {
	lent         map[string]*expr.Type // reserved names that elements around give; nil mostly
	loop         *loop                 // the nearest Loop that a Break can leave
	wall         string                // what keeps a Break from a Loop further out: "a Parallel"
	at           string                // the innermost element around that runs bodies at once or later: "Parallel", "Tool"
	conversation bool
	test, cast   bool // a Test, a TestAgent
}

// inside resolves what stands in a body that changes what is around it.
func (r *resolver) inside(change func(in *around), do func()) {
	outer := r.in
	inner := *outer
	change(&inner)
	r.in = &inner
	do()
	r.in = outer
}

// lend adds a reserved name that an element gives its body.
func (in *around) lend(name string, t *expr.Type) {
	lent := make(map[string]*expr.Type, len(in.lent)+1)
	for n, t := range in.lent {
		lent[n] = t
	}
	lent[name] = t
	in.lent = lent
}

// nodes resolves a list. ends tells that what stands behind it is never reached.
func (r *resolver) nodes(list []syntax.Node, p place) (ends bool) {
	var last syntax.Node
	for _, n := range list {
		if ends && last != nil && !blank(n) {
			r.warn(CodeUnreachable, firstLine(r.src, n.Span()), "this is never reached", "",
				diag.Related{Summary: "nothing behind this runs", Span: firstLine(r.src, last.Span())})
			last = nil
		}
		if r.node(n, p) && !ends {
			ends, last = true, n
		}
	}
	return ends
}

// firstLine cuts a span at the end of its first line that holds anything.
func firstLine(src string, s diag.Span) diag.Span {
	text := src[s.Start:min(s.End, len(src))]
	solid := strings.TrimLeft(text, " \t\r\n")
	start := s.Start + len(text) - len(solid)
	if i := strings.IndexByte(solid, '\n'); i >= 0 {
		solid = solid[:i]
	}
	return diag.Span{Start: start, End: start + len(strings.TrimRight(solid, " \t\r"))}
}

func (r *resolver) node(n syntax.Node, p place) (ends bool) {
	switch n := n.(type) {
	case *syntax.Text:
		r.text(n, p)
	case *syntax.Interp:
		r.interp(n, p)
	case *syntax.Element:
		if n.Name != "Parallel" {
			r.idleOffers(n.Body)
		}
		return r.element(n, p)
	case *syntax.Exec:
		r.exec(n)
	case *syntax.Fill:
		r.nodes(n.Body, p)
	case *syntax.Line:
		return r.nodes(n.Body, p)
	}
	return false
}

// typeOf is what is known of a name; nil if nothing is.
func (r *resolver) typeOf(name string) *expr.Type {
	if given[name] {
		return r.types[name]
	}
	if reserved[name] {
		return r.in.lent[name]
	}
	return r.scope.names[name].Type
}

// isLent reports whether an element around gives a reserved name.
func (r *resolver) isLent(name string) bool {
	_, ok := r.in.lent[name]
	return ok
}

// isBound reports whether a name is bound here, if only on some paths.
func (r *resolver) isBound(name string) bool {
	_, ok := r.scope.names[name]
	return ok || given[name] || r.isLent(name)
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
