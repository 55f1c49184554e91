package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"xmd/runtime/event"
	"xmd/runtime/store"
)

// Recovery is what Recover found.
type Recovery struct {
	Was     store.Owner // the owner record that was found
	Needed  bool        // false: the session was idle, nothing was done
	Last    LastTurn
	History HistoryState
}

// LastTurn says whether the turn in flight is in the provider's history.
type LastTurn string

// The four answers.
const (
	LastTurnThere   LastTurn = "there"   // the newest user turn of the history is ours
	LastTurnAbsent  LastTurn = "absent"  // the history holds other turns, not this one
	LastTurnGone    LastTurn = "gone"    // the provider has no such conversation: nothing was ever accepted
	LastTurnUnknown LastTurn = "unknown" // the history cannot be read, or the words are not recorded
)

// Recover takes over a session whose owner died in a turn: it waits until nothing of that owner is left, loads the conversation,
// says whether the last turn is in its history, and sets the owner idle. It sends nothing. The attachment is closed again.
func (r *Runner) Recover(ctx context.Context, agent Agent, key store.SessionKey, wait time.Duration) (Recovery, error) {
	s := &session{key: key, name: key.Session, agent: agent, info: agent.Info(), generation: 1}
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
	words, number := r.inFlight(ctx, found.Was)
	found.Last = lastTurn(opened.History, words, gone)
	found.History = s.history
	return found, r.settleRecovered(ctx, s, found, words, number)
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

// inFlight reads the words that were being sent from the journal of the owner's run.
func (r *Runner) inFlight(ctx context.Context, was store.Owner) (words Fingerprint, number int) {
	for rec, err := range r.o.Store.Records(ctx, was.Run, 0) {
		if err != nil {
			return Fingerprint{}, 0
		}
		if rec.Kind != string(event.PromptSent) || rec.Step != was.Step {
			continue
		}
		var data struct {
			At   event.At   `json:"at"`
			Body event.Sent `json:"body"`
		}
		if json.Unmarshal(rec.Data, &data) == nil && data.At.Agent == was.Agent && data.At.Session == was.Session {
			words, number = FingerprintOf(data.Body.Words), data.Body.Turn
		}
	}
	return words, number
}

func lastTurn(h History, words Fingerprint, gone bool) LastTurn {
	switch {
	case gone:
		return LastTurnGone
	case !h.Known || words.Digest == "":
		return LastTurnUnknown
	case len(h.Newest) > 0 && matches(h.Newest[len(h.Newest)-1].Words, words):
		return LastTurnThere
	}
	return LastTurnAbsent
}

// settleRecovered records what was found and sets the owner idle, in one transaction.
func (r *Runner) settleRecovered(ctx context.Context, s *session, found Recovery, words Fingerprint, number int) error {
	return r.o.Store.Do(ctx, func(tx *store.Tx) error {
		if words.Digest != "" && found.Last != LastTurnUnknown {
			turn := store.Turn{
				Key: s.key1(), Number: number, Run: found.Was.Run, Step: found.Was.Step,
				WordsDigest: words.Digest, WordsLetters: words.Letters, Accepted: store.AcceptedNo,
			}
			if found.Last == LastTurnThere {
				turn.Accepted = store.AcceptedYes
			}
			if err := tx.PutTurn(turn); err != nil {
				return err
			}
		}
		if found.Last == LastTurnThere && s.route == nil {
			if err := r.createRoute(tx, s); err != nil {
				return err
			}
		}
		return tx.SetOwner(store.Owner{Key: s.key1(), State: store.OwnerIdle, NativeID: s.nativeID})
	})
}

// Sentence says what was found, for people.
func (f Recovery) Sentence(shown string) string {
	switch f.Last {
	case LastTurnThere:
		return fmt.Sprintf("The turn that was in flight (step %s of run %s) is in %s's history.", f.Was.Step, f.Was.Run, shown)
	case LastTurnAbsent:
		return fmt.Sprintf("The turn that was in flight (step %s of run %s) is not in %s's history.", f.Was.Step, f.Was.Run, shown)
	case LastTurnGone:
		return fmt.Sprintf("%s has no such conversation: the turn that was in flight (step %s of run %s) never reached it.", shown, f.Was.Step, f.Was.Run)
	}
	return fmt.Sprintf("Whether the turn that was in flight (step %s of run %s) is in %s's history cannot be told.", f.Was.Step, f.Was.Run, shown)
}
