package runtime

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"xmd/lang/layout"
	"xmd/lang/plan"
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
	panicked any
}

// group is a set of bodies that run at once.
type group struct {
	r      *Runner
	at     place // of the element
	tasks  []*task
	limit  int
	spools *spools
	cancel context.CancelCauseFunc
}

// newGroup makes the set of n bodies of an element. scope names the scope of each one's unnamed sessions.
func (r *Runner) newGroup(at place, n, limit int, scope func(i int) string) *group {
	g := &group{r: r, at: at, limit: limit, spools: &spools{held: &r.held}}
	for i := range n {
		t := &task{out: &spool{all: g.spools, n: i}, done: make(chan struct{}), scope: scope(i)}
		t.at = at
		t.at.log, t.at.aside, t.at.branches = &failureLog{}, t.out, nil
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
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g.cancel = cancel
	defer g.spools.remove()
	launched := make(chan struct{})
	go func() {
		defer close(launched)
		g.launch(inner)
	}()
	delivered := deliver(ctx)
	if delivered != nil && KindOf(delivered) != KindWaiting {
		cancel(errSibling)
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
	return g.judge(ctx, delivered)
}

// launch begins the bodies in order. Each may say its first word (queue for its session, start its child) before the next one begins, so
// that prompts of one session come in document order.
func (g *group) launch(ctx context.Context) {
	defer g.at.begin()
	slots := make(chan struct{}, g.limit)
	for _, t := range g.tasks {
		select {
		case slots <- struct{}{}:
		default:
			g.at.begin()
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			t.err, t.stopped = stopped(ctx), true
			close(t.done)
			continue
		}
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
		t.stopped = ctx.Err() != nil && KindOf(t.err) == KindCancelled
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
		case ctx.Err() != nil && errors.Is(e, context.Cause(ctx)):
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
	if worst == nil {
		worst = delivered
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
	g := r.newGroup(at, len(n.Branches), limit, func(i int) string { return at.id.of(n.ID) + "/branch" + strconv.Itoa(i+1) })
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
