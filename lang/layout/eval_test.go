package layout_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"xmd/lang"
	"xmd/lang/layout"
	"xmd/lang/syntax"
)

// evaluator renders a laid-out document the way an executor does, as far as the examples need it: a Prompt's reply is «its text», a program's
// output is EXEC: and its program.
type evaluator struct {
	components map[string]*syntax.Document
	files      map[string]string
}

// names is one scope.
type names struct {
	vars     map[string]any
	up       *names
	children func(layout.Sink) error // what Content puts in; nil: nothing was given
}

func (s *names) get(name string) (any, bool) {
	for ; s != nil; s = s.up {
		if v, ok := s.vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (s *names) content() func(layout.Sink) error {
	for ; s != nil; s = s.up {
		if _, isFile := s.vars["props"]; isFile {
			return s.children
		}
	}
	return nil
}

// path looks a path up; only names and members are needed here.
func (s *names) path(path string) (any, bool) {
	parts := strings.Split(path, ".")
	v, ok := s.get(parts[0])
	for _, p := range parts[1:] {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v, ok
}

// expr evaluates what the examples write in braces: JSON or a path.
func (s *names) expr(src string) (v any) {
	if json.Unmarshal([]byte(src), &v) == nil {
		return v
	}
	v, ok := s.path(src)
	if !ok {
		panic("no value for " + src)
	}
	return v
}

func (s *names) attr(el *syntax.Element, name string) any {
	for _, a := range el.Attrs {
		switch {
		case a.Name != name:
		case a.Kind == syntax.AttrExpr:
			return s.expr(a.Value)
		default:
			return a.Value
		}
	}
	return nil
}

func (s *names) str(el *syntax.Element, name string) string {
	text, _ := s.attr(el, name).(string)
	return text
}

func render(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any, []any:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(v); err != nil {
			panic(err)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	return fmt.Sprint(v)
}

func (e *evaluator) nodes(list []syntax.Node, sc *names, out layout.Sink) error {
	for _, n := range list {
		if err := e.node(n, sc, out); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluator) node(n syntax.Node, sc *names, out layout.Sink) error {
	switch n := n.(type) {
	case *syntax.Text:
		return out.Author(n.Value)
	case *syntax.Interp:
		v, ok := sc.path(n.Path)
		if !ok {
			return out.Author("{" + n.Path + "}")
		}
		return out.Value(render(v))
	case *syntax.Exec:
		if len(n.Words) > 0 { // as="r"
			return nil
		}
		return out.Value("EXEC:" + n.Program)
	case *syntax.Fill:
		f := layout.NewFill(out, n.Open, n.Close, n.Marker)
		if err := e.nodes(n.Body, sc, f); err != nil {
			return err
		}
		return f.Close()
	case *syntax.Line:
		return e.line(n, sc, out)
	case *syntax.Element:
		return e.element(n, sc, out)
	}
	return nil
}

func (e *evaluator) line(n *syntax.Line, sc *names, out layout.Sink) error {
	line := layout.NewLine(out, n.Indent, n.EOL)
	for _, inner := range n.Body {
		if t, ok := inner.(*syntax.Text); ok && t.Gap {
			if err := line.Gap(t.Value); err != nil {
				return err
			}
			continue
		}
		if err := e.node(inner, sc, line); err != nil {
			return err
		}
	}
	return line.Close()
}

// captured renders a body as a text of its own.
func (e *evaluator) captured(body []syntax.Node, sc *names, ends func(layout.Sink) *layout.Ends) (string, error) {
	var b layout.Buffer
	end := ends(&b)
	if err := e.nodes(body, sc, end); err != nil {
		return "", err
	}
	err := end.Close()
	return b.String(), err
}

func (e *evaluator) element(el *syntax.Element, sc *names, out layout.Sink) error {
	switch el.Name {
	case "If":
		return e.branches(el, sc, out)
	case "Each":
		for _, item := range sc.attr(el, "in").([]any) {
			if err := e.nodes(el.Body, &names{vars: map[string]any{sc.str(el, "let"): item}, up: sc}, out); err != nil {
				return err
			}
		}
		return nil
	case "Let":
		v := sc.attr(el, "value")
		if len(el.Body) > 0 {
			text, err := e.captured(el.Body, sc, layout.NewCaptured)
			if err != nil {
				return err
			}
			v = text
		}
		sc.vars[sc.str(el, "as")] = v
		return nil
	case "File":
		text, err := e.captured(el.Body, sc, func(out layout.Sink) *layout.Ends { return layout.NewFile(out, el.CloseFirst) })
		e.files[sc.str(el, "path")] = text
		return err
	case "Prompt":
		return e.prompt(el, sc, out)
	case "Content":
		if put := sc.content(); put != nil {
			return put(layout.AsValue(out))
		}
		return e.nodes(el.Body, sc, out)
	}
	return e.component(el, sc, out)
}

func (e *evaluator) branches(el *syntax.Element, sc *names, out layout.Sink) error {
	yes := sc.attr(el, "condition").(bool)
	for _, n := range el.Body {
		other, ok := n.(*syntax.Element)
		isElse := ok && other.Name == "Else"
		switch {
		case isElse && !yes:
			return e.nodes(other.Body, sc, out)
		case isElse || !yes:
			continue
		}
		if err := e.node(n, sc, out); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluator) prompt(el *syntax.Element, sc *names, out layout.Sink) error {
	words := sc.str(el, "text")
	if !el.SelfClosing {
		var err error
		if words, err = e.captured(el.Body, sc, layout.NewCaptured); err != nil {
			return err
		}
	}
	reply := "«" + words + "»"
	if as := sc.str(el, "as"); as != "" {
		sc.vars[as] = reply
		return nil
	}
	r := layout.NewReply(out)
	for _, c := range []string{"\n \n", reply[:2], reply[2:], "\n", "  \n"} { // a reply comes in pieces, with blank lines around it
		if err := r.Value(c); err != nil {
			return err
		}
	}
	return r.Close()
}

func (e *evaluator) component(el *syntax.Element, sc *names, out layout.Sink) error {
	doc := e.components[el.Name]
	if doc == nil {
		panic("no component " + el.Name)
	}
	props := map[string]any{}
	for _, a := range el.Attrs {
		props[a.Name] = sc.attr(el, a.Name)
	}
	inner := &names{vars: map[string]any{"props": props}}
	if len(el.Body) > 0 {
		inner.children = func(out layout.Sink) error {
			end := layout.NewCaptured(out)
			if err := e.nodes(el.Body, sc, end); err != nil {
				return err
			}
			return end.Close()
		}
	}
	end := layout.NewComponent(layout.AsValue(out))
	if err := e.nodes(doc.Body, inner, end); err != nil {
		return err
	}
	return end.Close()
}

// mustParse parses a component of the examples.
func mustParse(name, text string) *syntax.Document {
	doc, list := lang.Parse(name, text)
	if len(list) > 0 {
		panic(fmt.Sprint(list))
	}
	return doc
}
