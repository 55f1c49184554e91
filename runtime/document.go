package runtime

import (
	"context"
	"errors"
	"slices"
	"strings"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/runtime/event"
)

// rootSink is the document's output: every piece is a text event.
type rootSink struct{ r *Runner }

func (s rootSink) Author(text string) error { return s.Value(text) }

func (s rootSink) Value(text string) error {
	if text != "" {
		s.r.o.Stream.Emit(event.Text, event.At{}, &event.Delta{Text: text})
	}
	return nil
}

// nowhere is the output of what is not written: beside the regions of a document, and in one that is a value. Whole lines of it are
// told as notices, for those who want to see them.
type nowhere struct {
	r    *Runner
	line strings.Builder
}

// maxNowhere bounds the line that waits for its end.
const maxNowhere = 64 << 10

func (s *nowhere) Author(text string) error { return s.Value(text) }

func (s *nowhere) Value(text string) error {
	for {
		line, rest, whole := strings.Cut(text, "\n")
		s.line.WriteString(line)
		if whole || s.line.Len() > maxNowhere {
			s.tell()
		}
		if !whole {
			return nil
		}
		text = rest
	}
}

func (s *nowhere) tell() {
	if strings.TrimSpace(s.line.String()) != "" {
		s.r.o.Stream.Emit(event.Notice, event.At{}, &event.Delta{Text: s.line.String(), Stream: "output"})
	}
	s.line.Reset()
}

// document renders a whole document. A value is what it returned; nil for a document that is text.
func (r *Runner) document(ctx context.Context, p *plan.Plan, at place, out layout.Sink) (*returned, error) {
	if p.Returns == nil && !p.Regions {
		return nil, r.render(ctx, p.Body, at, out)
	}
	at.outer, at.throws = at.throws, true // a reply that is not shown does not stand in the output
	unseen := &nowhere{r: r}
	defer unseen.tell()
	if p.Returns == nil {
		at.region = out
		return nil, r.render(ctx, p.Body, at, unseen)
	}
	err := r.render(ctx, p.Body, at, unseen)
	var v returned
	if errors.As(err, &v) {
		return &v, nil
	}
	if err == nil {
		err = &Error{Kind: KindFailed, Message: "the document ended without a Return", Position: p.Source.Name}
	}
	return nil, err
}

// region renders an Output of a document that has them.
func (r *Runner) region(ctx context.Context, n *plan.Output, at place, out layout.Sink) error {
	if at.region != nil {
		out = at.region
		at.region, at.throws = nil, at.outer
	}
	return r.render(ctx, n.Body, at, out)
}

// regionLine renders a line of whole elements that holds regions: what they render makes the line, all else on it is not written.
func (r *Runner) regionLine(ctx context.Context, n *plan.Line, at place, out layout.Sink) error {
	line := layout.NewLine(at.region, n.Indent, n.EOL)
	behind := false // a region: the blanks between it and the next one are rendered
	for _, inner := range n.Body {
		var err error
		text, isText := inner.(*plan.Text)
		o, isRegion := inner.(*plan.Output)
		switch {
		case isRegion:
			at := at
			at.region = line
			err = r.region(ctx, o, at, out)
		case isText && text.Gap && behind:
			err = line.Gap(text.Value)
		default:
			err = r.nodes(ctx, []plan.Node{inner}, at, out)
		}
		if err != nil {
			return err
		}
		behind = isRegion
	}
	return line.Close()
}

func hasRegion(nodes []plan.Node) bool {
	return slices.ContainsFunc(nodes, func(n plan.Node) bool { _, ok := n.(*plan.Output); return ok })
}

// give makes the value of a document with returns.
func (r *Runner) give(n *plan.Return, at place) error {
	v, err := at.value(n.Value, n.Step)
	if err != nil {
		return err
	}
	if faults := at.doc.Returns.Validate(v); len(faults) > 0 {
		lines := make([]string, len(faults))
		for i, f := range faults {
			lines[i] = f.String()
		}
		return at.wrong(n.Value, n.Step, "the value does not fit returns: %s", strings.Join(lines, "; "))
	}
	return returned{v}
}

// component runs a component file where it is used.
func (r *Runner) component(ctx context.Context, n *plan.Component, at place, out layout.Sink) error {
	inner, err := r.inComponent(n, at)
	if err != nil {
		return err
	}
	var text layout.Buffer
	if n.As == "" {
		out = layout.AsValue(out)
	} else {
		out = &text
	}
	ends := layout.NewComponent(out)
	value, err := r.document(ctx, n.Document, inner, ends)
	if err != nil {
		return err
	}
	if err := ends.Close(); err != nil {
		return err
	}
	switch {
	case n.As == "" && value != nil:
		return thrown(Errorf(KindFailed, "<%s> is a value; bind it with as=\"…\"", n.Name), at.where(n.Step))
	case value != nil:
		at.vars.set(n.As, value.value)
	case n.As != "":
		at.vars.set(n.As, text.String())
	}
	return nil
}

// inComponent is the place of a component file's own nodes: names of its own, all else of where it is used.
func (r *Runner) inComponent(n *plan.Component, at place) (place, error) {
	given := make(map[string]any, len(n.Props))
	for name, a := range n.Props {
		v, err := at.value(a, n.Step)
		if err != nil {
			return place{}, err
		}
		given[name] = v
	}
	in := n.Document.Inputs
	props, errs := in.BindValues(given)
	if len(errs) > 0 {
		where := event.At{Step: at.id.of(n.ID), Position: at.position(n.Pos)}
		if a, ok := n.Props[errs[0].Prop]; ok {
			where.Position = at.position(a.Pos)
		}
		return place{}, thrown(Errorf(KindFailed, "<%s>: %s", n.Name, errs[0].Message), where)
	}
	env, errs := plan.BindEnv(in, r.lookupEnv)
	if len(errs) > 0 {
		return place{}, thrown(Errorf(KindFailed, "<%s>: %s", n.Name, errs[0].Message), at.where(n.Step))
	}
	inner := at
	inner.doc = n.Document
	inner.vars = newScope(nil, r.inputs(props, env, in.Meta))
	inner.id = identity{here: at.id.of(n.ID) + "/file/", rounds: at.id.rounds}
	inner.children = &children{at: at, step: n.ID, nodes: n.Children, slots: n.Slots}
	inner.inLet, inner.region, inner.branches = false, nil, nil
	inner.throws = at.throws || n.Throws || n.As != ""
	return inner, nil
}

// content renders the caller's children as they would run where they were written: with the caller's names, agent, session, policy.
func (r *Runner) content(ctx context.Context, n *plan.Content, at place, out layout.Sink) error {
	c := at.children
	var nodes []plan.Node
	switch {
	case c == nil:
	case n.Slot == "":
		nodes = c.nodes
	default:
		nodes = c.slots[n.Slot]
	}
	if blank(nodes) {
		return r.render(ctx, n.Fallback, at, out)
	}
	inner := c.at
	inner.log, inner.aside, inner.begun, inner.strand = at.log, at.aside, at.begun, at.strand
	inner.id = identity{static: c.step + "/", here: at.id.of(n.ID) + "/", rounds: at.id.rounds}
	inner.throws, inner.tried = at.throws || n.Throws || c.at.throws, at.tried || c.at.tried
	inner.inLet, inner.region, inner.branches = false, nil, nil
	ends := layout.NewCaptured(layout.AsValue(out))
	if err := r.render(ctx, nodes, inner, ends); err != nil {
		return err
	}
	return ends.Close()
}

// blank says whether nodes are nothing but white space.
func blank(nodes []plan.Node) bool {
	return !slices.ContainsFunc(nodes, func(n plan.Node) bool {
		t, ok := n.(*plan.Text)
		return !ok || strings.TrimSpace(t.Value) != ""
	})
}

// line is the value of a document as it is written.
func (v *returned) line() string { return expr.JSON(v.value) + "\n" }

// lookupEnv finds a variable for the env: of a component file.
func (r *Runner) lookupEnv(name string) (string, bool) {
	if r.o.LookupEnv != nil {
		return r.o.LookupEnv(name)
	}
	for _, kv := range r.o.Children {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}
