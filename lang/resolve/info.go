package resolve

import (
	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/schema"
	"xmd/lang/syntax"
)

// Info is what Resolve found out about a document without errors. It is immutable.
type Info struct {
	Inputs   Inputs
	Elements map[*syntax.Element]*Element
	Paths    map[*syntax.Interp]*expr.Path // the interpolations that act; any other is text
	Execs    map[*syntax.Exec]*Exec
	Bound    Names                    // what is bound at the end of the document
	Branches map[syntax.Node][]string // names that each branch of a Parallel binds, sorted; nil if there is no Parallel
	Returns  *schema.Schema           // of returns: in the frontmatter; nil: the document is text
	Regions  bool                     // it has Output regions
	Files    []*diag.Source           // schema files that it names, each once

	tools   map[string]offer // by name, those of the files it uses included
	servers map[string]offer // those whose names are known

	slots map[string]*slot // where Content puts children, by the name of the slot
	holds holds
	front bool // the frontmatter was understood
	value bool // it has returns:, also if that is no schema
}

// slot is a place for children in a component file.
type slot struct{ parallel bool } // inside of what runs several at once

// holds are the first places of what a component file may not hold where it is used, that in the files it uses included.
type holds struct{ session, parallel, conversation, launch *diag.Related }

// Unit is one component file.
type Unit struct {
	Name string // of the component
	Doc  *syntax.Document
	Info *Info
}

// Names are bound names. The zero value binds none.
type Names map[string]Bound

// Bound is what is known of a bound name.
type Bound struct {
	Type      *expr.Type // nil: nothing
	Sometimes bool       // bound on some paths only
	At        diag.Span  // where it was bound last; meaningless for names of another document
}

// Inputs are what a document takes from outside, by its frontmatter.
type Inputs struct {
	Props  []Prop         // in the order of the frontmatter
	Env    []EnvName      // in the order of the frontmatter
	Meta   map[string]any // the other keys, normalized values
	Object *schema.Schema // of all props together; nil if each has its own schema
}

// Prop finds a prop by its name; nil if there is none.
func (in *Inputs) Prop(name string) *Prop {
	for i := range in.Props {
		if in.Props[i].Name == name {
			return &in.Props[i]
		}
	}
	return nil
}

// Prop is one input.
type Prop struct {
	Name        string
	Schema      *schema.Schema // nil if Inputs.Object judges it
	Raw         any            // the schema as written, a normalized value
	Type        *expr.Type     // what the schema says; nil: nothing
	Description string
	Required    bool
	Default     any
	HasDefault  bool
	Pos         diag.Span // of the name
}

// IsFlag reports whether --props-NAME needs no value: only a boolean fits.
func (p *Prop) IsFlag() bool { return p.Type != nil && p.Type.Kinds&^expr.Null == expr.Bool }

// EnvName is one name listed under env: in the frontmatter.
type EnvName struct {
	Name       string
	Required   bool
	Secret     bool // its value is shown nowhere; never with a Default
	Default    string
	HasDefault bool
	Pos        diag.Span
}

// Arg is the value of an attribute: a literal string, or an expression. The zero Arg is "not given".
type Arg struct {
	Given   bool
	Literal string
	Expr    *expr.Expr // nil: Literal counts
	Pos     diag.Span  // of the value, for errors
}

// Element is what is known of an element.
type Element struct {
	Component *Component
	Args      []NamedArg      // attributes as far as they are given, but those below
	Flags     map[string]bool // attributes of the form Flag whose value is known; nil if there are none
	As        string
	Let       string     // of Each
	Slot      string     // where the component that it stands directly in puts it; of Content: the slot it fills
	Schema    *SchemaArg // nil: none
	TimeoutMS int64      // of a timeout that is written out; 0: none
	Use       *Unit      // of a component file; its props are the Args
	HasBody   bool       // the body holds more than white space
}

// SchemaArg is a schema attribute: known before the run, or computed by an expression.
type SchemaArg struct {
	Given  bool
	Schema *schema.Schema // nil: Expr computes the schema, an object
	Expr   Arg
	Path   string // of the file that Schema was read from, as it was written; "": it stands in the document
}

// NamedArg is an argument with the name of its attribute.
type NamedArg struct {
	Name string
	Arg
}

// Arg gives an argument by its attribute's name; the zero Arg if it is not given.
func (e *Element) Arg(name string) Arg {
	for i := range e.Args {
		if e.Args[i].Name == name {
			return e.Args[i].Arg
		}
	}
	return Arg{}
}

func (e *Element) set(flag string, on bool) {
	if e.Flags == nil {
		e.Flags = map[string]bool{}
	}
	e.Flags[flag] = on
}

// Exec is what is known of an exec block.
type Exec struct {
	As                        string
	With                      []With
	ThrowOnError, Silent, Lax bool
	Once                      bool  // never run again without asking
	TimeoutMS                 int64 // 0: none
	Cwd                       string
}

// With is one value handed to an exec block.
type With struct {
	Name string
	Path *expr.Path // the value bound to Name
	File bool       // @file: the variable holds the path of a file with the value
	Pos  diag.Span
}

// Const gives the value that an argument always has; ok is false if it is not given or not known before the run.
func (a Arg) Const() (v any, ok bool) {
	switch {
	case !a.Given:
		return nil, false
	case a.Expr == nil:
		return a.Literal, true
	}
	return a.Expr.Const()
}

// typ is what is known of a value that fits.
func (s *SchemaArg) typ() *expr.Type {
	if s == nil || s.Schema == nil {
		return nil
	}
	return s.Schema.Type()
}
