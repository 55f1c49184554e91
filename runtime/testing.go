package runtime

import (
	"context"
	"sync"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/runtime/event"
)

// Testing does for a test document what a Runner cannot: it makes scripted agents and runs other documents. Safe for concurrent use.
type Testing interface {
	// Agents are those of a TestAgent of doc: under any name, the scripted one with the script of n. script is the name of its file, relative
	// to doc; "": the script is the rules of n, or there is none. Errors are *Error.
	Agents(doc *plan.Plan, n *plan.TestAgent, script string) (Agents, error)
	// Run runs a document and returns when it has ended, however it did. An *Error says that it could not be run at all, or why ctx ended.
	Run(ctx context.Context, run TestRun) (Ran, error)
}

// TestRun is a document that a test runs.
type TestRun struct {
	Src            string         // relative to the test document; may end in #Target
	From           string         // the name of the test document
	Props, Answers map[string]any // nil: none
	Agents         Agents         // that it finds; nil: none that would reach anybody
	At             event.At       // the step that runs it
}

// Ran is how such a run ended.
type Ran struct {
	ExitCode       int
	Stdout, Stderr string
	Events         []any // as --format ndjson tells them, normalized values
}

// cast are the agents of a TestAgent, and what its prompts attached. Sessions are not shared with what is outside of it.
type cast struct {
	Agents
	mu       sync.Mutex
	sessions map[*session]bool
}

// agents are those that the steps of a place find.
func (r *Runner) agents(at place) Agents {
	if at.cast != nil {
		return at.cast
	}
	return r.o.Agents
}

// joins notes a session of a TestAgent, which ends with it.
func (c *cast) joins(s *session) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[s] = true
}

// testing runs the components of test documents; ok is false for anything else.
func (r *Runner) testing(ctx context.Context, n plan.Node, at place, out layout.Sink) (err error, ok bool) { //nolint:revive // the error is the step's, not the question's
	switch n := n.(type) {
	case *plan.Test:
		if r.o.Testing == nil {
			return thrown(Errorf(KindInvalid, "a test runs with xmd test"), at.where(n.Step)), true
		}
		return r.render(ctx, n.Body, at, out), true
	case *plan.TestAgent:
		return r.testAgent(ctx, n, at, out), true
	case *plan.Run:
		at.begin()
		return r.runDocument(ctx, n, at, out), true
	case *plan.Assertion:
		if n.Kind == plan.Throws {
			return r.assertThrows(ctx, n, at), true
		}
		at.begin()
		return r.assert(n, at), true
	}
	return nil, false
}

// testAgent has a scripted agent stand in for all agents of its body. What they attached ends with it.
func (r *Runner) testAgent(ctx context.Context, n *plan.TestAgent, at place, out layout.Sink) error {
	script := ""
	if n.Script.Given {
		var err error
		if script, err = at.text(n.Script, n.Step, "script"); err != nil {
			return err
		}
	}
	found, err := r.o.Testing.Agents(at.doc, n, script)
	if err != nil {
		return thrown(err, at.where(n.Step))
	}
	at.cast = &cast{Agents: found, sessions: map[*session]bool{}}
	defer r.dismiss(ctx, at.cast)
	return r.render(ctx, n.Body, at, out)
}

// dismiss ends what the prompts of a TestAgent attached.
func (r *Runner) dismiss(ctx context.Context, c *cast) {
	for s := range c.sessions {
		r.mu.Lock()
		delete(r.sessions, s.key)
		r.mu.Unlock()
		if err := s.release(context.WithoutCancel(ctx)); err != nil {
			r.notice("closing " + s.info.Shown + ": " + err.Error())
		}
	}
}

// runDocument runs one <Run>. Without a name for how it ended, anything but a good end is a failure.
func (r *Runner) runDocument(ctx context.Context, n *plan.Run, at place, out layout.Sink) error {
	run := TestRun{From: at.doc.Source.Name, At: at.where(n.Step)}
	var err error
	if run.Src, err = at.text(n.Src, n.Step, "src"); err != nil {
		return err
	}
	if run.Props, err = at.object(n.Props, n.Step, "props"); err != nil {
		return err
	}
	if run.Answers, err = at.object(n.Answers, n.Step, "answers"); err != nil {
		return err
	}
	if at.cast != nil {
		run.Agents = at.cast.Agents
	}
	ran, err := r.ranDocument(ctx, run)
	switch {
	case err != nil:
		return err
	case n.As != "":
		at.vars.set(n.As, map[string]any{"exitCode": int64(ran.ExitCode), "stdout": ran.Stdout, "stderr": ran.Stderr, "events": ran.Events})
		return nil
	case ran.ExitCode != 0:
		return thrown(Errorf(KindFailed, "the run of %s ended with exit code %d", run.Src, ran.ExitCode), run.At)
	}
	return out.Value(ran.Stdout)
}

// ranDocument tells of the run as a step.
func (r *Runner) ranDocument(ctx context.Context, run TestRun) (Ran, error) {
	body := event.Step{Kind: "run"}
	if err := r.o.Stream.Commit(ctx, event.StepStarted, run.At, &body, nil); err != nil {
		return Ran{}, thrown(storeError(err), run.At)
	}
	ran, err := r.o.Testing.Run(ctx, run)
	if err != nil {
		return Ran{}, r.endStep(ctx, run.At, &body, thrown(err, run.At))
	}
	ended := body
	ended.ExitCode = &ran.ExitCode
	return ran, r.endStep(ctx, run.At, &ended, nil)
}

// object evaluates an attribute that must be an object; nil if it is not given.
func (at place) object(a plan.Arg, s plan.Step, what string) (map[string]any, error) {
	if !a.Given {
		return nil, nil
	}
	v, err := at.value(a, s)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, at.wrong(a, s, "%s must be an object, is %s", what, expr.KindName(v))
	}
	return m, nil
}
