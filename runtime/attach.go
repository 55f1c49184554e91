package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"xmd/runtime/event"
	"xmd/runtime/store"
)

// attach makes sure that s has a live attachment to exactly its provider conversation. When it returns an error no process of
// the session is left, its locks are free, and nothing was created or changed that a later attach would trip over.
func (r *Runner) attach(ctx context.Context, s *session, at event.At) error {
	if s.alive() {
		return nil
	}
	err := r.attachNew(ctx, s, s.at(at))
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		s.watch = nil // what was looked at was cancelled with it
		if KindOf(err) != KindStore {
			err = stopped(ctx) // what could not be done any more is not why
		}
	}
	if rerr := s.release(context.WithoutCancel(ctx)); rerr != nil {
		r.notice(fmt.Sprintf("closing %s: %v", s.info.Shown, rerr))
	}
	r.leave(s.conv)
	return s.fail(err)
}

func (r *Runner) attachNew(ctx context.Context, s *session, at event.At) error {
	if s.conn != nil { // its process has ended
		if err := s.conn.Close(ctx); err != nil {
			return err
		}
		s.conn = nil
	}
	if err := r.enter(ctx, s); err != nil {
		return err
	}
	if err := r.own(ctx, s); err != nil {
		return err
	}
	id, err := r.recorded(ctx, s)
	if err != nil {
		return err
	}
	if id, err = r.pinned(ctx, s, id); err != nil {
		return err
	}
	opened, now, err := r.connect(ctx, s, id, at)
	if s.conv != nil && s.restart && lost(err) {
		opened, now, err = r.startOver(ctx, s, id, at)
	}
	if err != nil {
		return err
	}
	if err := r.settleFlights(ctx, s, now, opened.History); err != nil {
		return err
	}
	return r.attached(s, at)
}

// own takes the session's lock and its owner record, before anybody is contacted. Unnamed sessions are covered by the run's lock.
func (r *Runner) own(ctx context.Context, s *session) error {
	if s.lock != nil || !s.key.Named() {
		return nil
	}
	lock, err := r.takeLock(ctx, store.LockSession, s.key.LockName())
	if err != nil {
		return err
	}
	s.lock = lock
	err = r.o.Store.DoSoon(ctx, func(tx *store.Tx) error { // a prompt makes it durable
		gen, err := currentGeneration(tx, s.key)
		if err != nil {
			return err
		}
		s.generation = gen
		if due, err := tx.RestartDue(s.key); err != nil {
			return err
		} else if due && s.conv != nil {
			s.why = ReasonJoined
		}
		if err := s.stillThere(tx); err != nil {
			return err
		}
		return tx.Claim(lock, store.Owner{Key: s.key1(), Run: r.o.RunID})
	})
	var left *store.RecoveryError
	if errors.As(err, &left) && r.o.Past != nil && left.Owner.Run == r.o.RunID {
		// This very run left it: it recovers its own sessions. The owner record stays as it is until that is done.
		s.owed, s.generation = &left.Owner, left.Owner.Generation
		return nil
	}
	return err
}

// stillThere looks, under the lock, whether a session that was found has not been moved away meanwhile: nothing new is made in its place.
func (s *session) stillThere(tx *store.Tx) error {
	if !s.found {
		return nil
	}
	_, found, err := tx.Current(s.key)
	if err != nil || found {
		return err
	}
	if _, found, err = tx.LastOpened(s.key1()); err != nil || found {
		return err
	}
	return &Error{Kind: KindCouldNot, Retryable: true, Message: fmt.Sprintf("session %s was moved away from %s meanwhile; run again", s.key, s.key.Root)}
}

func currentGeneration(tx *store.Tx, key store.SessionKey) (int, error) {
	route, found, err := tx.Current(key)
	if err != nil {
		return 0, err
	}
	due, err := tx.RestartDue(key)
	if err != nil {
		return 0, err
	}
	if found && !due {
		return route.Generation, nil
	}
	return tx.NextGeneration(key)
}

// recorded reads what the store knows of the session: the native id to load, "" for none yet.
func (r *Runner) recorded(ctx context.Context, s *session) (string, error) {
	id := s.nativeID
	var opened store.Opened
	err := r.o.Store.View(ctx, func(tx *store.Tx) error {
		route, found, err := tx.Route(s.key1())
		if err != nil {
			return err
		}
		if found {
			s.route = &route
			id = route.NativeSessionID
		} else if opened, found, err = tx.LastOpened(s.key1()); err != nil {
			return err
		} else if found {
			id = opened.NativeID
		}
		if s.told, err = tx.Told(s.key1()); err != nil {
			return err
		}
		s.nextTurn, err = tx.NextTurn(s.key1())
		return err
	})
	if err == nil {
		s.begun, err = r.beginningOf(ctx, opened)
	}
	return id, err
}

// lockNative takes the lock of the provider conversation itself, which holds whatever --state-dir says.
func (r *Runner) lockNative(ctx context.Context, s *session, id string) error {
	if s.native != nil {
		return nil
	}
	lock, err := r.takeLock(ctx, store.LockNative, store.NativeLockName(s.info.Name, id))
	if err != nil {
		return err
	}
	s.native = lock
	return nil
}

// leftLimit bounds how long the resume of a run waits for what is left of the process that ran it before.
const leftLimit = 60 * time.Second

// takeLock takes a lock, or waits for it as long as the person said. The resume of a run waits for what its own last process has left.
func (r *Runner) takeLock(ctx context.Context, kind store.LockKind, name string) (*store.Lock, error) {
	lock, err := r.o.Store.TryLock(ctx, kind, name, r.lockOwner())
	var busy *store.BusyError
	if errors.As(err, &busy) && r.o.Wait > 0 {
		r.notice(fmt.Sprintf("waiting up to %s: %s", r.o.Wait, busy.Says()))
		lock, err = r.o.Store.Wait(ctx, r.o.Wait, kind, name, r.lockOwner())
	}
	if errors.As(err, &busy) && busy.Gone && r.o.Past != nil && busy.Owner.Run == r.o.RunID {
		r.notice(fmt.Sprintf("waiting up to %s for what is left of process %d", leftLimit, busy.Owner.Pid))
		return r.o.Store.Wait(ctx, leftLimit, kind, name, r.lockOwner())
	}
	return lock, err
}

func (r *Runner) start(ctx context.Context, s *session, at event.At) error {
	return r.startAs(ctx, s, s.agent, at)
}

// startAs starts the session's agent as it is reached in this way.
func (r *Runner) startAs(ctx context.Context, s *session, agent Agent, at event.At) error {
	conn, err := agent.Start(ctx, StartOptions{
		Root: s.key.Root, Locks: s.locks(r.runLock), Env: r.o.Children,
		Notice: r.notice, Trace: r.o.TraceFrames, Stderr: r.o.AgentStderr,
	})
	if err != nil {
		return err
	}
	s.conn, s.applied, s.unsettled = conn, Settings{}, false
	s.has, s.equipped = outfit{}, false
	r.o.Stream.Emit(event.AgentStarted, at, &event.Agent{Shown: s.info.Shown, Transport: agent.Info().Transport})
	return nil
}

// open loads the recorded conversation or makes a new one. A new one's id is locked and recorded before any prompt.
func (r *Runner) open(ctx context.Context, s *session, id string, at event.At) (Opened, error) {
	opened, err := s.conn.Open(ctx, id)
	had, herr := r.hadTurn(ctx, s)
	if err != nil && herr == nil && id != "" && !had && KindOf(err) == KindMissing {
		// Opened once, never accepted a turn, and gone: agents keep nothing before the first turn. A new one replaces nothing.
		if err := s.native.Close(); err != nil {
			return Opened{}, err
		}
		s.native, s.begun, id = nil, nil, ""
		opened, err = s.conn.Open(ctx, "")
	}
	if err != nil {
		return Opened{}, r.couldNotContinue(s, id, err)
	}
	s.loaded = id != ""
	if s.loaded {
		s.nativeID = id
		return opened, nil
	}
	if l, ok := s.conn.(Loader); ok && s.key.Named() && s.conv == nil && !l.CanLoad() {
		r.warn("session", fmt.Sprintf("%s cannot load conversations: later runs cannot continue session %q.", s.info.Shown, s.name), at)
	}
	return opened, r.recordOpened(ctx, s, opened.ID, s.info.Transport, at)
}

// recordOpened locks a conversation that was made over transport, and puts it on record.
func (r *Runner) recordOpened(ctx context.Context, s *session, id, transport string, at event.At) error {
	if err := CheckNativeID(id); err != nil {
		return Errorf(KindFailed, "%s cannot be used: %w", s.info.Shown, err)
	}
	s.nativeID = id
	if err := r.lockNative(ctx, s, id); err != nil {
		return err
	}
	if h, ok := s.conn.(Holder); ok {
		if err := h.Hold(ctx, s.native.File()); err != nil {
			return Errorf(KindUnavailable, "the guardian of %s did not take the lock of its conversation: %w", s.info.Shown, err)
		}
	}
	return r.commitOpened(ctx, s, transport, at)
}

// commitOpened puts the session's conversation on record as one that is known, with how it was begun.
func (r *Runner) commitOpened(ctx context.Context, s *session, transport string, at event.At) error {
	body := &event.Session{NativeID: s.nativeID, Root: s.key.Root, Transport: transport, Generation: s.generation}
	if s.begun != nil {
		body.Instructions = s.begun.layer
	}
	return r.o.Stream.Commit(ctx, event.SessionOpened, at, body, func(tx *store.Tx) error {
		return tx.PutOpened(store.Opened{Key: s.key1(), NativeID: s.nativeID, Transport: transport, Run: r.o.RunID})
	})
}

// observe says once per session and invocation what changed about the agent's build. It never fails.
func (r *Runner) observe(ctx context.Context, s *session, up <-chan struct{}, at event.At) {
	if s.watch == nil || s.warned || ctx.Err() != nil {
		return
	}
	s.warned = true
	handshake := ""
	if v, ok := s.conn.(HandshakeVersioner); ok {
		handshake = v.HandshakeVersion()
	}
	s.build = s.watch.Build(ctx, up, handshake)
	var established *Build
	if s.route != nil && s.route.Established != nil {
		established = &Build{Version: s.route.Established.Version, Digest: s.route.Established.Digest}
	}
	if line := r.o.Observer.Warning(s.info.Shown, established, s.build); line != "" {
		r.warn("compat", line, at)
	}
}

// confirm judges whether the loaded conversation is ours, and settles turns whose acceptance was not known.
func (r *Runner) confirm(ctx context.Context, s *session, id string, opened Opened, at event.At) error {
	if !s.loaded {
		s.identity, s.history = IdentityNew, HistoryNone
		return nil
	}
	turns, err := r.turns(ctx, s)
	if err != nil {
		return err
	}
	identity, history, jerr := judge(s.info, id, opened, acceptedOf(turns))
	if jerr != nil {
		return r.couldNotContinue(s, id, jerr)
	}
	s.identity, s.history = identity, history
	if note := historyNote(s.info.Shown, s.shown(), history); note != "" {
		if r.o.RequireConfirmed {
			return r.couldNotContinue(s, id, Errorf(KindUnconfirmed, "its history is %s and --require-confirmed was given", history))
		}
		r.warn("history", note, at)
	}
	return r.settle(ctx, s, opened.History, turns)
}

// knownTurns is how many of the newest turns of a session are looked for in its history.
const knownTurns = 64

func (r *Runner) turns(ctx context.Context, s *session) (turns []store.Turn, err error) {
	err = r.o.Store.View(ctx, func(tx *store.Tx) error {
		turns, err = tx.LastTurns(s.key1(), knownTurns)
		return err
	})
	return turns, err
}

func acceptedOf(turns []store.Turn) []KnownTurn {
	var known []KnownTurn
	for _, t := range turns {
		if t.Accepted == store.AcceptedYes && (t.WordsDigest != "" || t.ReplyDigest != "") { // a command of the agent's own has neither
			known = append(known, knownTurn(t))
		}
	}
	return known
}

func knownTurn(t store.Turn) KnownTurn {
	return KnownTurn{
		Words: Fingerprint{Digest: t.WordsDigest, Letters: t.WordsLetters},
		Reply: Fingerprint{Digest: t.ReplyDigest, Letters: t.ReplyLetters},
	}
}

// settle finds out whether a last turn that ended by an error reached the provider: it did when it is the history's newest turn.
func (r *Runner) settle(ctx context.Context, s *session, h History, turns []store.Turn) error {
	if len(turns) == 0 || !h.Known {
		return nil
	}
	last := turns[len(turns)-1]
	if last.Accepted != store.AcceptedUnknown {
		return nil
	}
	last.Accepted = store.AcceptedNo
	if n := len(h.Newest); n > 0 && matches(h.Newest[n-1].Words, knownTurn(last).Words) {
		last.Accepted = store.AcceptedYes
	}
	return r.o.Store.Do(ctx, func(tx *store.Tx) error {
		if last.Accepted == store.AcceptedYes && s.route == nil && s.key.Named() {
			if err := r.createRoute(tx, s); err != nil {
				return err
			}
		}
		return r.putTurn(tx, s, last)
	})
}

func (r *Runner) attached(s *session, at event.At) error {
	r.o.Stream.Emit(event.SessionAttached, at, &event.Session{
		NativeID: s.nativeID, Root: s.key.Root, Transport: s.info.Transport, Generation: s.generation,
		Loaded: s.loaded, Identity: string(s.identity), History: string(s.history), Version: s.build.Version,
	})
	return nil
}

// couldNotContinue words a failed attach: which conversation, where it was looked for, why, and what can be done.
func (r *Runner) couldNotContinue(s *session, id string, err error) error {
	kind := KindOf(err)
	if id == "" || kind == KindUnavailable || kind == KindNotSignedIn || kind == KindCancelled {
		return err
	}
	var e *Error
	retry := errors.As(err, &e) && e.Retryable
	where := s.info.Home
	if where == "" {
		where = s.key.Root
	}
	advice := "no prompt was sent; try again when it is back"
	if s.key.Named() {
		advice += fmt.Sprintf(", or begin a new conversation on purpose: xmd sessions restart %s", s.key)
	}
	if s.conv != nil && (kind == KindMissing || kind == KindEmpty) {
		advice += `, or write onLost="restart" on the Conversation`
	}
	if retry || kind == KindBusy || kind == KindCouldNot {
		advice = "no prompt was sent; try again"
	}
	return &Error{
		Kind: kind, Retryable: retry, Agent: s.info.Name, Session: s.name, Err: err,
		Message: fmt.Sprintf("session %q of %s cannot be continued (conversation %s, looked for in %s): %v; %s", s.shown(), s.info.Shown, id, where, err, advice),
	}
}
