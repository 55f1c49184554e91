package runtime

import (
	"context"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/resolve"
	"xmd/runtime/event"
)

// render runs the body of an element, or of a document, and puts what it renders into out.
func (r *Runner) render(ctx context.Context, nodes []plan.Node, at place, out layout.Sink) error {
	at.offers = at.offers.inner()
	return r.nodes(ctx, nodes, at, out)
}

// nodes runs some nodes of a body in document order.
func (r *Runner) nodes(ctx context.Context, nodes []plan.Node, at place, out layout.Sink) error {
	for _, n := range nodes {
		if err := at.strand.next(ctx); err != nil {
			return err
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
		v, err := at.vars.path(n.Path)
		if err != nil {
			return thrown(Errorf(KindFailed, "%w", err), event.At{Position: at.position(n.Pos)})
		}
		return out.Value(expr.Render(v))
	case *plan.Line:
		return r.line(ctx, n, at, out)
	case *plan.Fill:
		fill := layout.NewFill(out, n.Open, n.Close, n.Marker)
		if err := r.nodes(ctx, n.Body, at, fill); err != nil {
			return err
		}
		return fill.Close()
	}
	return r.step(ctx, n, at, out)
}

// line renders a line of whole elements.
func (r *Runner) line(ctx context.Context, n *plan.Line, at place, out layout.Sink) error {
	if at.region != nil && hasRegion(n.Body) {
		return r.regionLine(ctx, n, at, out)
	}
	line := layout.NewLine(out, n.Indent, n.EOL)
	err := r.nodes(ctx, n.Body, at, line)
	if err == nil || isFlow(err) || at.tried { // something may follow it in the document
		if cerr := line.Close(); err == nil {
			err = cerr
		}
	}
	return err
}

// step runs what acts.
func (r *Runner) step(ctx context.Context, n plan.Node, at place, out layout.Sink) error {
	if t := at.branches[n]; t != nil {
		return t.deliver(out, at.aside)
	}
	if err, ok := r.control(ctx, n, at, out); ok {
		return err
	}
	if err, ok := r.testing(ctx, n, at, out); ok {
		return err
	}
	switch n.(type) {
	case *plan.Prompt, *plan.Elicit: // they say so themselves, as soon as they have their place in a queue, or their number
	default:
		at.begin()
	}
	switch n := n.(type) {
	case *plan.Prompt:
		return r.prompt(ctx, n, at, out)
	case *plan.Launch:
		return r.launch(ctx, n, at)
	case *plan.Exec:
		return r.exec(ctx, n, at, out)
	case *plan.File:
		return r.file(ctx, n, at, out)
	case *plan.Glob:
		return r.glob(ctx, n, at, out)
	case *plan.TempDir:
		return r.tempDir(ctx, n, at, out)
	case *plan.Json:
		return r.jsonText(ctx, n, at, out)
	case *plan.Parse:
		return r.parse(ctx, n, at, out)
	case *plan.Fetch:
		return r.fetch(ctx, n, at, out)
	case *plan.Elicit:
		return r.elicit(ctx, n, at, out)
	case *plan.Instructions:
		return r.instruct(ctx, n, at)
	}
	return Errorf(KindFailed, "the plan holds a node (%T) that this build cannot run", n)
}

// control runs what only arranges other steps; ok is false for anything else.
func (r *Runner) control(ctx context.Context, n plan.Node, at place, out layout.Sink) (err error, ok bool) { //nolint:revive // the error is the step's, not the question's
	switch n := n.(type) {
	case *plan.Agent:
		return r.pinAgent(ctx, n, at, out), true
	case *plan.Session:
		return r.pinSession(ctx, n, at, out), true
	case *plan.Conversation:
		return r.converse(ctx, n, at, out), true
	case *plan.Let:
		return r.let(ctx, n, at), true
	case *plan.If:
		return r.branch(ctx, n, at, out), true
	case *plan.Each:
		return r.each(ctx, n, at, out), true
	case *plan.Loop:
		return r.loop(ctx, n, at, out), true
	case *plan.Break:
		return breakLoop{}, true
	case *plan.Parallel:
		return r.parallel(ctx, n, at, out), true
	case *plan.Try:
		return r.try(ctx, n, at, out), true
	case *plan.Fail:
		return r.fail(n, at), true
	case *plan.Output:
		return r.region(ctx, n, at, out), true
	case *plan.Return:
		return r.give(n, at), true
	case *plan.Policy:
		return r.policy(ctx, n, at, out), true
	case *plan.Component:
		return r.component(ctx, n, at, out), true
	case *plan.Content:
		return r.content(ctx, n, at, out), true
	case *plan.Tool:
		r.offerTool(n, at)
		return nil, true
	case *plan.Mcp:
		return r.offerServer(n, at), true
	}
	return nil, false
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

func (r *Runner) pinSession(ctx context.Context, n *plan.Session, at place, out layout.Sink) error {
	if !n.Name.Given {
		scope := at.id.of(n.ID)
		at.session = sessionPin{scope: scope}
		defer r.endScope(ctx, scope)
		return r.render(ctx, n.Body, at, out)
	}
	name, err := at.text(n.Name, n.Step, "name")
	if err != nil {
		return err
	}
	if err := resolve.SessionName(name); err != nil {
		return thrown(Errorf(KindFailed, "%w", err), at.where(n.Step))
	}
	at.session = sessionPin{name: name}
	return r.render(ctx, n.Body, at, out)
}

func (r *Runner) let(ctx context.Context, n *plan.Let, at place) error {
	if n.Value.Given {
		v, err := at.value(n.Value, n.Step)
		if err != nil {
			return err
		}
		at.vars.set(n.As, v)
		return nil
	}
	at.inLet, at.throws = true, true
	text, err := r.capture(ctx, n.Body, at)
	if err != nil {
		return err
	}
	at.vars.set(n.As, text)
	return nil
}

func (r *Runner) branch(ctx context.Context, n *plan.If, at place, out layout.Sink) error {
	v, err := r.decide(ctx, at, n.Step, "if", r.inputOf(at.source(n.Cond)), func() (any, error) { return at.value(n.Cond, n.Step) })
	if err != nil {
		return err
	}
	yes, ok := v.(bool)
	if !ok {
		return at.wrong(n.Cond, n.Step, "condition must be true or false, is %s", expr.Render(v))
	}
	if yes {
		return r.render(ctx, n.Then, at, out)
	}
	return r.render(ctx, n.Else, at, out)
}
