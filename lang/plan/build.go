package plan

import (
	"strconv"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/resolve"
	"xmd/lang/syntax"
)

// Files gives the files that documents use: component files and schema files.
type Files = resolve.Files

// SourceFile is a file that a document uses.
type SourceFile = resolve.File

// Compiler makes plans of documents that use files. The zero value has no files. It may be used concurrently if its Files may.
type Compiler struct{ Files Files }

// Compile resolves a parsed document, and the component files that it uses, and makes its plan. The list holds every error and
// warning, sorted by place; those in other files name their Source. With an error in it the Plan is nil. A document with errors
// of parsing may be given too, to have all errors at once.
func (c Compiler) Compile(doc *syntax.Document) (*Plan, diag.List) {
	info, list := resolve.Resolve(doc, resolve.Options{Files: c.Files})
	if list.HasErrors() {
		return nil, list
	}
	return Build(doc, info), list
}

// CompileEntry is Compile for an entry of a REPL: bound are the names that earlier entries bound, and the Names returned
// are those bound after it. With errors they are bound itself.
func (c Compiler) CompileEntry(doc *syntax.Document, bound Names) (*Plan, Names, diag.List) {
	info, list := resolve.Resolve(doc, resolve.Options{Entry: true, Bound: bound, Files: c.Files})
	if list.HasErrors() {
		return nil, bound, list
	}
	return Build(doc, info), info.Bound, list
}

// Compile is Compiler.Compile for a document that uses no files.
func Compile(doc *syntax.Document) (*Plan, diag.List) { return Compiler{}.Compile(doc) }

// CompileEntry is Compiler.CompileEntry for an entry that uses no files.
func CompileEntry(doc *syntax.Document, bound Names) (*Plan, Names, diag.List) {
	return Compiler{}.CompileEntry(doc, bound)
}

// Build makes the plan of a document that was resolved without errors, and of the component files that it uses.
func Build(doc *syntax.Document, info *resolve.Info) *Plan {
	return build(doc, info, map[*resolve.Unit]*Plan{})
}

func build(doc *syntax.Document, info *resolve.Info, units map[*resolve.Unit]*Plan) *Plan {
	b := &builder{src: doc.Source, info: info, units: units}
	p := &Plan{Source: doc.Source, Inputs: info.Inputs, Returns: info.Returns, Regions: info.Regions, Files: info.Files}
	p.Body, _ = b.nodes(doc.Body, &level{})
	p.Digest = digest(p)
	return p
}

type builder struct {
	src  *diag.Source
	info *resolve.Info

	units map[*resolve.Unit]*Plan // the component files that were built
}

// level is one list of sibling elements.
type level struct {
	path   string // identity of what holds them, "" or "If1/body/"
	count  int    // elements so far; text and comments do not count
	throws bool   // what fails here is thrown: it does not stand in the output
}

// id numbers the next element.
func (l *level) id(kind string) string {
	l.count++
	return l.path + kind + strconv.Itoa(l.count)
}

func inside(step Step, part string, throws bool) *level {
	return &level{path: step.ID + "/" + part + "/", throws: throws}
}

// body builds the body of an element.
func (b *builder) body(el *syntax.Element, step Step, throws bool) []Node {
	list, _ := b.nodes(el.Body, inside(step, "body", throws))
	return list
}

// nodes builds a list; acts tells whether any of it is a step.
func (b *builder) nodes(list []syntax.Node, l *level) (out []Node, acts bool) {
	for _, n := range list {
		made, act := b.node(n, l)
		acts = acts || act
		if made != nil {
			out = appendNode(out, made)
		}
	}
	return out, acts
}

// appendNode joins texts that stand side by side, so that author comments leave no trace in the plan.
func appendNode(out []Node, n Node) []Node {
	if t, ok := n.(*Text); ok && len(out) > 0 {
		if last, ok := out[len(out)-1].(*Text); ok && last.Gap == t.Gap {
			last.join(t.Value)
			return out
		}
	}
	return append(out, n)
}

// join makes a text longer. What was joined before is not copied again: a page of braces that are text stays linear.
func (t *Text) join(more string) {
	if t.joined == nil {
		t.joined = &strings.Builder{}
		t.joined.WriteString(t.Value)
	}
	t.joined.WriteString(more)
	t.Value = t.joined.String()
}

func (b *builder) node(n syntax.Node, l *level) (made Node, acts bool) {
	switch n := n.(type) {
	case *syntax.Text:
		if n.Value == "" {
			return nil, false
		}
		return &Text{Value: n.Value, Gap: n.Gap}, false
	case *syntax.Interp:
		if path := b.info.Paths[n]; path != nil {
			return &Value{Pos: n.Pos, Path: path}, false
		}
		return &Text{Value: "{" + n.Path + "}"}, false
	case *syntax.Line:
		line := &Line{Indent: n.Indent, EOL: n.EOL}
		line.Body, acts = b.nodes(n.Body, l)
		return line, acts
	case *syntax.Fill:
		fill := &Fill{Open: n.Open, Close: n.Close, Marker: n.Marker}
		fill.Body, _ = b.nodes(n.Body, l)
		return fill, false
	case *syntax.Exec:
		return b.exec(n, l), true
	case *syntax.Element:
		if b.isRule(n) {
			return nil, false
		}
		return b.element(n, l), true
	}
	return nil, false
}

func (b *builder) element(el *syntax.Element, l *level) Node {
	e := b.info.Elements[el]
	step := Step{ID: l.id(el.Name), Pos: el.Pos}
	if e.Use != nil {
		return b.component(el, e, step, l)
	}
	switch el.Name {
	case "Prompt":
		return b.prompt(el, e, step, l)
	case "Agent":
		return &Agent{Step: step, Name: e.Arg("name"), Model: e.Arg("model"), Effort: e.Arg("effort"), Mode: e.Arg("mode"),
			Body: b.body(el, step, l.throws), Self: el.SelfClosing}
	case "Session.Launch":
		return &Launch{Step: step, Agent: e.Arg("agent"), Session: e.Arg("session"), Instructions: e.HasBody, Body: b.body(el, step, true)}
	case "Session":
		return &Session{Step: step, Name: e.Arg("name"), Body: b.body(el, step, l.throws)}
	case "Let":
		n := &Let{Step: step, As: e.As, Value: e.Arg("value")}
		if !n.Value.Given {
			n.Body = b.body(el, step, true)
		}
		return n
	}
	if n := b.control(el, e, step, l); n != nil {
		return n
	}
	if n := b.effect(el, e, step); n != nil {
		return n
	}
	if n := b.offer(el, e, step, l); n != nil {
		return n
	}
	if n := b.testing(el, e, step, l); n != nil {
		return n
	}
	panic("plan: an element that was not resolved: " + el.Name)
}

func (b *builder) prompt(el *syntax.Element, e *resolve.Element, step Step, l *level) *Prompt {
	n := &Prompt{Step: step, Text: e.Arg("text"), Agent: e.Arg("agent"), Session: e.Arg("session"), As: e.As,
		ThrowOnError: e.Flags["throwOnError"], ThrowIf: e.Arg("throwOnError"), Schema: schemaOf(e), Retries: e.Arg("retries"),
		TimeoutMS: e.TimeoutMS, Timeout: e.Arg("timeout"), Resend: e.Arg("resend").Given}
	n.Throws = l.throws || n.As != "" || n.ThrowOnError
	if !n.Text.Given {
		n.Body, n.Wraps = b.nodes(el.Body, inside(step, "body", true))
	}
	return n
}

func schemaOf(e *resolve.Element) SchemaArg {
	if e.Schema == nil {
		return SchemaArg{}
	}
	return *e.Schema
}

func (b *builder) exec(n *syntax.Exec, l *level) *Exec {
	e := b.info.Execs[n]
	return &Exec{Step: Step{ID: l.id("exec"), Pos: n.Pos}, Lang: n.Lang, Program: n.Program, As: e.As, With: e.With,
		ThrowOnError: e.ThrowOnError, Silent: e.Silent, Lax: e.Lax, Once: e.Once, TimeoutMS: e.TimeoutMS, Cwd: e.Cwd, FirstLine: firstLine(n.Program)}
}

// firstLine is the first line of a program that holds more than white space or a comment; a program of comments gives its
// first comment.
func firstLine(program string) string {
	comment := ""
	for line := range strings.Lines(program) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			return line
		}
		if comment == "" {
			comment = line
		}
	}
	return comment
}
