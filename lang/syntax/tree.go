// Package syntax holds the tree of a document and builds it from tokens.
package syntax

import "xmd/lang/diag"

// Span is a half-open range of byte offsets in the source.
type Span = diag.Span

// Document is one parsed source text. Body has been laid out (package layout): its texts are what is rendered.
type Document struct {
	Source *diag.Source
	Front  *Front // nil: no frontmatter
	Body   []Node

	// Incomplete tells that the only trouble is something still open at the end of the text: an element, a tag, a fence, a brace or a
	// comment. More text may make it whole (the REPL asks for another line). An open inert fence is no error, but is incomplete.
	Incomplete bool
}

// Front is the raw frontmatter: the YAML between the two --- lines.
type Front struct {
	Pos  Span   // the whole block, both --- lines included
	YAML string // what stands between them
	Off  int    // byte offset of YAML in the source
}

// Node is one piece of a document: *Text, *Interp, *Element, *Exec, *Fill, *Line or *Comment.
type Node interface {
	Span() Span
	node()
}

// Text is author text, put out as it is. Escapes are resolved, indentation is moved.
type Text struct {
	Pos   Span
	Value string
	Inert bool // from a code span, an inert fence or a comment: braces in it never act
	Block bool // a fence or comment: its inner lines never count when indentation is measured
	Gap   bool // in the Body of a Line: blanks between whole elements, put out only before something rendered later on the line
}

// Interp is an interpolation {path}.
type Interp struct {
	Pos  Span   // braces included
	Path string // the text between the braces
}

// Element is one use of a component.
type Element struct {
	Pos         Span // from < of the opening tag to > of the closing one
	Name        string
	NameSpan    Span
	Attrs       []*Attr
	Open        Span // the opening tag
	Close       Span // the closing tag; empty when SelfClosing
	SelfClosing bool
	Body        []Node
	CloseFirst  bool // the closing tag is the first thing on its line (File ends with one line end)
	Quotes      int  // block quotes the opening tag stands in
	CloseQuotes int  // block quotes the closing tag stands in
}

// AttrKind tells how an attribute was written.
type AttrKind uint8

const (
	AttrTrue   AttrKind = iota // a
	AttrString                 // a="s"
	AttrExpr                   // a={expression}
)

// Attr is one attribute of an opening tag.
type Attr struct {
	Pos       Span
	Name      string
	NameSpan  Span
	Kind      AttrKind
	Value     string // decoded string, or the expression's source
	ValueSpan Span   // without quotes or braces: ValueSpan.Start is the offset of Value's first byte in the source
}

// Exec is a fenced block with the word exec.
type Exec struct {
	Pos      Span
	Lang     string // first word of the info string
	LangSpan Span
	Words    []*InfoWord // the words after exec, in order
	Program  string      // fence indent, quote markers removed; LF line ends
	Quotes   int         // block quotes it stands in
}

// InfoWord is one word of an exec block's info string: silent, as="r", timeout=30s.
type InfoWord struct {
	Pos       Span
	Name      string
	Value     string
	HasValue  bool
	ValueSpan Span
}

// Fill is a fenced block with the word fill: its body is interpolated, then the fence is made longer than any run of its character in it.
type Fill struct {
	Pos    Span
	Open   string // opening line without the word fill, indent and line end included
	Body   []Node // *Text, *Interp
	Close  string // closing line, no line end
	Marker string // the fence's characters as written, "```"
	Quotes int    // block quotes it stands in
}

// Line is a line that holds only whole elements. If Body renders anything, Indent stands before it and exactly one EOL after it
// (none added to one that is there); otherwise nothing at all is put out. Its Body may begin with author text where the line's last
// element ends on a line of its own ("- <Prompt>" … "</Prompt>"). An element inside is still a direct child of what the Line stands in:
// Children sees through it. Else and Catch never stand in a Line; a line of theirs is inside them.
type Line struct {
	Pos    Span
	Indent string
	EOL    string // "", "\n" or "\r\n"
	Body   []Node
}

// Comment is an author comment {/* … */}: never rendered.
type Comment struct {
	Pos    Span
	Quotes int // block quotes it stands in
}

func (n *Text) Span() Span    { return n.Pos }
func (n *Interp) Span() Span  { return n.Pos }
func (n *Element) Span() Span { return n.Pos }
func (n *Exec) Span() Span    { return n.Pos }
func (n *Fill) Span() Span    { return n.Pos }
func (n *Line) Span() Span    { return n.Pos }
func (n *Comment) Span() Span { return n.Pos }
func (*Text) node()           {}
func (*Interp) node()         {}
func (*Element) node()        {}
func (*Exec) node()           {}
func (*Fill) node()           {}
func (*Line) node()           {}
func (*Comment) node()        {}
