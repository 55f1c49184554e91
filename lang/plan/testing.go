package plan

import (
	"strconv"

	"xmd/lang/expr"
	"xmd/lang/resolve"
	"xmd/lang/syntax"
)

// DefaultTestTimeoutMS is how long a test may take, in milliseconds, unless it says otherwise.
const DefaultTestTimeoutMS = 60_000

// Test is one test of a test document. It stands directly in it.
type Test struct {
	Step
	Name      string
	TimeoutMS int64
	Files     string // the folder whose content its run's directory begins with, relative to the document; "": that begins empty
	Body      []Node
}

// TestAgent has a scripted agent stand in for every agent in its body.
type TestAgent struct {
	Step
	Script Arg    // the file of the script; not given: Rules are the script, or there is none
	Rules  []Rule // in the order of the document
	Body   []Node
}

// Rule is one WhenPrompt of a script that stands in the document.
type Rule struct {
	Pos  Span
	Text string // the whole element
}

// Run runs another document.
type Run struct {
	Step
	Src     Arg // relative to the test document
	Props   Arg // an object; not given: none
	Answers Arg // an object, by the names of the questions; not given: none
	As      string
}

// Assertion is what a test wants to be so.
type Assertion struct {
	Step
	Kind     AssertKind
	Actual   Arg    // of Holds: the condition
	Expected Arg    // of Equals; the part of Contains, the pattern of Matches, the kind of Throws
	Body     []Node // of Throws
}

// AssertKind is what an Assertion wants.
type AssertKind string

// The kinds of assertions.
const (
	Holds    AssertKind = "holds"    // Assert: the condition is true
	Equals   AssertKind = "equals"   // AssertEquals: two values are the same as JSON
	Contains AssertKind = "contains" // AssertContains: a string has a part, an array an item
	Matches  AssertKind = "matches"  // AssertMatch: a string has a match of a regular expression
	Throws   AssertKind = "throws"   // AssertThrows: the body fails
)

func (*Test) planNode()      {}
func (*TestAgent) planNode() {}
func (*Run) planNode()       {}
func (*Assertion) planNode() {}

// Tests lists the tests of a test document, in its order.
func (p *Plan) Tests() []*Test {
	var list []*Test
	for _, n := range p.Body {
		switch n := n.(type) {
		case *Test:
			list = append(list, n)
		case *Line:
			for _, inner := range n.Body {
				if t, ok := inner.(*Test); ok {
					list = append(list, t)
				}
			}
		}
	}
	return list
}

// ForTest is the plan of one test: what stands before it outside of tests, and the test. p is not changed; the two share their nodes.
func (p *Plan) ForTest(t *Test) *Plan {
	only := *p
	only.Body, _ = upTo(p.Body, t)
	only.Digest = digest(&only)
	return &only
}

// upTo leaves out other tests, and all behind t.
func upTo(list []Node, t *Test) (out []Node, found bool) {
	for _, n := range list {
		switch n := n.(type) {
		case *Test:
			if n == t {
				return append(out, n), true
			}
			continue
		case *Line:
			line := *n
			if line.Body, found = upTo(n.Body, t); len(line.Body) > 0 {
				out = append(out, &line)
			}
			if found {
				return out, true
			}
			continue
		}
		out = append(out, n)
	}
	return out, false
}

// testing builds what belongs to test documents; nil: the element is something else.
func (b *builder) testing(el *syntax.Element, e *resolve.Element, step Step, l *level) Node {
	switch el.Name {
	case "Test":
		n := &Test{Step: step, Name: e.Arg("name").Literal, TimeoutMS: e.TimeoutMS, Files: useOf(e.Arg("files")).Value, Body: b.body(el, step, l.throws)}
		if n.TimeoutMS == 0 {
			n.TimeoutMS = DefaultTestTimeoutMS
		}
		return n
	case "TestAgent":
		return &TestAgent{Step: step, Script: e.Arg("script"), Rules: b.rules(el), Body: b.body(el, step, l.throws)}
	case "Run":
		return &Run{Step: step, Src: e.Arg("src"), Props: e.Arg("props"), Answers: e.Arg("answers"), As: e.As}
	case "Assert":
		return &Assertion{Step: step, Kind: Holds, Actual: e.Arg("condition")}
	case "AssertEquals":
		return &Assertion{Step: step, Kind: Equals, Actual: e.Arg("actual"), Expected: e.Arg("expected")}
	case "AssertContains":
		return &Assertion{Step: step, Kind: Contains, Actual: e.Arg("actual"), Expected: e.Arg("part")}
	case "AssertMatch":
		return &Assertion{Step: step, Kind: Matches, Actual: e.Arg("actual"), Expected: e.Arg("pattern")}
	case "AssertThrows":
		return &Assertion{Step: step, Kind: Throws, Expected: e.Arg("kind"), Body: b.body(el, step, true)}
	}
	return nil
}

// rules are the rules that stand directly in a TestAgent.
func (b *builder) rules(el *syntax.Element) []Rule {
	var list []Rule
	for n := range syntax.Children(el.Body) {
		if inner, ok := n.(*syntax.Element); ok && b.isRule(inner) {
			list = append(list, Rule{inner.Pos, b.src.Text[inner.Pos.Start:inner.Pos.End]})
		}
	}
	return list
}

// isRule tells whether an element is part of a script: it was left to the agent.
func (b *builder) isRule(el *syntax.Element) bool { return b.info.Elements[el] == nil }

// testing writes the steps of this file; false: the node is another.
func (d *digester) testing(n Node) bool {
	switch n := n.(type) {
	case *Test:
		d.written(n.Step, n.Name, strconv.FormatInt(n.TimeoutMS, 10), n.Files)
		d.nodes(n.Body)
	case *TestAgent:
		d.written(n.Step)
		d.args(n.Script)
		for _, r := range n.Rules {
			d.text(r.Text)
		}
		d.text("end")
		d.nodes(n.Body)
	case *Run:
		d.written(n.Step, n.As)
		d.args(n.Src, n.Props, n.Answers)
	case *Assertion:
		d.written(n.Step, string(n.Kind))
		d.args(n.Actual, n.Expected)
		d.nodes(n.Body)
	default:
		return false
	}
	return true
}

// testingText says what a step of this file does.
func testingText(n Node, add func(string, ...any)) {
	switch n := n.(type) {
	case *Test:
		add("%s", expr.JSON(n.Name))
		add1(add, "files %s", n.Files)
	case *TestAgent:
		switch {
		case n.Script.Given:
			add("script %s", given(n.Script))
		case len(n.Rules) > 0:
			add("%s", counted(len(n.Rules), "rule", "rules"))
		default:
			add("no script")
		}
	case *Run:
		add("runs %s", given(n.Src))
		add1(add, "props %s", given(n.Props))
		add1(add, "answers %s", given(n.Answers))
		add("%s", bindsOr(n.As, "renders its output"))
	case *Assertion:
		assertText(n, add)
	}
}

func assertText(n *Assertion, add func(string, ...any)) {
	switch n.Kind {
	case Holds:
		add("%s", short(argText(n.Actual)))
	case Throws:
		add("its body fails")
		add1(add, "kind %s", given(n.Expected))
	default:
		add("%s", short(argText(n.Actual)))
		add("%s %s", n.Kind, short(argText(n.Expected)))
	}
}

// testing fills in a step of this file.
func (s *jsonStep) testing(n Node) {
	switch n := n.(type) {
	case *Test:
		s.Kind, s.Name, s.TimeoutMS, s.Files = "test", n.Name, n.TimeoutMS, n.Files
	case *TestAgent:
		s.Kind, s.Script, s.Rules = "testagent", jsonArg(n.Script), len(n.Rules)
	case *Run:
		s.Kind, s.Src, s.Input, s.Answers, s.As = "run", jsonArg(n.Src), jsonArg(n.Props), jsonArg(n.Answers), n.As
	case *Assertion:
		s.Kind, s.Assertion, s.Actual, s.Expected = "assert", string(n.Kind), jsonArg(n.Actual), jsonArg(n.Expected)
	}
}
