package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"xmd/lang/plan"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

// Runner runs plans one after another in one invocation: a document is one, a REPL's entries are many. Names, sessions and their
// attachments stay from one to the next. Not safe for concurrent use, except Failures.
type Runner struct {
	o        Options
	runLock  *store.Lock
	entry    string // what identities begin with in the entry of a REPL that the next document is; \"\": nothing
	names    *scope // of the documents themselves: what one binds, the next sees
	log      *failureLog
	spending spending     // of the run's budget
	value    *returned    // of the last document, when it has returns
	held     atomic.Int64 // bytes of output that wait in memory for their turn
	person   token        // held while somebody is asked

	rehearsed Rehearsal
	undo      []Undo // see Undo
	stoppedAt int    // the node of the last document that found the run cancelled

	flights flights
	absent  map[string]bool // turns in flight that were found never to have arrived, under mu
	resent  map[string]bool // turns that are sent a second time, under mu

	tools []Tool     // of the plan: what agents are shown
	waits []*waiting // bodies of tools that wait for a session, under mu

	mu       sync.Mutex
	sessions map[store.SessionKey]*session
	talks    map[store.ConversationKey]*conversation
	noted    map[store.SessionKey]bool
	said     map[string]bool // see once
	asked    map[string]int  // how often each Elicit has asked, by name
}

// New makes a Runner for a run that the store knows; runLock is that run's lock. Close it.
func New(o Options, runLock *store.Lock) *Runner {
	r := &Runner{
		o: o, runLock: runLock, names: newScope(nil, map[string]any{}), log: &failureLog{},
		sessions: map[store.SessionKey]*session{}, talks: map[store.ConversationKey]*conversation{}, noted: map[store.SessionKey]bool{},
	}
	r.spending.limit = o.Budget
	r.askInTurn()
	return r
}

// Execute runs p to its end. Failures that the document went on after are kept (Failures); the error is the one that ended it. All
// that ran at once has ended when it returns.
func (r *Runner) Execute(ctx context.Context, p *plan.Plan) error {
	for name, v := range r.inputs(r.o.Props, r.o.Env, r.o.Meta) {
		r.names.set(name, v)
	}
	r.value = nil
	r.Offer(p)
	line := &strand{}
	at := place{doc: p, vars: r.names, log: r.log, id: identity{here: r.entry}, session: sessionPin{scope: runScope}, aside: r, strand: line, offers: &offers{}}
	if err := r.fix(ctx, line); err != nil {
		return err
	}
	if err := r.spending.remember(ctx, r); err != nil {
		return err
	}
	value, err := r.document(ctx, p, at, rootSink{r})
	r.stoppedAt = line.stopped
	if err != nil {
		e := asError(err)
		r.undo = e.undo
		if !e.logged && !isRecordEnd(e) {
			r.log.add(e)
		}
		return e
	}
	if value != nil {
		r.value = value
		return rootSink{r}.Value(value.line())
	}
	return nil
}

// ExecuteApart is Execute for a document with names of its own: it sees none of those of other documents, and what it binds ends with it.
func (r *Runner) ExecuteApart(ctx context.Context, p *plan.Plan, props, env map[string]any) error {
	names, o := r.names, r.o
	defer func() { r.names, r.o.Props, r.o.Env, r.o.Meta = names, o.Props, o.Env, o.Meta }()
	r.names = newScope(nil, map[string]any{})
	r.o.Props, r.o.Env, r.o.Meta = props, env, p.Inputs.Meta
	return r.Execute(ctx, p)
}

// Enter makes the next documents entry n of a REPL: the identities of their steps begin with it. Between documents only.
func (r *Runner) Enter(n int) { r.entry = fmt.Sprintf("entry%d/", n) }

// Recall is Execute for an entry that has ended: what it bound is bound again, and nothing is run. What it wrote is told again. Between
// documents only.
func (r *Runner) Recall(ctx context.Context, p *plan.Plan) error {
	offline, log := r.o.Offline, r.log
	defer func() { r.o.Offline, r.log = offline, log }()
	r.o.Offline, r.log = true, &failureLog{} // what failed then is no failure of now
	return r.Execute(ctx, p)
}

// Bound are the names that documents have bound so far, with their values; between documents only, and not to be changed.
func (r *Runner) Bound() map[string]any { return r.names.vars }

// fix makes the document's own strand end where the run ended, when only what is on record is told.
func (r *Runner) fix(ctx context.Context, line *strand) error {
	if !r.o.Replay {
		return nil
	}
	var end event.End
	_, found, err := r.o.Past.Last(ctx, "", event.RunEnded, &end)
	if err != nil {
		return storeError(err)
	}
	line.fixed, line.stopAt = found, end.Stopped
	return nil
}

// EndText shows what is held back of the document's text.
func (r *Runner) EndText() { r.o.Stream.EndText() }

// Tell shows the end of a run that was told again.
func (r *Runner) Tell(t event.Type, body any) { r.o.Stream.Replay(t, event.At{}, body) }

// StoppedAt tells which node of the last document found the run cancelled; 0: none did.
func (r *Runner) StoppedAt() int { return r.stoppedAt }

// Value is what the last document returned; ok is false if it is text or has failed. Between documents only.
func (r *Runner) Value() (v any, ok bool) {
	if r.value == nil {
		return nil, false
	}
	return r.value.value, true
}

// inputs are the names every document has.
func (r *Runner) inputs(props, env, meta map[string]any) map[string]any {
	return map[string]any{
		"props": orEmpty(props), "env": orEmpty(env), "meta": orEmpty(meta),
		"run": map[string]any{"id": r.o.RunID, "dir": r.o.Dir},
	}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// Failures are the failures so far, in document order. Safe at any time; of bodies that run at once it has those that all ended.
func (r *Runner) Failures() []*Error { return r.log.all() }

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
	return errors.Join(append(errs, r.closeTalks())...)
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

// lockOwner is what lock files say of this run.
func (r *Runner) lockOwner() store.LockOwner {
	return store.LockOwner{Run: r.o.RunID, Command: r.o.Command}
}

// SetDefaultAgent changes the agent of prompts that name none; between plans only.
func (r *Runner) SetDefaultAgent(name string) { r.o.DefaultAgent = name }
