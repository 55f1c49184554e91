package resolve

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// TestSuffix ends the name of a document that holds tests.
const TestSuffix = ".test.xmd"

// MaxTestName is how many characters the name of a test may have.
const MaxTestName = 200

// rule is the element of a scripted agent's script. Directly in a TestAgent it belongs to the script; the agent reads it.
const rule = "WhenPrompt"

// ran is the type of what Run binds.
var ran = object(map[string]*expr.Type{
	"exitCode": expr.Of(expr.Number), "stdout": expr.Of(expr.String), "stderr": expr.Of(expr.String),
	"events": {Kinds: expr.Array, Elem: expr.Of(expr.Object)},
})

// testing resolves the components of test documents.
func (r *resolver) testing(el *syntax.Element, e *Element, p place) (ends bool) {
	r.testPlace(el, p)
	switch el.Name {
	case "Test":
		r.test(el, e)
		return false
	case "TestAgent":
		if hasAttr(el, "script") && hasRules(el) {
			r.diags.Add(CodeBody, attrSpan(el, "script"), "TestAgent has both script and "+rule, "leave one of them out")
		}
		if r.in.cast {
			r.diags.Add(CodeTest, tagSpan(el), "TestAgent stands in another", "end the other one before it")
		}
		r.inside(func(in *around) { in.cast = true }, func() { ends = r.nodes(el.Body, place{captured: p.captured, rules: true}) })
		return ends
	case "Run":
		r.bind(el, e, ran)
	case "AssertMatch":
		if text, ok := constant(e.Arg("pattern")); ok {
			if _, err := regexp.Compile(text); err != nil {
				r.diags.Add(CodeAttributeValue, e.Arg("pattern").Pos, "pattern is no regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "), "it is written as for matches")
			}
		}
	case "AssertThrows":
		mark := r.scope.arm() // how far its body came is not known
		r.nodes(el.Body, place{captured: true})
		r.scope.maybe(r.scope.leave(mark))
	}
	return false
}

// testPlace reports a component of test documents that stands where no test is.
func (r *resolver) testPlace(el *syntax.Element, p place) {
	switch {
	case !IsTest(r.source.Name):
		r.diags.Add(CodeTest, tagSpan(el), el.Name+" belongs in a test document", "such a file's name ends in "+TestSuffix+"; xmd test runs it")
	case el.Name == "Test" && !p.root:
		r.diags.Add(CodeTest, tagSpan(el), "Test stands only directly in the document", "move it out of the elements around it")
	case el.Name != "Test" && !r.in.test:
		r.diags.Add(CodeTest, tagSpan(el), el.Name+" stands outside of a Test", `put it into <Test name="…">`)
	case el.Name != "Test" && r.in.at == "Tool":
		r.diags.Add(CodeTest, tagSpan(el), el.Name+" cannot stand in a Tool", "what the tool does goes to the agent that calls it: test it behind the prompt")
	}
}

// IsTest tells whether a document of this name is a test document.
func IsTest(name string) bool { return strings.HasSuffix(name, TestSuffix) }

// test resolves one test. What it binds ends with it.
func (r *resolver) test(el *syntax.Element, e *Element) {
	r.testName(e.Arg("name"))
	for _, attr := range []string{"timeout", "files"} {
		if a := e.Arg(attr); a.Given {
			if _, known := a.Const(); !known {
				r.diags.Add(CodeAttributeValue, a.Pos, attr+" of Test must be written out", "it counts before the test begins")
			}
		}
	}
	r.inside(func(in *around) { in.test = true }, func() {
		mark := r.scope.arm()
		r.nodes(el.Body, place{})
		r.scope.leave(mark)
	})
}

func (r *resolver) testName(a Arg) {
	name := a.Literal
	if !a.Given {
		return
	}
	if name == "" || name != strings.Join(strings.Fields(name), " ") || utf8.RuneCountInString(name) > MaxTestName {
		r.diags.Add(CodeTestName, a.Pos, "a test's name is one line of up to 200 characters, without spaces at its ends or two in a row", "")
		return
	}
	if first, twice := r.tests[name]; twice {
		r.diags.Add(CodeTestName, a.Pos, "there is another test "+name, "give each its own name", diag.Related{Summary: "it is here", Span: first})
		return
	}
	if r.tests == nil {
		r.tests = map[string]diag.Span{}
	}
	r.tests[name] = a.Pos
}

// noResult reports what gives a test document a result of its own: its tests are its result.
func (r *resolver) noResult(body []syntax.Node) {
	if !IsTest(r.source.Name) {
		return
	}
	if r.info.value {
		r.diags.Add(CodeTest, r.returnsAt, "a test document has no returns:", "its tests are its result")
	}
	for n := range syntax.Children(body) {
		if el, ok := n.(*syntax.Element); ok && el.Name == "Output" {
			r.diags.Add(CodeTest, tagSpan(el), "a test document has no Output", "its tests are its result")
		}
	}
}

// hasRules tells whether a TestAgent holds its script.
func hasRules(el *syntax.Element) bool {
	for n := range syntax.Children(el.Body) {
		if inner, ok := n.(*syntax.Element); ok && inner.Name == rule {
			return true
		}
	}
	return false
}
