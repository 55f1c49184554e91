package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"xmd/lang/plan"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

// Runner runs plans one after another in one invocation: a document is one, a REPL's entries are many. Names, sessions and their
// attachments stay from one to the next. Not safe for concurrent use, except Failures.
type Runner struct {
	o       Options
	runLock *store.Lock
	names   map[string]any

	mu       sync.Mutex
	sessions map[store.SessionKey]*session
	failures []*Error

	src   *plan.Plan // the plan being run
	noted map[store.SessionKey]bool
}

// place is what the enclosing elements pinned for a step.
type place struct {
	agent   string
	session string
	pinned  bool // session is set
	inLet   bool // directly in the body of a Let
}

// New makes a Runner for a run that the store knows; runLock is that run's lock. Close it.
func New(o Options, runLock *store.Lock) *Runner {
	return &Runner{o: o, runLock: runLock, names: map[string]any{}, sessions: map[store.SessionKey]*session{}, noted: map[store.SessionKey]bool{}}
}

// Execute runs p to its end. Failures that the document went on after are kept (Failures); the error is the one that ended it.
func (r *Runner) Execute(ctx context.Context, p *plan.Plan) error {
	r.src = p
	for name, v := range r.inputs() {
		r.names[name] = v
	}
	err := r.render(ctx, p.Body, place{agent: ""}, rootSink{r})
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			e = asError(err)
		}
		r.failed(e)
		return e
	}
	return nil
}

// inputs are the names every document has.
func (r *Runner) inputs() map[string]any {
	return map[string]any{
		"props": orEmpty(r.o.Props), "env": orEmpty(r.o.Env), "meta": orEmpty(r.o.Meta),
		"run": map[string]any{"id": r.o.RunID, "dir": r.o.Dir},
	}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// Failures are the failures so far, in the order in which they happened, which is document order.
func (r *Runner) Failures() []*Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Error(nil), r.failures...)
}

func (r *Runner) failed(e *Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, e)
}

// Close closes every attachment and gives up the sessions. It waits until no process of an agent is left, bounded by ctx.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	open := make([]*session, 0, len(r.sessions))
	for _, s := range r.sessions {
		open = append(open, s)
	}
	r.sessions = map[store.SessionKey]*session{}
	r.mu.Unlock()
	errs := make([]error, len(open))
	var wg sync.WaitGroup
	for i, s := range open {
		wg.Go(func() { errs[i] = s.release(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// notice is a line for people that is no event of the run: a download, a teardown that took long.
func (r *Runner) notice(line string) {
	if r.o.Notice != nil {
		r.o.Notice(line)
	}
}

// warn says a warning once.
func (r *Runner) warn(code, text string, at event.At) {
	r.o.Stream.Emit(event.Warning, at, &event.Warn{Code: code, Text: text})
}

// at is where a step's events happen.
func (r *Runner) at(s plan.Step) event.At {
	return event.At{Step: s.ID, Position: r.position(s.Pos)}
}

func (r *Runner) position(span plan.Span) string {
	line, col := r.src.Source.Pos(span.Start)
	return fmt.Sprintf("%s:%d:%d", r.src.Source.Name, line, col)
}

// thrown adds the step's place to an error that ends the run there.
func (r *Runner) thrown(err error, at event.At) error {
	e := asError(err)
	if e.Position == "" {
		e.Position, e.Step = at.Position, at.Step
	}
	return e
}

// asError makes an *Error of any error.
func asError(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return &Error{Kind: KindCancelled, Message: "cancelled", Err: err}
	}
	return storeError(err)
}

// lockOwner is what lock files say of this run.
func (r *Runner) lockOwner() store.LockOwner {
	return store.LockOwner{Run: r.o.RunID, Command: r.o.Command}
}

// SetDefaultAgent changes the agent of prompts that name none; between plans only.
func (r *Runner) SetDefaultAgent(name string) { r.o.DefaultAgent = name }
