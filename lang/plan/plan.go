package plan

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/resolve"
	"xmd/lang/schema"
)

// Span is a half-open range of byte offsets in the plan's source.
type Span = diag.Span

// Plan is a checked document, ready to run. Nothing in it changes after it was made.
type Plan struct {
	Source *diag.Source
	Digest string // SHA-256 (hex) of the canonical form: what is rendered and done, not how the tags were spaced
	Inputs Inputs
	Body   []Node

	Returns *schema.Schema // the document is a value of this schema; nil: it is text
	Regions bool           // the document has Output regions: only they are written

	Files []*diag.Source // schema files that the document names, each once, in the order of their first uses
}

// Inputs are what a document takes from outside.
type Inputs = resolve.Inputs

// Prop is one input.
type Prop = resolve.Prop

// EnvName is one name listed under env: in the frontmatter.
type EnvName = resolve.EnvName

// Names are bound names, handed from one REPL entry to the next.
type Names = resolve.Names

// Node is one thing that renders or acts. *Text, *Value, *Line and *Fill render; all others are steps (see control.go and effects.go).
type Node interface{ planNode() }

// Text is author text. With Gap it is blanks between whole elements of a Line: rendered only if something after it on the line is
// (syntax.Text.Gap).
type Text struct {
	Value string
	Gap   bool

	joined *strings.Builder // the buffer of Value while the plan is built; nil for a text of one piece
}

// Value is an interpolation {path} of a bound name.
type Value struct {
	Pos  Span
	Path *expr.Path
}

// Line is a line of whole elements; see syntax.Line.
type Line struct {
	Indent string
	EOL    string
	Body   []Node
}

// Fill is an interpolated fence; see syntax.Fill.
type Fill struct {
	Open, Close, Marker string
	Body                []Node
}

// Arg is the value of an attribute: a literal string, or an expression. The zero Arg is "not given".
type Arg = resolve.Arg

// Step is what every acting node carries.
type Step struct {
	ID  string // step identity without rounds and turns: kinds and numbers of elements, "If1/body/Prompt2"
	Pos Span   // from < on
}

// Prompt is one turn of an agent.
type Prompt struct {
	Step
	Text         Arg    // given: the words; else Body is rendered
	Body         []Node // captured
	Agent        Arg
	Session      Arg
	As           string // "": the reply renders in place
	ThrowOnError bool
	ThrowIf      Arg  // throwOnError as an expression; else not given
	Throws       bool // the place throws: inside a captured body or a Try, with as, or ThrowOnError
	Wraps        bool // Body holds nodes that act
	Schema       SchemaArg
	Retries      Arg   // not given: 2
	TimeoutMS    int64 // 0: none, or Timeout computes it
	Timeout      Arg   // given: an expression of the duration, a string as resolve.Duration reads it
	Resend       bool  // resend="auto": the author's consent to a second sending; else ask
}

// Agent pins the agent, and its model, effort and mode, for its body. Self-closing (no Body): checks availability only.
type Agent struct {
	Step
	Name                Arg
	Model, Effort, Mode Arg
	Body                []Node
	Self                bool
}

// Session pins the session for its body. Without a Name it is a fresh unnamed session each time it is entered.
type Session struct {
	Step
	Name Arg
	Body []Node
}

// Let binds a value or its rendered body.
type Let struct {
	Step
	As    string
	Value Arg // given: the value
	Body  []Node
}

// If renders Then or Else.
type If struct {
	Step
	Cond       Arg
	Then, Else []Node
}

// Exec is an exec block.
type Exec struct {
	Step
	Lang         string
	Program      string
	As           string
	With         []With
	ThrowOnError bool
	Silent, Lax  bool
	Once         bool  // never run again on resume without asking
	TimeoutMS    int64 // 0: none
	Cwd          string
	FirstLine    string // of the program, for messages
}

// With is one value handed to an exec block.
type With = resolve.With

func (*Text) planNode()    {}
func (*Value) planNode()   {}
func (*Line) planNode()    {}
func (*Fill) planNode()    {}
func (*Prompt) planNode()  {}
func (*Agent) planNode()   {}
func (*Session) planNode() {}
func (*Let) planNode()     {}
func (*If) planNode()      {}
func (*Exec) planNode()    {}
