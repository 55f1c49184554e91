package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"xmd/runtime"
	"xmd/runtime/event"
)

// people answers from a list, and notes what was asked.
type people struct {
	answers []runtime.Answer
	asked   []string
}

func (p *people) Ask(_ context.Context, q runtime.Question) (runtime.Answer, error) {
	p.asked = append(p.asked, strings.TrimSpace(fmt.Sprintf("%s: %s %v %s", q.Name, q.Text, q.Choices, q.Problem)))
	if len(p.answers) == 0 {
		return runtime.Answer{}, runtime.Errorf(runtime.KindWaiting, "nobody")
	}
	a := p.answers[0]
	p.answers = p.answers[1:]
	return a, nil
}

func texts(list ...string) []runtime.Answer {
	var all []runtime.Answer
	for _, s := range list {
		all = append(all, runtime.Answer{Text: s})
	}
	return all
}

func TestElicit(t *testing.T) {
	const yesno = `<Elicit choices={["yes", "no", 3]} as="a">Ship <Json value={1}/>?</Elicit>{a}`
	const number = `<Elicit schema={{"type": "integer", "minimum": 1}} as="n">How many?</Elicit>{n}`
	for _, c := range []struct {
		name, doc string
		given     map[string]runtime.Answer
		people    *people
		out, err  string
		asked     string
	}{
		{"given", yesno, map[string]runtime.Answer{"a": {Text: "no"}}, nil, "no", "", ""},
		{"given for the first", yesno, map[string]runtime.Answer{"a[1]": {Text: "no"}}, nil, "no", "", ""},
		{"given before a person", yesno, map[string]runtime.Answer{"a": {Text: "no"}}, &people{}, "no", "", ""},
		{"a choice that is a number", yesno, map[string]runtime.Answer{"a": {Text: "3"}}, nil, "3", "", ""},
		{"of a file", yesno, map[string]runtime.Answer{"a": {Value: int64(3), Parsed: true}}, nil, "3", "", ""},
		{"no choice", yesno, map[string]runtime.Answer{"a": {Text: "maybe"}}, nil, "", `the answer given for a must be one of "yes", "no", 3, is "maybe"`, ""},
		{"a number", number, map[string]runtime.Answer{"n": {Text: "12"}}, nil, "12", "", ""},
		{"no number", number, map[string]runtime.Answer{"n": {Text: "a dozen"}}, nil, "", `the answer given for n must be a number, is "a dozen"`, ""},
		{"too small", number, map[string]runtime.Answer{"n": {Text: "0"}}, nil, "", "the answer given for n must be at least 1, is 0", ""},
		{"any text", `<Elicit as="a">Why?</Elicit>[{a}]`, map[string]runtime.Answer{"a": {Text: "{x} 12"}}, nil, "[{x} 12]", "", ""},
		{"a person", yesno, nil, &people{answers: texts("yes")}, "yes", "", "a: Ship 1? [yes no 3]"},
		{"a person who errs", number, nil, &people{answers: texts("x", "0", "7")}, "7", "",
			`n: How many? []|n: How many? [] the answer must be a number, is "x"|n: How many? [] the answer must be at least 1, is 0`},
		{"a person who takes the default", `<Elicit default="d" as="a">?</Elicit>{a}`, nil, &people{answers: texts("")}, "d", "", "a: ? []"},
		{"a person who does not", yesno, nil, &people{}, "", `the question "Ship 1?" waits for an answer (one of "yes", "no", 3)`, "a: Ship 1? [yes no 3]"},
		{"the default", `<Elicit choices={["x", "y"]} default="y" as="a">?</Elicit>{a}`, nil, nil, "y", "", ""},
		{"a default that is no choice", given(`<Elicit choices={props.v} default="y" as="a">?</Elicit>`, "v"), nil, nil, "", `default must be "x", is "y"`, ""},
		{"no choices", given(`<Elicit choices={props.none} as="a">?</Elicit>`, "none"), nil, nil, "", "choices must be an array that holds something, is []", ""},
		{"in place", `<If condition={true}>[<Elicit>Name?</Elicit>]</If>`, map[string]runtime.Answer{"If1/body/Elicit1": {Text: "Ada"}}, nil, "[Ada]", "", ""},
		{"the second asking", `<Loop max={3}><Elicit as="a" default="-">?</Elicit>{a}</Loop>`, map[string]runtime.Answer{"a": {Text: "1"}, "a[3]": {Text: "3"}}, nil, "1-3", "", ""},
	} {
		b := newBench(t)
		b.props = map[string]any{"v": []any{"x"}, "none": []any{}}
		b.opts = func(o *runtime.Options) {
			o.Given = c.given
			if c.people != nil {
				o.Answers = c.people
			}
		}
		r := b.flow(c.doc)
		if r.out != c.out || !says(r.err, c.err) {
			t.Errorf("%s: %q, %v", c.name, r.out, r.err)
		}
		if c.people != nil && strings.Join(c.people.asked, "|") != c.asked {
			t.Errorf("%s: asked\n got %s\nwant %s", c.name, strings.Join(c.people.asked, "|"), c.asked)
		}
	}
}

func TestWaiting(t *testing.T) {
	b := newBench(t)
	var said []string
	b.opts = func(o *runtime.Options) { o.Notice = func(s string) { said = append(said, s) } }
	r := b.flow("<Try><Parallel><Elicit as=\"ship\">Ship it?\nReally?</Elicit><Prompt text=\"other\"/></Parallel><Catch>no</Catch></Try>")
	if runtime.KindOf(r.err) != runtime.KindWaiting || len(b.agents["fake"].prompts) != 1 {
		t.Errorf("%v, prompts %q", r.err, b.agents["fake"].prompts)
	}
	want := "the question \"Ship it? …\" waits for an answer\ngo on with: xmd resume run1 --answer 'ship=…'"
	if len(r.failures) != 1 || r.failures[0].Message != want {
		t.Errorf("%v", r.failures)
	}
	if got := r.types(); strings.Count(got, "question") != 1 || strings.Contains(got, "answer") {
		t.Error(got)
	}
	r = b.flow(`<Elicit as="a" default={7}>?</Elicit>`)
	if len(said) != 1 || said[0] != `a: nobody is here to answer "?"; the default 7 is taken.` {
		t.Errorf("%q", said)
	}
	for _, e := range r.events {
		if a, ok := e.Body.(*event.Answered); ok && (a.Name != "a" || a.From != "default" || a.Value != int64(7)) {
			t.Errorf("%+v", a)
		}
	}
}
