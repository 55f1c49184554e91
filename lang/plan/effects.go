package plan

import "xmd/lang/resolve"

// SchemaArg is a schema attribute: known before the run, or computed by an expression.
type SchemaArg = resolve.SchemaArg

// File reads a file, or writes its body to it.
type File struct {
	Step
	Path       Arg
	As         string
	Write      bool
	Body       []Node
	CloseFirst bool // the closing tag is first on its line; see layout.NewFile
}

// Glob lists files.
type Glob struct {
	Step
	Include, Exclude Arg // a string or an array of strings
	As               string
}

// TempDir binds the path of a folder that lives as long as Body.
type TempDir struct {
	Step
	As   string
	Body []Node
}

// Json renders or binds a value as two-space JSON text.
type Json struct {
	Step
	Value Arg
	As    string
}

// Parse reads its body as JSON and checks it: Safe binds {ok, value} or {ok, input, errors}, else a fault is a failure.
type Parse struct {
	Step
	Safe   bool
	Schema SchemaArg
	As     string
	Body   []Node
}

// Fetch gets a URL.
type Fetch struct {
	Step
	URL       Arg
	Method    string // GET or HEAD
	Headers   Arg    // an object of strings
	TimeoutMS int64  // 0: none, or Timeout computes it
	Timeout   Arg    // given: an expression of the duration
	As        string
}

// Elicit asks a person.
type Elicit struct {
	Step
	Schema  SchemaArg
	Choices Arg // an array
	Default Arg
	As      string
	Body    []Node // the question; captured
}

func (*File) planNode()    {}
func (*Glob) planNode()    {}
func (*TempDir) planNode() {}
func (*Json) planNode()    {}
func (*Parse) planNode()   {}
func (*Fetch) planNode()   {}
func (*Elicit) planNode()  {}
