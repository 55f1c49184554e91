package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"xmd/lang/plan"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

// The phases of a window, in order; each is on record before what it names happens.
const (
	phasePrepared = "prepared" // the conversation is known
	phaseDetached = "detached" // its window is about to open
	phaseExited   = "exited"   // nothing of the window is left
)

// launch runs one <Session.Launch>: the agent's own interface on the session, at the person's terminal.
func (r *Runner) launch(ctx context.Context, n *plan.Launch, at place) error {
	where := at.where(n.Step)
	inner := at
	inner.inLet, inner.throws = false, true
	layer, err := r.capture(ctx, n.Body, inner)
	if err != nil {
		return err
	}
	if strings.TrimSpace(layer) == "" {
		layer = ""
	}
	target := &plan.Prompt{Step: n.Step, Agent: n.Agent, Session: n.Session} // whose session it is, as of a prompt there
	input := r.promptInput(target, at, form{words: layer})
	done, err := r.recall(ctx, at, where, "launch", input)
	if err != nil {
		return err
	}
	if done != nil {
		_, err := r.again(where, done)
		return err
	}
	s, err := r.sessionOf(target, at)
	if err == nil {
		err = s.turn.take(ctx, nil)
	}
	if err != nil {
		return thrown(err, where)
	}
	defer s.turn.give()
	body := &event.Step{Kind: "launch", Input: input}
	if err := r.o.Stream.Commit(ctx, event.StepStarted, where, &event.Step{Kind: "launch", Input: input}, nil); err != nil {
		return thrown(storeError(err), where)
	}
	w := &window{r: r, s: s, at: s.at(where), layer: layer, create: true}
	if body.ExitCode, err = w.open(ctx); err != nil {
		return r.endStep(ctx, where, body, thrown(err, where))
	}
	return r.endStep(ctx, where, body, nil)
}

// OpenWindow opens the agent's own interface on a session that has a conversation, at the person's terminal, and returns when it was left.
// A window that ends with another code than 0 is an *Error of KindFailed.
func (r *Runner) OpenWindow(ctx context.Context, agent Agent, key store.SessionKey) error {
	s := &session{key: key, name: key.Session, agent: agent, info: agent.Info(), generation: 1}
	_, err := (&window{r: r, s: s, at: s.at(event.At{})}).open(ctx)
	if cerr := s.release(context.WithoutCancel(ctx)); err == nil && cerr != nil {
		err = Errorf(KindUnavailable, "closing %s: %w", s.info.Shown, cerr)
	}
	if err != nil {
		return s.fail(err)
	}
	return nil
}

// window is one window on a session, from its preparation to what is known when it was left. The session's token is held.
type window struct {
	r      *Runner
	s      *session
	at     event.At
	layer  string // the instruction layer; "": none is given
	create bool   // a session without a conversation gets one

	launcher Launcher
	native   NativeInfo
	was      event.Launch // the last phase on record of this step; zero: none
	fresh    bool         // the conversation is begun in the window
	made     bool         // the conversation was chosen or made here
}

// open opens the window and returns how it ended; nil: it did not, or an error came before it.
func (w *window) open(ctx context.Context) (*int, error) {
	var ok bool
	if w.launcher, ok = w.s.agent.(Launcher); !ok {
		return nil, w.s.fail(Errorf(KindUnsupported, "xmd knows no interface of %s that it could open", w.s.info.Shown))
	}
	w.native = w.launcher.Native()
	if _, _, err := w.r.o.Past.Last(ctx, w.at.Step, event.Launched, &w.was); err != nil {
		return nil, storeError(err)
	}
	if w.was.Phase == phaseExited { // only what follows it is missing
		return w.was.ExitCode, w.afterwards(ctx)
	}
	if w.layer != "" && !w.native.Instructs {
		return nil, w.s.fail(Errorf(KindUnsupported, "%s takes no instructions for its own interface in this version of xmd; leave the body of <Session.Launch> out, and send a new session a <Prompt> first", w.s.info.Shown))
	}
	terminal, err := w.r.terminal(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = terminal.Close() }()
	if err := w.prepare(ctx); err != nil {
		if rerr := w.s.release(context.WithoutCancel(ctx)); rerr != nil {
			w.r.notice(fmt.Sprintf("closing %s: %v", w.s.info.Shown, rerr))
		}
		if w.made { // what is on record of it is found there
			w.s.nativeID, w.s.begun = "", nil
		}
		return nil, w.s.fail(err)
	}
	return w.show(ctx, terminal)
}

// terminal takes the person's terminal.
func (r *Runner) terminal(ctx context.Context) (Terminal, error) {
	if r.o.Terminal == nil {
		return nil, Errorf(KindUsage, "an agent's own interface needs a terminal, and there is none here; start xmd at one")
	}
	return r.o.Terminal(ctx)
}

// prepare comes to where only the window is missing: the attachment is closed, the conversation known and free, and both on record.
func (w *window) prepare(ctx context.Context) error {
	r, s := w.r, w.s
	if err := w.detach(ctx); err != nil {
		return err
	}
	if err := r.own(ctx, s); err != nil {
		return err
	}
	if s.owed != nil && s.owed.State == store.OwnerTurn { // a prompt in flight is settled first
		if err := errors.Join(r.attach(ctx, s, w.at), w.detach(ctx)); err != nil {
			return err
		}
	}
	if err := w.conversation(ctx); err != nil {
		return err
	}
	if info, err := os.Stat(s.key.Root); err != nil || !info.IsDir() {
		return Errorf(KindCouldNot, "the folder %s, in which session %q works, is gone; give it another with: xmd sessions move %s --to DIR", s.key.Root, s.shown(), s.key)
	}
	w.observe(ctx)
	if !w.fresh {
		if err := w.launcher.Released(ctx, s.nativeID, r.notice); err != nil {
			return err
		}
	}
	return w.record(ctx)
}

// detach closes the session's attachment; what is its own stays.
func (w *window) detach(ctx context.Context) error {
	if w.s.conn == nil {
		return nil
	}
	err := w.s.conn.Close(ctx)
	w.s.conn = nil
	if err != nil {
		return Errorf(KindUnavailable, "closing %s: %w", w.s.info.Shown, err)
	}
	return nil
}

// observe says what has changed about the agent's build, as before a prompt.
func (w *window) observe(ctx context.Context) {
	if w.s.watch == nil && !w.s.warned && w.r.o.Observer != nil {
		info := w.s.info
		if info.VersionArgv == nil {
			info.VersionArgv = w.native.VersionArgv
			info.VersionEnv = slices.Concat(w.r.o.Children, w.native.Env)
		}
		w.s.watch = w.r.o.Observer.Begin(ctx, info)
	}
	w.r.observe(ctx, w.s, nil, w.at)
}

// record puts the conversation on record, and that its window is about to open.
func (w *window) record(ctx context.Context) error {
	r, s := w.r, w.s
	if w.fresh && w.was.NativeID != s.nativeID {
		if err := r.commitOpened(ctx, s, store.TransportNative, w.at); err != nil {
			return err
		}
	}
	if err := w.phase(ctx, phasePrepared, nil, nil); err != nil {
		return err
	}
	return w.phase(ctx, phaseDetached, nil, func(tx *store.Tx) error { return w.owner(tx, store.OwnerNative) })
}

func (w *window) phase(ctx context.Context, phase string, code *int, rows func(tx *store.Tx) error) error {
	digest := w.digest()
	if digest == "" && w.s.route != nil {
		digest = w.s.route.InstructionDigest
	}
	body := &event.Launch{Phase: phase, NativeID: w.s.nativeID, Instructions: digest, ExitCode: code}
	return w.r.o.Stream.Commit(ctx, event.Launched, w.at, body, rows)
}

// owner writes the owner record of a named session.
func (w *window) owner(tx *store.Tx, state store.OwnerState) error {
	if !w.s.key.Named() {
		return nil
	}
	o := store.Owner{Key: w.s.key1(), State: state, Run: w.r.o.RunID, NativeID: w.s.nativeID}
	if state != store.OwnerIdle {
		o.Step = w.at.Step
	}
	return tx.SetOwner(o)
}

// show runs the window and puts its end on record.
func (w *window) show(ctx context.Context, terminal Terminal) (*int, error) {
	s := w.s
	var code *int
	exit, err := w.run(ctx, terminal)
	if err == nil {
		code = &exit.Code
	}
	s.owed = nil
	rows := func(tx *store.Tx) error { return nil }
	if s.route != nil { // else it is idle when it is known whether there is a route
		rows = func(tx *store.Tx) error { return w.owner(tx, store.OwnerIdle) }
	}
	if cerr := w.phase(context.WithoutCancel(ctx), phaseExited, code, rows); cerr != nil {
		return code, cerr
	}
	if aerr := w.afterwards(ctx); aerr != nil {
		return code, aerr
	}
	switch {
	case ctx.Err() != nil:
		return code, stopped(ctx)
	case err != nil:
		return code, s.fail(err)
	case exit.Signal != "":
		return code, s.fail(Errorf(KindFailed, "%s was ended by a signal (%s)", s.info.Shown, exit.Signal))
	case exit.Code != 0:
		return code, s.fail(Errorf(KindFailed, "%s ended with code %d", s.info.Shown, exit.Code))
	}
	return code, nil
}

// run starts the interface and waits until it was left. What it needs of files is written no sooner: a guardian sees to its end.
func (w *window) run(ctx context.Context, terminal Terminal) (ProgramExit, error) {
	s := w.s
	program, err := w.launcher.Window(WindowRequest{ID: s.nativeID, New: w.fresh, Instructions: w.layer, Root: s.key.Root, Env: w.r.o.Children})
	if err != nil {
		return ProgramExit{}, err
	}
	if program.Remove != "" { // where no guardian came to it
		defer func() { _ = os.RemoveAll(program.Remove) }()
	}
	program.Locks = s.locks(w.r.runLock)
	return terminal.Run(ctx, program)
}

// afterwards writes the route of a conversation that was begun in the window, if the provider has it with a turn, and sets the owner idle.
// The attachment that has shown it is kept for the next prompt.
func (w *window) afterwards(ctx context.Context) error {
	r, s := w.r, w.s
	if w.was.Phase == phaseExited {
		if err := r.own(ctx, s); err != nil {
			return s.fail(err)
		}
		s.nativeID = w.was.NativeID
		if _, err := r.recorded(ctx, s); err != nil {
			return s.fail(err)
		}
	}
	owed := s.owed != nil
	s.owed = nil
	if s.route != nil || !s.key.Named() {
		if !owed {
			return nil
		}
		return w.store(ctx, func(tx *store.Tx) error { return w.owner(tx, store.OwnerIdle) })
	}
	var seen bool
	var err error
	if ctx.Err() == nil {
		seen, err = w.seen(ctx)
	}
	if seen {
		return w.route(ctx)
	}
	if derr := w.detach(context.WithoutCancel(ctx)); err == nil {
		err = derr
	}
	if err != nil && ctx.Err() == nil {
		r.warn("launch", fmt.Sprintf("Whether %s has kept the conversation of session %q could not be seen: %v. The next prompt looks for it.", s.info.Shown, s.shown(), err), w.at)
	}
	return w.store(ctx, func(tx *store.Tx) error { return w.owner(tx, store.OwnerIdle) })
}

// seen says whether the provider has the conversation with a turn.
func (w *window) seen(ctx context.Context) (bool, error) {
	opened, gone, err := w.r.reopen(ctx, w.s)
	if err != nil || gone {
		return false, err
	}
	return hasTurn(opened.History), w.r.attached(w.s, w.at)
}

// route writes the session's route.
func (w *window) route(ctx context.Context) error {
	return w.store(ctx, func(tx *store.Tx) error {
		if w.s.key.Named() {
			if err := w.r.createRoute(tx, w.s); err != nil {
				return err
			}
		}
		return w.owner(tx, store.OwnerIdle)
	})
}

// store writes rows that belong to no event.
func (w *window) store(ctx context.Context, rows func(tx *store.Tx) error) error {
	if err := w.r.o.Store.Do(context.WithoutCancel(ctx), rows); err != nil {
		return storeError(err)
	}
	return nil
}
