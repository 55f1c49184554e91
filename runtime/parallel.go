package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

// Bounds of how many bodies run at once.
const (
	defaultBranches = 8
	maxBranches     = 64
)

// scopeCloseLimit bounds how long the end of a scope waits for its agents to go, TERM and KILL included.
const scopeCloseLimit = 30 * time.Second

// task is one of several bodies that run at once.
type task struct {
	at    place // its own
	scope string
	body  func(ctx context.Context, at place, out layout.Sink) error
	out   *spool
	done  chan struct{}

	err      error // after done
	stopped  bool  // err only says that it was cancelled
	begun    bool
	panicked any
}

// group is a set of bodies that run at once.
type group struct {
	r      *Runner
	at     place // of the element
	where  event.At
	kind   string
	tasks  []*task
	limit  int
	spools *spools
	cancel context.CancelCauseFunc
	fixed  bool // it has ended already and is told again
	was    ends // fixed: how it ended
}

// ends is how the bodies of a set that was left before its end ended, as it stands on record.
type ends struct {
	Bodies []bodyEnd `json:"bodies"`
	// Cancelled: the run was cancelled, which counts more than what failed in a body.
	Cancelled bool `json:"cancelled,omitempty"`
}

// bodyEnd is how one body ended. Node is the one that found it cancelled, 0 for none.
type bodyEnd struct {
	Begun bool `json:"begun"`
	Node  int  `json:"node,omitempty"`
}

// newGroup makes the set of n bodies of an element. scope names the scope of each one's unnamed sessions.
func (r *Runner) newGroup(at place, s plan.Step, kind string, n, limit int, scope func(i int) string) *group {
	g := &group{r: r, at: at, where: at.where(s), kind: kind, limit: limit, spools: &spools{held: &r.held, folder: func() (string, error) { return r.scratch(scratchOutput) }}}
	for i := range n {
		t := &task{out: &spool{all: g.spools, n: i}, done: make(chan struct{}), scope: scope(i)}
		t.at = at
		t.at.log, t.at.aside, t.at.branches, t.at.strand = &failureLog{}, t.out, nil, &strand{fixed: at.strand.fixed}
		if at.session.name == "" {
			t.at.session.scope = t.scope
		}
		g.tasks = append(g.tasks, t)
	}
	return g
}

// run runs the bodies and, beside them, deliver, which puts out in document order what they render. It returns when all have ended. When
// a body is thrown out of, the others are cancelled; the error is what a Try around has to judge, and the log has every failure.
func (g *group) run(ctx context.Context, deliver func(ctx context.Context) error) error {
	if err := g.recall(ctx); err != nil {
		return err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g.cancel = cancel
	if g.fixed || g.r.o.Offline { // what is only told ends where it ended
		g.cancel = func(error) {}
	}
	defer g.spools.remove()
	launched := make(chan struct{})
	go func() {
		defer close(launched)
		g.launch(inner)
	}()
	delivered := deliver(ctx)
	if delivered != nil && KindOf(delivered) != KindWaiting {
		g.cancel(errSibling)
	}
	<-launched
	for _, t := range g.tasks {
		<-t.done
	}
	for _, t := range g.tasks {
		if t.panicked != nil {
			panic(t.panicked)
		}
	}
	return g.end(ctx, g.judge(ctx, delivered))
}

// recall reads how the bodies ended, when the set was left before its end.
func (g *group) recall(ctx context.Context) error {
	e, err := g.r.lookUp(ctx, g.where, g.kind, "")
	if e == nil || err != nil {
		return err
	}
	if err := json.Unmarshal(e.Value, &g.was); err != nil || len(g.was.Bodies) != len(g.tasks) {
		return thrown(Errorf(KindDivergence, "the bodies on record here are not those that stand there now"), g.where)
	}
	g.fixed = true
	for i, b := range g.was.Bodies {
		t := g.tasks[i]
		t.begun = b.Begun
		t.at.strand.fixed, t.at.strand.stopAt = true, b.Node
	}
	return nil
}

// end puts on record how the bodies ended, when err leaves the set before its end. What a resume has to undo of them goes with err.
func (g *group) end(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if !g.fixed && !g.r.o.Offline {
		was := ends{Bodies: []bodyEnd{}, Cancelled: !isFlow(err) && KindOf(err) == KindCancelled}
		for _, t := range g.tasks {
			was.Bodies = append(was.Bodies, bodyEnd{t.begun, t.at.strand.stopped})
		}
		body := &event.Step{Kind: g.kind, Outcome: "left", Value: was}
		if cerr := g.r.o.Stream.Commit(context.WithoutCancel(ctx), event.StepEnded, g.where, body, nil); cerr != nil {
			return thrown(storeError(cerr), g.where)
		}
	}
	if isFlow(err) {
		return err
	}
	e := own(err)
	e.undo = []Undo{{Step: g.where.Step}}
	for _, t := range g.tasks {
		var failed *Error
		if errors.As(t.err, &failed) {
			e.undo = append(e.undo, failed.undo...)
		}
	}
	return e
}

// launch begins the bodies in order. Each may say its first word (queue for its session, start its child) before the next one begins, so
// that prompts of one session come in document order.
func (g *group) launch(ctx context.Context) {
	defer g.at.begin()
	slots := make(chan struct{}, g.limit)
	for _, t := range g.tasks {
		if err := g.slot(ctx, slots, t); err != nil {
			t.err, t.stopped = err, true
			close(t.done)
			continue
		}
		t.begun = true
		begun := make(chan struct{})
		t.at.begun = sync.OnceFunc(func() { close(begun) })
		go func() {
			defer close(t.done)
			defer func() { <-slots }()
			g.one(ctx, t)
		}()
		select {
		case <-begun:
		case <-t.done:
		}
	}
}

// slot waits until a body may begin; the error says why it does not.
func (g *group) slot(ctx context.Context, slots chan struct{}, t *task) error {
	if g.fixed { // what is only told takes no time to speak of
		if !t.begun {
			return recordEnds()
		}
		slots <- struct{}{}
		return nil
	}
	select {
	case slots <- struct{}{}:
	default:
		g.at.begin()
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return stopped(ctx)
		}
	}
	if ctx.Err() != nil {
		<-slots
		return stopped(ctx)
	}
	return nil
}

// one runs one body to its end, its unnamed sessions closed.
func (g *group) one(ctx context.Context, t *task) {
	defer func() {
		if p := recover(); p != nil {
			t.panicked = fmt.Sprintf("%v\n\n%s", p, debug.Stack()) // thrown again where it can be dealt with
			g.cancel(errSibling)
		}
	}()
	t.err = t.body(ctx, t.at, t.out)
	if t.err != nil {
		t.stopped = (ctx.Err() != nil || t.at.strand.fixed || isRecordEnd(t.err)) && KindOf(t.err) == KindCancelled
		if KindOf(t.err) != KindWaiting {
			g.cancel(errSibling)
		}
	}
	g.r.endScope(ctx, t.scope)
	if err := t.out.end(); err != nil && t.err == nil {
		t.err = Errorf(KindFailed, "output that has to wait for its turn could not be kept: %w", plainIO(err))
		g.cancel(errSibling)
	}
}

// deliver puts out what the body renders, from now on as it comes, and waits for its end. The error is one at which the document around
// ends; a body that was only cancelled because of another one is none.
func (t *task) deliver(out layout.Sink, beside aside) error {
	broken := t.out.deliver(out, beside)
	<-t.done
	if broken == nil && !t.stopped {
		return t.err
	}
	return broken
}

// judge joins the failures of the bodies in document order, and says which one is thrown: what no Catch handles before the rest, and
// waiting for a person last, since it counts only if nothing failed.
func (g *group) judge(ctx context.Context, delivered error) error {
	rank := 0
	var worst error
	take := func(err error, n int) {
		if n > rank {
			worst, rank = err, n
		}
	}
	for _, t := range g.tasks {
		g.at.log.add(t.at.log.all()...)
		switch {
		case t.err == nil:
			continue
		case isFlow(t.err):
			take(t.err, 1)
			continue
		}
		e := asError(t.err)
		switch {
		case ctx.Err() != nil && errors.Is(e, context.Cause(ctx)) && !errors.Is(e, errSibling):
			take(e, 4) // what ended the run is told once, by whoever ends it
			continue
		case t.stopped:
			continue
		}
		if !e.logged {
			c := *e
			c.logged = true
			e = &c
			g.at.log.add(e)
		}
		switch {
		case e.Kind == KindWaiting:
			take(e, 1)
		case uncatchable[e.Kind]:
			take(e, 3)
		default:
			take(e, 2)
		}
	}
	if worst == nil && ctx.Err() != nil {
		worst = stopped(ctx)
	}
	if worst == nil && !g.fixed && slices.ContainsFunc(g.tasks, func(t *task) bool { return isRecordEnd(t.err) }) {
		worst = recordEnds()
	}
	if worst == nil {
		worst = delivered
	}
	if g.fixed && (worst == nil || g.was.Cancelled) {
		worst = recordEnds()
	}
	return worst
}

// endScope closes the attachments of a scope's unnamed sessions. Problems of it replace no result.
func (r *Runner) endScope(ctx context.Context, scope string) {
	r.mu.Lock()
	var ended []*session
	for key, s := range r.sessions {
		if s.name == "" && s.scope == scope {
			ended = append(ended, s)
			delete(r.sessions, key)
		}
	}
	delete(r.talks, store.ConversationKey{Session: store.Unnamed(r.o.RunID, scope), Root: r.o.Dir})
	r.mu.Unlock()
	if len(ended) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), scopeCloseLimit)
	defer cancel()
	for _, s := range ended {
		if err := s.release(ctx); err != nil {
			r.notice(fmt.Sprintf("closing %s: %v", s.info.Shown, err))
		}
	}
}

// parallel runs the branches of a <Parallel> at once.
func (r *Runner) parallel(ctx context.Context, n *plan.Parallel, at place, out layout.Sink) error {
	limit := defaultBranches
	if n.Max.Given {
		var err error
		if limit, err = at.whole(n.Max, n.Step, "max", 1, maxBranches); err != nil {
			return err
		}
	}
	g := r.newGroup(at, n.Step, "parallel", len(n.Branches), limit, func(i int) string { return at.id.of(n.ID) + "/branch" + strconv.Itoa(i+1) })
	branches := make(map[plan.Node]*task, len(n.Branches))
	for i, b := range n.Branches {
		t := g.tasks[i]
		t.at.vars = at.vars.fork()
		t.body = func(ctx context.Context, at place, out layout.Sink) error { return r.node(ctx, b.Node, at, out) }
		branches[b.Node] = t
	}
	inner := at
	inner.branches = branches
	err := g.run(ctx, func(ctx context.Context) error { return r.render(ctx, n.Body, inner, out) })
	if err != nil {
		return err
	}
	for i, b := range n.Branches {
		for _, name := range b.Binds {
			if v, ok := g.tasks[i].at.vars.vars[name]; ok {
				at.vars.set(name, v)
			}
		}
	}
	return nil
}
