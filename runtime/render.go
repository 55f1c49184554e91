package runtime

import (
	"context"
	"errors"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/resolve"
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

// render runs nodes in document order and puts what they render into out.
func (r *Runner) render(ctx context.Context, nodes []plan.Node, at place, out layout.Sink) error {
	for _, n := range nodes {
		if err := ctx.Err(); err != nil {
			return asError(context.Cause(ctx))
		}
		if err := r.node(ctx, n, at, out); err != nil {
			return err
		}
	}
	return nil
}

// gapper is a Sink that holds back blanks between whole elements.
type gapper interface{ Gap(text string) error }

func (r *Runner) node(ctx context.Context, n plan.Node, at place, out layout.Sink) error {
	switch n := n.(type) {
	case *plan.Text:
		if g, ok := out.(gapper); ok && n.Gap {
			return g.Gap(n.Value)
		}
		return out.Author(n.Value)
	case *plan.Value:
		v, err := n.Path.Eval(r.names)
		if err != nil {
			return r.thrown(Errorf(KindFailed, "%w", err), event.At{Position: r.position(n.Pos)})
		}
		return out.Value(expr.Render(v))
	case *plan.Line:
		line := layout.NewLine(out, n.Indent, n.EOL)
		if err := r.render(ctx, n.Body, at, line); err != nil {
			return err
		}
		return line.Close()
	case *plan.Fill:
		fill := layout.NewFill(out, n.Open, n.Close, n.Marker)
		if err := r.render(ctx, n.Body, at, fill); err != nil {
			return err
		}
		return fill.Close()
	}
	return r.step(ctx, n, at, out)
}

func (r *Runner) step(ctx context.Context, n plan.Node, at place, out layout.Sink) error {
	switch n := n.(type) {
	case *plan.Prompt:
		return r.prompt(ctx, n, at, out)
	case *plan.Exec:
		return r.exec(ctx, n, at, out)
	case *plan.Agent:
		return r.pinAgent(ctx, n, at, out)
	case *plan.Session:
		return r.pinSession(ctx, n, at, out)
	case *plan.Let:
		return r.let(ctx, n, at)
	case *plan.If:
		return r.branch(ctx, n, at, out)
	}
	return Errorf(KindFailed, "the plan holds a node (%T) that this build cannot run", n)
}

// capture renders nodes into a string, without the author's blank lines at its ends.
func (r *Runner) capture(ctx context.Context, nodes []plan.Node, at place) (string, error) {
	var buf layout.Buffer
	ends := layout.NewCaptured(&buf)
	if err := r.render(ctx, nodes, at, ends); err != nil {
		return "", err
	}
	if err := ends.Close(); err != nil {
		return "", err
	}
	return buf.String(), nil
}

func (r *Runner) pinAgent(ctx context.Context, n *plan.Agent, at place, out layout.Sink) error {
	name, err := r.text(n.Name, n.Step, "name")
	if err != nil {
		return err
	}
	if _, err := r.o.Agents.Lookup(name); err != nil {
		return r.thrown(err, r.at(n.Step))
	}
	if n.Self {
		return nil
	}
	at.agent = name
	return r.render(ctx, n.Body, at, out)
}

func (r *Runner) pinSession(ctx context.Context, n *plan.Session, at place, out layout.Sink) error {
	name, err := r.text(n.Name, n.Step, "name")
	if err != nil {
		return err
	}
	if err := resolve.SessionName(name); err != nil {
		return r.thrown(Errorf(KindFailed, "%w", err), r.at(n.Step))
	}
	at.session, at.pinned = name, true
	return r.render(ctx, n.Body, at, out)
}

func (r *Runner) let(ctx context.Context, n *plan.Let, at place) error {
	if n.Value.Given {
		v, err := r.value(n.Value, n.Step)
		if err != nil {
			return err
		}
		r.names[n.As] = v
		return nil
	}
	at.inLet = true
	text, err := r.capture(ctx, n.Body, at)
	if err != nil {
		return err
	}
	r.names[n.As] = text
	return nil
}

func (r *Runner) branch(ctx context.Context, n *plan.If, at place, out layout.Sink) error {
	v, err := r.value(n.Cond, n.Step)
	if err != nil {
		return err
	}
	yes, ok := v.(bool)
	if !ok {
		return r.thrown(Errorf(KindFailed, "condition must be true or false, is %s", expr.Render(v)), event.At{Step: n.ID, Position: r.position(n.Cond.Pos)})
	}
	if yes {
		return r.render(ctx, n.Then, at, out)
	}
	return r.render(ctx, n.Else, at, out)
}

// value evaluates an attribute to a JSON value.
func (r *Runner) value(a plan.Arg, s plan.Step) (any, error) {
	if a.Expr == nil {
		return a.Literal, nil
	}
	v, err := a.Expr.Eval(r.names)
	if err != nil {
		pos := a.Pos
		var e *expr.Error
		if errors.As(err, &e) {
			pos = e.Span
		}
		return nil, r.thrown(Errorf(KindFailed, "%w", err), event.At{Step: s.ID, Position: r.position(pos)})
	}
	return v, nil
}

// text evaluates an attribute that must be a string.
func (r *Runner) text(a plan.Arg, s plan.Step, what string) (string, error) {
	v, err := r.value(a, s)
	if err != nil {
		return "", err
	}
	t, ok := v.(string)
	if !ok {
		return "", r.thrown(Errorf(KindFailed, "%s must be a string, is %s", what, expr.Render(v)), event.At{Step: s.ID, Position: r.position(a.Pos)})
	}
	return t, nil
}
