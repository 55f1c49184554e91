package plan_test

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"xmd/lang"
	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/resolve"
)

// renderer runs a plan with prompts that answer with their words, and programs that print themselves.
type renderer struct{ names map[string]any }

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
	panic("not in the examples")
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

// TestWhiteSpace puts the worked examples of white space through the whole of the language, as far as their components are built.
func TestWhiteSpace(t *testing.T) {
	data, err := os.ReadFile("../layout/testdata/white-space.json")
	if err != nil {
		t.Fatal(err)
	}
	var ex struct {
		Vars     map[string]any
		Examples []struct {
			N             int
			Name, In, Out string
			Error         bool
		}
	}
	if err := json.Unmarshal(data, &ex); err != nil {
		t.Fatal(err)
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
		p, _, more := plan.CompileEntry(doc, bound)
		if c.Error || p == nil || list.HasErrors() {
			for _, d := range more.Errors() {
				if d.Code != resolve.CodeLaterComponent && d.Code != resolve.CodeUnknownComponent && d.Code != resolve.CodeFrontEntry {
					t.Logf("%d %s: %s", c.N, c.Name, d.Summary)
				}
			}
			continue
		}
		ran++
		var out layout.Buffer
		r := &renderer{names: vars}
		if err := r.nodes(p.Body, &out); err != nil {
			t.Errorf("%d %s: %v", c.N, c.Name, err)
		}
		if out.String() != c.Out {
			t.Errorf("%d %s\nin   %q\ngot  %q\nwant %q", c.N, c.Name, c.In, out.String(), c.Out)
		}
	}
	if ran < 60 {
		t.Errorf("only %d examples ran", ran)
	}
	t.Logf("%d examples ran", ran)
}
