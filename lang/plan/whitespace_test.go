package plan_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"xmd/lang"
	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/resolve"
)

// renderer runs a plan with prompts that answer with their words, and programs that print themselves.
type renderer struct {
	names    map[string]any
	files    map[string]string // written by File
	children func(slot string, out layout.Sink) (given bool, err error)
}

func (r *renderer) nodes(list []plan.Node, out layout.Sink) error {
	for _, n := range list {
		if err := r.node(n, out); err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) node(n plan.Node, out layout.Sink) error {
	switch n := n.(type) {
	case *plan.Text:
		if line, ok := out.(*layout.Line); ok && n.Gap {
			return line.Gap(n.Value)
		}
		return out.Author(n.Value)
	case *plan.Value:
		v, err := n.Path.Eval(r.names)
		if err != nil {
			return err
		}
		return out.Value(expr.Render(v))
	case *plan.Line:
		line := layout.NewLine(out, n.Indent, n.EOL)
		if err := r.nodes(n.Body, line); err != nil {
			return err
		}
		return line.Close()
	case *plan.Fill:
		fill := layout.NewFill(out, n.Open, n.Close, n.Marker)
		if err := r.nodes(n.Body, fill); err != nil {
			return err
		}
		return fill.Close()
	case *plan.Exec:
		if n.As != "" {
			return nil
		}
		return out.Value("EXEC:" + n.Program)
	}
	return r.step(n, out)
}

func (r *renderer) step(n plan.Node, out layout.Sink) error {
	switch n := n.(type) {
	case *plan.If:
		v, err := n.Cond.Expr.Eval(r.names)
		if err != nil {
			return err
		}
		if v == true {
			return r.nodes(n.Then, out)
		}
		return r.nodes(n.Else, out)
	case *plan.Let:
		v, err := r.value(n.Value, n.Body)
		r.names[n.As] = v
		return err
	case *plan.Prompt:
		v, err := r.value(n.Text, n.Body)
		if err != nil {
			return err
		}
		reply := "«" + expr.Render(v) + "»"
		if n.As != "" {
			r.names[n.As] = reply
			return nil
		}
		in := layout.NewReply(out)
		if err := in.Value("\n" + reply + "\n\n"); err != nil {
			return err
		}
		return in.Close()
	}
	return r.more(n, out)
}

func (r *renderer) more(n plan.Node, out layout.Sink) error {
	switch n := n.(type) {
	case *plan.Each:
		list, err := n.In.Expr.Eval(r.names)
		if err != nil {
			return err
		}
		for _, item := range list.([]any) {
			inner := *r
			inner.names = maps.Clone(r.names)
			inner.names[n.Let] = item
			if err := inner.nodes(n.Body, out); err != nil {
				return err
			}
		}
		return nil
	case *plan.File:
		var b layout.Buffer
		ends := layout.NewFile(&b, n.CloseFirst)
		if err := r.nodes(n.Body, ends); err != nil {
			return err
		}
		err := ends.Close()
		r.files[n.Path.Literal] = b.String()
		return err
	case *plan.Content:
		given, err := false, error(nil)
		if r.children != nil {
			given, err = r.children(n.Slot, layout.AsValue(out))
		}
		if given || err != nil {
			return err
		}
		return r.nodes(n.Fallback, out)
	case *plan.Component:
		return r.component(n, out)
	case *plan.Conversation:
		return r.nodes(n.Body, out)
	case *plan.Test:
		return r.nodes(n.Body, out)
	case *plan.TestAgent:
		return r.nodes(n.Body, out)
	case *plan.Run:
		if n.As != "" {
			return nil
		}
		return out.Value("ran\n")
	case *plan.Assertion:
		if n.Kind == plan.Throws {
			text, err := r.value(plan.Arg{}, n.Body)
			r.names["throws"] = text
			return err
		}
		return nil
	case *plan.Tool:
		return r.keep("tool "+n.Name, n.Body)
	case *plan.Instructions:
		return r.keep("instructions", n.Body)
	}
	panic("not in the examples")
}

func (r *renderer) component(n *plan.Component, out layout.Sink) error {
	vals := map[string]any{}
	for name, a := range n.Props {
		v, err := r.value(a, nil)
		if err != nil {
			return err
		}
		vals[name] = v
	}
	props, errs := n.Document.Inputs.BindValues(vals)
	if len(errs) > 0 {
		return errs[0]
	}
	inner := &renderer{names: map[string]any{"props": props}, files: r.files, children: func(slot string, out layout.Sink) (bool, error) {
		list := n.Children
		if slot != "" {
			list = n.Slots[slot]
		}
		if list == nil {
			return false, nil
		}
		end := layout.NewCaptured(out)
		if err := r.nodes(list, end); err != nil {
			return true, err
		}
		return true, end.Close()
	}}
	end := layout.NewComponent(layout.AsValue(out))
	if err := inner.nodes(n.Document.Body, end); err != nil {
		return err
	}
	return end.Close()
}

// fileMap gives component files by their name and schemas by their path, all beside the documents that use them.
type fileMap map[string]string

func (f fileMap) Component(_, name string) (plan.SourceFile, bool, error) {
	path := "components/" + strings.ReplaceAll(name, ".", "/") + ".xmd"
	text, ok := f[path]
	return plan.SourceFile{Name: path, Text: text}, ok, nil
}

func (f fileMap) Components(string) (names []string) {
	for path := range f {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(path, ".xmd"), "components/"); ok {
			names = append(names, strings.ReplaceAll(name, "/", "."))
		}
	}
	slices.Sort(names)
	return names
}

func (f fileMap) Schema(_, path string) (plan.SourceFile, error) {
	text, ok := f[path]
	if !ok {
		return plan.SourceFile{}, errors.New("there is no such file")
	}
	return plan.SourceFile{Name: path, Text: text}, nil
}

func (r *renderer) value(a plan.Arg, body []plan.Node) (any, error) {
	switch {
	case a.Expr != nil:
		return a.Expr.Eval(r.names)
	case a.Given:
		return a.Literal, nil
	}
	var b layout.Buffer
	ends := layout.NewCaptured(&b)
	if err := r.nodes(body, ends); err != nil {
		return nil, err
	}
	err := ends.Close()
	return b.String(), err
}

// keep captures a body that renders nothing where it stands.
func (r *renderer) keep(name string, body []plan.Node) error {
	v, err := r.value(plan.Arg{}, body)
	r.files[name], _ = v.(string)
	return err
}

// TestCapturedOffers: the bodies of Tool and Instructions are texts of their own, and leave no line where they stand.
func TestCapturedOffers(t *testing.T) {
	for text, want := range map[string]string{
		"A\n<Instructions>\n  Be brief.\n\n    Very.\n</Instructions>\nB\n<Prompt text=\"q\"/>\n":    "A\nB\n«q»\n|instructions=Be brief.\n\n  Very.",
		"- a\n  <Tool name=\"t\">\n    one\n      two\n\n  </Tool>\n- b\n":                           "- a\n- b\n|tool t=one\n  two",
		"> <Tool name=\"t\">\n> one\n>\n> two\n> </Tool>\n> <Instructions> x </Instructions>\n> B\n": "> B\n|instructions= x |tool t=one\n\ntwo",
		"A <Tool name=\"t\">x</Tool>B\n": "A B\n|tool t=x",
		"<If condition={true}>\n  <Tool name=\"t\">\n    <If condition={true}>\n      x\n    </If>\n  </Tool>\n  y\n</If>\n":       "y\n|tool t=x",
		"- a\n  <Conversation>\n    <Instructions>\n      x\n    </Instructions>\n    - <Prompt text=\"q\"/>\n  </Conversation>\n": "- a\n  - «q»\n|instructions=x",
	} {
		p := compile(t, "d.xmd", text)
		var out layout.Buffer
		r := &renderer{names: map[string]any{}, files: map[string]string{}}
		if err := r.nodes(p.Body, &out); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		for _, name := range slices.Sorted(maps.Keys(r.files)) {
			got += "|" + name + "=" + r.files[name]
		}
		if got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
}

// TestWhiteSpace puts the worked examples of white space through the whole of the language.
func TestWhiteSpace(t *testing.T) {
	data, err := os.ReadFile("../layout/testdata/white-space.json")
	if err != nil {
		t.Fatal(err)
	}
	var ex struct {
		Components map[string]string
		Vars       map[string]any
		Examples   []struct {
			N             int
			Name, In, Out string
			Files         map[string]string
			Error         bool
		}
	}
	if err := json.Unmarshal(data, &ex); err != nil {
		t.Fatal(err)
	}
	files := fileMap{}
	for name, text := range ex.Components {
		front := map[string]string{"Card": "---\nprops: {title: {type: string}}\n---\n", "Greet": "---\nprops: {who: {type: string}}\n---\n"}[name]
		files["components/"+name+".xmd"] = front + text
	}
	ran := 0
	for _, c := range ex.Examples {
		bound := plan.Names{}
		vars := maps.Clone(ex.Vars)
		for name, v := range vars {
			if vars[name], err = expr.Normalize(v); err != nil {
				t.Fatal(err)
			}
			bound[name] = resolve.Bound{}
		}
		doc, list := lang.Parse("in.xmd", c.In)
		if strings.HasPrefix(c.In, "---\n") { // frontmatter belongs in files, not in entries
			bound = plan.Names{}
		}
		compiler := plan.Compiler{Files: files}
		p, _, more := compiler.CompileEntry(doc, bound)
		if len(bound) == 0 {
			p, more = compiler.Compile(doc)
		}
		if refused := p == nil || list.HasErrors(); refused || c.Error {
			if !refused || !c.Error {
				t.Errorf("%d %s: refused is %v: %v %v", c.N, c.Name, refused, list, more)
			}
			continue
		}
		ran++
		var out layout.Buffer
		r := &renderer{names: vars, files: map[string]string{}}
		if err := r.nodes(p.Body, &out); err != nil {
			t.Errorf("%d %s: %v", c.N, c.Name, err)
		}
		if out.String() != c.Out {
			t.Errorf("%d %s\nin   %q\ngot  %q\nwant %q", c.N, c.Name, c.In, out.String(), c.Out)
		}
		for name, want := range c.Files {
			if r.files[name] != want {
				t.Errorf("%d %s: file %s\ngot  %q\nwant %q", c.N, c.Name, name, r.files[name], want)
			}
		}
	}
	if ran < 90 {
		t.Errorf("only %d examples ran", ran)
	}
	t.Logf("%d examples ran", ran)
}
