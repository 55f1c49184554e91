package plan_test

import (
	"slices"
	"strings"
	"testing"

	"xmd/lang/layout"
	"xmd/lang/plan"
)

const tested = `<Let as="a" value={1}/>
<Test name="one" timeout="5s" files="f"><TestAgent script="s"><Run src="x.xmd" props={{"p": a}} answers={{"q": 1}} as="r"/></TestAgent></Test>  <Test name="two">
<TestAgent>
  <WhenPrompt template="Hello {?who}">Hello {who}, <Say>you</Say></WhenPrompt>
  <AssertEquals actual={a} expected={1}/>
</TestAgent></Test>
<Let as="a" value={2}/>
<Test name="three"><Assert condition={a == 2}/><AssertThrows kind="failed"><Fail message="x"/></AssertThrows></Test>
`

// TestForTest: the plan of a test has what stands before it outside of tests, and nothing else.
func TestForTest(t *testing.T) {
	p := compile(t, "a.test.xmd", tested)
	var names []string
	for _, test := range p.Tests() {
		only := p.ForTest(test)
		var steps []string
		for _, it := range only.Items() {
			if it.Depth == 0 {
				steps = append(steps, it.ID)
			}
		}
		names = append(names, test.Name+": "+strings.Join(steps, " "))
		if only.Digest == p.Digest || only.Tests()[0] != test || len(only.Tests()) != 1 {
			t.Errorf("%s: digest or tests are wrong", test.Name)
		}
	}
	want := []string{"one: Let1 Test2", "two: Let1 Test3", "three: Let1 Let4 Test5"}
	if !slices.Equal(names, want) {
		t.Errorf("got  %q\nwant %q", names, want)
	}
	if len(p.Tests()) != 3 || p.Digest != compile(t, "a.test.xmd", tested).Digest {
		t.Error("the plan was changed")
	}
}

// TestTestDigest: all that a test does is part of the digest; where its script stands is not.
func TestTestDigest(t *testing.T) {
	digest := compile(t, "a.test.xmd", tested).Digest
	if compile(t, "a.test.xmd", strings.Replace(tested, "<TestAgent>\n", "<TestAgent>{/* c */}\n{/* d */}\n", 1)).Digest != digest {
		t.Error("comments change the digest")
	}
	for _, change := range [][2]string{{`"one"`, `"eins"`}, {`"5s"`, `"6s"`}, {`files="f"`, `files="g"`}, {`script="s"`, `script="t"`}, {"x.xmd", "y.xmd"}, {`{"p": a}`, `{"p": 1}`},
		{`{"q": 1}`, `{"q": 2}`}, {`as="r"`, `as="s"`}, {"Hello {who}", "Bye {who}"}, {"expected={1}", "expected={2}"}, {"a == 2", "a == 3"}, {`kind="failed"`, ""}, {`message="x"`, `message="y"`}} {
		if compile(t, "a.test.xmd", strings.Replace(tested, change[0], change[1], 1)).Digest == digest {
			t.Errorf("%s for %s does not change the digest", change[1], change[0])
		}
	}
}

// TestRulesAreLeftAlone: what stands in a script is no step, and its names are not those of the document.
func TestRulesAreLeftAlone(t *testing.T) {
	p := compile(t, "a.test.xmd", tested)
	for _, it := range p.Items() {
		if n, ok := it.Node.(*plan.TestAgent); ok && len(n.Rules) > 0 {
			if want := `<WhenPrompt template="Hello {?who}">Hello {who}, <Say>you</Say></WhenPrompt>`; len(n.Rules) != 1 || n.Rules[0].Text != want {
				t.Errorf("got %+v", n.Rules)
			}
			return
		}
	}
	t.Error("there are no rules")
}

// TestWhiteSpaceOfTests: what belongs to a test document leaves no line where it renders nothing, and the body of AssertThrows is a text.
func TestWhiteSpaceOfTests(t *testing.T) {
	for text, want := range map[string]string{
		"A\n<Test name=\"t\">\n  <TestAgent>\n    <WhenPrompt template=\"x\">\n      y\n    </WhenPrompt>\n\n    B\n    <Run src=\"a\" as=\"r\"/>\n    <Run src=\"a\"/>\n  </TestAgent>\n  <Assert condition={r.exitCode == 0}/>\n</Test>\nC\n": "A\n\nB\nran\nC\n",
		"<Test name=\"t\">a <WhenPrompt/> b</Test>\n": "", // no rule: not in a TestAgent
		"- <Test name=\"t\">\n    <AssertEquals actual={1} expected={1}/> <AssertMatch actual=\"a\" pattern=\"a\"/>\n    - b\n  </Test>\n- c\n":       "- \n    - b\n- c\n",
		"> <Test name=\"t\">\n> <AssertThrows>\n>   one\n>\n>     two\n> </AssertThrows>\n> b <AssertContains actual=\"a\" part=\"a\"/>\n> </Test>\n": "> b \n|one\n\n  two",
	} {
		p, problem := tryCompile("d.test.xmd", text)
		if p == nil {
			if want != "" {
				t.Error(problem)
			}
			continue
		}
		var out layout.Buffer
		r := &renderer{names: map[string]any{}, files: map[string]string{}}
		if err := r.nodes(p.Body, &out); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if text, ok := r.names["throws"].(string); ok {
			got += "|" + text
		}
		if got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
}
