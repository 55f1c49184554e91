package runtime

import (
	"errors"
	"fmt"
	"strings"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/runtime/event"
)

// scope is one lexical set of names. A child sees its parents' names and binds its own. Used by one goroutine at a time; while
// several run, each has a fork, and the scope they share is only read.
type scope struct {
	up   *scope
	vars map[string]any
	lent bool // it only gives a body a reserved name (loop): what is bound in it is bound in the scope around it
}

func newScope(up *scope, vars map[string]any) *scope { return &scope{up: up, vars: vars} }

// lend is s with one reserved name more.
func (s *scope) lend(name string, v any) *scope {
	return &scope{up: s, vars: map[string]any{name: v}, lent: true}
}

// fork is an empty scope over s for one of several bodies that run at once.
func (s *scope) fork() *scope { return newScope(s, map[string]any{}) }

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.up {
		if v, ok := s.vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// set binds a name; binding again replaces.
func (s *scope) set(name string, v any) {
	for s.lent {
		s = s.up
	}
	s.vars[name] = v
}

// env is what an expression sees.
func (s *scope) env(e *expr.Expr) map[string]any {
	refs := e.Names()
	env := make(map[string]any, len(refs))
	for _, ref := range refs {
		if v, ok := s.get(ref.Name); ok {
			env[ref.Name] = v
		}
	}
	return env
}

// path evaluates an interpolation.
func (s *scope) path(p *expr.Path) (any, error) {
	env := map[string]any{}
	if v, ok := s.get(p.Root); ok {
		env[p.Root] = v
	}
	return p.Eval(env)
}

// place is where a step stands: what the enclosing elements pinned for it, and where its names, its failures and its identity come
// from. It is handed down by value; a body that changes any of it gets a changed copy.
type place struct {
	doc  *plan.Plan // the document its nodes are from
	vars *scope
	log  *failureLog
	id   identity

	strand *strand

	agent   agentPin
	session sessionPin
	policy  *rule    // the innermost policy element; nil: none
	offers  *offers  // what the elements before it offer
	caller  *caller  // whose turn waits for it; nil: it is not in the body of a tool
	dirs    []string // folders of the TempDirs around
	cast    *cast    // the agents of the TestAgent around; nil: there is none

	inLet  bool // directly in the body of a Let
	throws bool // a prompt that fails is thrown, whatever its own document says: captured, or in a Try
	tried  bool // in a Try: what is rendered before a failure may be followed by its Catch

	children *children   // what Content puts in; nil: not in a component file
	region   layout.Sink // of a document with Output regions, outside them: where they are written; else nil
	outer    bool        // throws, as it was around that document
	branches map[plan.Node]*task
	aside    aside
	begun    func() // tells that the next of several bodies may begin; nil: nobody waits
}

// agentPin is what the Agents around pinned. Empty members are left to the run and the agent.
type agentPin struct{ name, model, effort, mode string }

// sessionPin is what session prompts without one of their own belong to.
type sessionPin struct {
	name    string // of a named session
	scope   string // of the unnamed one, when name is empty; see runScope
	restart bool   // of a Conversation: a conversation that is lost is begun anew
}

// runScope is the scope of the run's own unnamed session.
const runScope = "run"

// children are what the user of a component put into it, with the place it was used at. Where several bodies that run at once put them
// in, they bind nothing: resolve sees to that.
type children struct {
	at    place
	step  string // static identity of the component's step
	nodes []plan.Node
	slots map[string][]plan.Node
}

// identity turns the static step identities of a plan into those of this execution: rounds get their number, and the steps of a
// component file stand under the step that uses it.
type identity struct {
	static string // what the static identities of the nodes here begin with …
	here   string // … and what stands in its place
	rounds string // "[2][1]": the rounds around, for positions
}

func (i identity) of(id string) string { return i.here + strings.TrimPrefix(id, i.static) }

// round is the identity in round n of the body of step s.
func (i identity) round(s plan.Step, n int) identity {
	mark := fmt.Sprintf("[%d]", n)
	return identity{static: s.ID + "/", here: i.of(s.ID) + mark + "/", rounds: i.rounds + mark}
}

// where is where a step's events happen.
func (at place) where(s plan.Step) event.At {
	return event.At{Step: at.id.of(s.ID), Position: at.position(s.Pos)}
}

// position spells a place of the document: file.xmd:12:3, with the numbers of the rounds around it.
func (at place) position(span plan.Span) string {
	line, col := at.doc.Source.Pos(span.Start)
	return fmt.Sprintf("%s:%d:%d%s", at.doc.Source.Name, line, col, at.id.rounds)
}

// source is an attribute's value as it is written.
func (at place) source(a plan.Arg) string { return at.doc.Source.Text[a.Pos.Start:a.Pos.End] }

// begin tells that the next of several bodies may begin.
func (at place) begin() {
	if at.begun != nil {
		at.begun()
	}
}

// value evaluates an attribute to a JSON value.
func (at place) value(a plan.Arg, s plan.Step) (any, error) {
	if a.Expr == nil {
		return a.Literal, nil
	}
	v, err := a.Expr.Eval(at.vars.env(a.Expr))
	if err != nil {
		pos := a.Pos
		var e *expr.Error
		if errors.As(err, &e) {
			pos = e.Span
		}
		return nil, thrown(Errorf(KindFailed, "%w", err), event.At{Step: at.id.of(s.ID), Position: at.position(pos)})
	}
	return v, nil
}

// text evaluates an attribute that must be a string.
func (at place) text(a plan.Arg, s plan.Step, what string) (string, error) {
	v, err := at.value(a, s)
	if err != nil {
		return "", err
	}
	t, ok := v.(string)
	if !ok {
		return "", at.wrong(a, s, "%s must be a string, is %s", what, expr.Render(v))
	}
	return t, nil
}

// whole evaluates an attribute that must be a whole number between least and most.
func (at place) whole(a plan.Arg, s plan.Step, what string, least, most int64) (int, error) {
	v, err := at.value(a, s)
	if err != nil {
		return 0, err
	}
	n, ok := v.(int64)
	switch {
	case !ok:
		return 0, at.wrong(a, s, "%s must be a whole number, is %s", what, expr.JSON(v))
	case n < least || n > most && most > 0:
		if most > 0 {
			return 0, at.wrong(a, s, "%s must be between %d and %d, is %d", what, least, most, n)
		}
		return 0, at.wrong(a, s, "%s must be at least %d, is %d", what, least, n)
	}
	return int(n), nil
}

// wrong is an attribute whose value cannot be used.
func (at place) wrong(a plan.Arg, s plan.Step, format string, args ...any) error {
	return thrown(Errorf(KindFailed, format, args...), event.At{Step: at.id.of(s.ID), Position: at.position(a.Pos)})
}

// thrown adds the step's place to an error that is thrown there. The error is the caller's own after it.
func thrown(err error, at event.At) error {
	e := own(err)
	if e.Position == "" {
		e.Position, e.Step = at.Position, at.Step
	}
	return e
}
