package runtime

import (
	"context"
	"fmt"
	"time"

	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

// Recovery is what Recover found.
type Recovery struct {
	Was     store.Owner // the owner record that was found
	Needed  bool        // false: the session was idle, nothing was done
	Native  bool        // a native interface was open, no turn
	Turn    bool        // its conversation has a turn
	Gone    bool        // the provider has no such conversation: it never had a turn
	Fate    Fate
	History HistoryState
}

// Recover takes over a session whose owner died in a turn: it waits until nothing of that owner is left, loads the conversation,
// says whether the last turn is in its history, and sets the owner idle. It sends nothing. The attachment is closed again.
func (r *Runner) Recover(ctx context.Context, agent Agent, key store.SessionKey, wait time.Duration) (Recovery, error) {
	s := &session{key: key, name: key.Session, agent: agent, info: agent.Info(), generation: 1, bare: true}
	found, err := r.recover(ctx, s, wait)
	if cerr := s.release(context.WithoutCancel(ctx)); err == nil && cerr != nil {
		err = Errorf(KindUnavailable, "closing %s: %w", s.info.Shown, cerr)
	}
	if err != nil {
		return found, s.fail(err)
	}
	return found, nil
}

func (r *Runner) recover(ctx context.Context, s *session, wait time.Duration) (Recovery, error) {
	var found Recovery
	lock, err := r.o.Store.Wait(ctx, wait, store.LockSession, s.key.LockName(), r.lockOwner())
	if err != nil {
		return found, err
	}
	s.lock = lock
	err = r.o.Store.View(ctx, func(tx *store.Tx) error {
		found.Was, found.Needed, err = tx.Owner(s.key)
		return err
	})
	if err != nil {
		return found, err
	}
	if found.Needed = found.Needed && found.Was.State != store.OwnerIdle; !found.Needed {
		return found, nil
	}
	s.generation = found.Was.Generation
	opened, gone, err := r.reopen(ctx, s)
	if err != nil {
		return found, err
	}
	found.Gone, found.History, found.Native = gone, s.history, found.Was.State == store.OwnerNative
	found.Turn = hasTurn(opened.History)
	flight, known, err := r.flightOf(ctx, found.Was)
	if err != nil {
		return found, err
	}
	found.Fate = FateUnknown
	if known {
		if found.Fate, err = r.fateOf(ctx, s, flight, opened.History); err != nil {
			return found, err
		}
	}
	return found, r.settleRecovered(ctx, s, found, flight, known)
}

// reopen loads the conversation and judges it, as an attach would; it never makes a new one. gone: it never had a turn.
func (r *Runner) reopen(ctx context.Context, s *session) (opened Opened, gone bool, err error) {
	at := s.at(event.At{})
	id, err := r.recorded(ctx, s)
	if err != nil || id == "" {
		return Opened{}, id == "", err
	}
	if err := r.lockNative(ctx, s, id); err != nil {
		return Opened{}, false, err
	}
	up := make(chan struct{})
	if r.o.Observer != nil {
		s.watch = r.o.Observer.Begin(ctx, s.info)
	}
	if err := r.start(ctx, s, at); err != nil {
		return Opened{}, false, err
	}
	close(up)
	opened, err = s.conn.Open(ctx, id)
	r.observe(ctx, s, up, at)
	if err != nil && s.route == nil && KindOf(err) == KindMissing {
		return Opened{}, true, nil
	}
	if err != nil {
		return Opened{}, false, r.couldNotContinue(s, id, err)
	}
	s.nativeID, s.loaded = id, true
	turns, err := r.turns(ctx, s)
	if err != nil {
		return Opened{}, false, err
	}
	var jerr *Error
	if s.identity, s.history, jerr = judge(s.info, id, opened, acceptedOf(turns)); jerr != nil {
		return Opened{}, false, r.couldNotContinue(s, id, jerr)
	}
	return opened, false, nil
}

// flightOf reads the prompt that was being sent from the journal of the owner's run; known is false when it is not there.
func (r *Runner) flightOf(ctx context.Context, was store.Owner) (f journal.Flight, known bool, err error) {
	if was.Run == "" || was.State != store.OwnerTurn {
		return f, false, nil
	}
	past, err := journal.Open(ctx, r.o.Store, was.Run, r.o.Secrets)
	if err != nil {
		return f, false, err
	}
	list, err := past.Flights(ctx)
	for _, one := range list {
		if one.Step == was.Step && one.At.Agent == was.Agent && one.At.Session == was.Session {
			return one, true, err
		}
	}
	return f, false, err
}

// settleRecovered records what was found and sets the owner idle, in one transaction. The end of the prompt stays open: it is for the
// resume of its run.
func (r *Runner) settleRecovered(ctx context.Context, s *session, found Recovery, f journal.Flight, known bool) error {
	return r.o.Store.Do(ctx, func(tx *store.Tx) error {
		if known {
			row := r.flightRow(s, f, acceptedBy(found.Fate), Fingerprint{})
			row.Run = found.Was.Run
			if err := r.putTurn(tx, s, row); err != nil {
				return err
			}
			if row.Accepted == store.AcceptedYes && s.route == nil {
				if err := r.createRoute(tx, s); err != nil {
					return err
				}
			}
		}
		if found.Native && found.Turn && s.route == nil { // it was begun there
			if err := r.createRoute(tx, s); err != nil {
				return err
			}
		}
		return tx.SetOwner(store.Owner{Key: s.key1(), State: store.OwnerIdle, NativeID: s.nativeID})
	})
}

// Sentence says what was found, for people.
func (f Recovery) Sentence(shown string) string {
	turn := fmt.Sprintf("The turn that was in flight (step %s of run %s)", f.Was.Step, f.Was.Run)
	switch {
	case f.Native:
		return fmt.Sprintf("A window of %s was open; nothing of it is left.", shown)
	case f.Fate == FateCompleted:
		return fmt.Sprintf("%s is in %s's history, with its end.", turn, shown)
	case f.Fate == FateUnfinished:
		return fmt.Sprintf("%s is in %s's history, without an end.", turn, shown)
	case f.Fate == FateAbsent && f.Gone:
		return fmt.Sprintf("%s has no such conversation: the turn that was in flight (step %s of run %s) never reached it.", shown, f.Was.Step, f.Was.Run)
	case f.Fate == FateAbsent:
		return fmt.Sprintf("%s is not in %s's history.", turn, shown)
	}
	return fmt.Sprintf("Whether the turn that was in flight (step %s of run %s) is in %s's history cannot be told.", f.Was.Step, f.Was.Run, shown)
}
