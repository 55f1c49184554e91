package plan

// Each renders its body for every item of an array. The body has a scope of its own: names bound in it end with it.
type Each struct {
	Step
	In       Arg
	Let      string // the item's name in the body
	As       string // "": every body renders in place; else an array is bound, one element per item, and nothing renders
	Collect  Arg    // given: its value at the end of a body is the element; else the body's text
	Parallel Arg    // given: how many bodies run at once (1 to 64)
	Body     []Node
}

// Loop renders its body again and again until a Break or Max rounds.
type Loop struct {
	Step
	Max  Arg
	Body []Node
}

// Break leaves the nearest Loop.
type Break struct{ Step }

// Parallel runs its branches at once. Rendering goes through Body in document order; a node that is a branch renders what its
// run put out.
type Parallel struct {
	Step
	Max      Arg // not given: 8
	Body     []Node
	Branches []*Branch
}

// Branch is one component or exec block directly inside a Parallel. Binds are the names it binds: no other branch sees them, and all
// are bound when the Parallel ends. Resolve makes the table, the executor only follows it.
type Branch struct {
	Node  Node
	Binds []string
}

// Try renders Body; a failure in it runs Catch and is handled.
type Try struct {
	Step
	Body, Catch []Node
	HasCatch    bool
	As          string // the error's name in Catch
}

// Fail ends the run failed.
type Fail struct {
	Step
	Message Arg
}

// Output is a region of the output: a document that has one writes nothing else.
type Output struct {
	Step
	Body []Node
}

// Return gives the value of a document with returns: and ends it.
type Return struct {
	Step
	Value Arg
}

// Policy is ApproveAll, ApproveReads, AskPermission, DenyAll or Permissions around a body.
type Policy struct {
	Step
	Policy      string // allow-all, approve-reads, ask, deny-all; "": the enclosing one
	Deny, Allow Arg    // lists of "kind" or "kind:glob"
	Body        []Node
}

// Component is one use of a component file. Identities of steps in Document begin anew; they follow this step's own identity and
// "/file/". Children are part of the caller's document: their identities are this step's with "/body/", and where Content puts them in
// more than once they follow that of the Content.
type Component struct {
	Step
	Name     string
	Document *Plan          // of the file; the same file is one Plan
	Props    map[string]Arg // by prop; bound and checked by the executor with Document.Inputs.BindValues
	As       string         // its text, or its value where the file has returns
	Throws   bool           // the place throws: what fails in the file is thrown, whatever its own steps say
	Children []Node         // of no slot, evaluated in the caller's scope; nil: none were given, Content renders its Fallback
	Slots    map[string][]Node
}

// Content renders the caller's children in a component file. They run as they would where they were written: with the caller's
// names, agent, session and policy.
type Content struct {
	Step
	Slot     string // "": the children of no slot
	Throws   bool   // the place throws: what fails in the children is thrown
	Fallback []Node
}

func (*Each) planNode()      {}
func (*Loop) planNode()      {}
func (*Break) planNode()     {}
func (*Parallel) planNode()  {}
func (*Try) planNode()       {}
func (*Fail) planNode()      {}
func (*Output) planNode()    {}
func (*Return) planNode()    {}
func (*Policy) planNode()    {}
func (*Component) planNode() {}
func (*Content) planNode()   {}
