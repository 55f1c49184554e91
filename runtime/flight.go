package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"xmd/lang/layout"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

// A prompt in flight was sent by an earlier invocation of the run, which died before the end of the turn was on record. What became of it
// is settled when its conversation is attached again, before anything else is sent there.

// flights are the prompts in flight by the conversation they were sent to, oldest first.
type flights struct {
	mu   sync.Mutex
	read bool
	by   map[string][]journal.Flight
}

// of takes the prompts in flight of a conversation out of the list.
func (f *flights) of(ctx context.Context, past *journal.Past, nativeID string) ([]journal.Flight, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.read {
		all, err := past.Flights(ctx)
		if err != nil {
			return nil, err
		}
		f.by = map[string][]journal.Flight{}
		for _, one := range all {
			f.by[one.Sent.NativeID] = append(f.by[one.Sent.NativeID], one)
		}
		f.read = true
	}
	list := f.by[nativeID]
	delete(f.by, nativeID)
	slices.SortFunc(list, func(a, b journal.Flight) int { return a.Sent.Turn - b.Sent.Turn })
	return list, nil
}

// Settle attaches the conversations in which prompts of the run were in flight and settles these, before anything is sent anywhere. The
// errors say what cannot be settled, in document order as far as the record knows it; then the document is only told: Execute runs
// nothing.
func (r *Runner) Settle(ctx context.Context) []*Error {
	list, err := r.o.Past.Flights(ctx)
	if err != nil {
		return r.stop([]*Error{storeError(err)})
	}
	slices.SortFunc(list, func(a, b journal.Flight) int { return a.Sent.Turn - b.Sent.Turn })
	slices.SortStableFunc(list, func(a, b journal.Flight) int { return strings.Compare(a.Step, b.Step) })
	var failed []*Error
	for _, f := range list {
		if err := r.settleOne(ctx, f); err != nil {
			failed = append(failed, asError(thrown(err, f.At)))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return r.stop(failed)
}

// stop makes the rest of this invocation tell only, when there are failures.
func (r *Runner) stop(failed []*Error) []*Error {
	if len(failed) > 0 {
		r.o.Offline = true
		r.log.add(failed...)
	}
	return failed
}

func (r *Runner) settleOne(ctx context.Context, f journal.Flight) error {
	agent, err := r.o.Agents.Lookup(f.At.Agent)
	if err != nil {
		return err
	}
	s, err := r.session(agent, sessionPin{name: f.At.Session, scope: f.Sent.Scope})
	if err != nil {
		return err
	}
	if _, inCall := journal.TurnOfCall(f.Step); inCall && !s.key.Named() { // nothing goes on in its conversation
		return r.skip(ctx, s, f, FateUnknown)
	}
	turn := s.queue()
	if err := turn.take(ctx, nil); err != nil {
		return err
	}
	defer turn.give()
	s.restart, s.instructions, s.bare = f.Sent.Restart, "", true
	if err := r.attach(ctx, s, f.At); err != nil {
		return err
	}
	return r.settleLeft(ctx, s, f.Step)
}

// settleLeft settles a prompt in flight that was sent to another conversation than the session has now: what became of it there is not
// known here.
func (r *Runner) settleLeft(ctx context.Context, s *session, step string) error {
	f, found, err := r.o.Past.Flight(ctx, step)
	if err != nil {
		return storeError(err)
	}
	r.mu.Lock()
	cleared := r.absent[step]
	r.mu.Unlock()
	if !found || cleared {
		return nil
	}
	turns, err := r.turns(ctx, s)
	if err != nil {
		return storeError(err)
	}
	if slices.ContainsFunc(turns, func(t store.Turn) bool { return r.neverWas(t, f) }) {
		return nil // its conversation never came to be, and the session has another one since
	}
	if err := r.decideFlight(ctx, s, f, FateUnknown, History{}); err != nil {
		return err
	}
	if err := r.o.Past.Refresh(ctx); err != nil {
		return storeError(err)
	}
	return r.renumber(ctx, s)
}

// settleFlights finds out what became of the run's own prompts that were in flight in the conversation id, which has been loaded, or is
// gone (s.loaded is false).
func (r *Runner) settleFlights(ctx context.Context, s *session, id string, h History) error {
	if r.o.Past == nil || id == "" {
		return nil
	}
	list, err := r.flights.of(ctx, r.o.Past, id)
	if err != nil {
		return storeError(err)
	}
	for _, f := range list {
		if err := r.settleFlight(ctx, s, f, h); err != nil {
			return err
		}
	}
	if len(list) == 0 && s.owed != nil { // a native window was open; nothing of it is left
		err = r.o.Store.Do(ctx, func(tx *store.Tx) error { return r.idle(tx, s) })
	} else if len(list) > 0 {
		err = r.o.Past.Refresh(ctx)
	}
	if err != nil {
		return storeError(err)
	}
	s.owed = nil
	return r.renumber(ctx, s)
}

// idle sets the owner of a session idle.
func (r *Runner) idle(tx *store.Tx, s *session) error {
	if !s.key.Named() {
		return nil
	}
	return tx.SetOwner(store.Owner{Key: s.key1(), State: store.OwnerIdle, Run: r.o.RunID, NativeID: s.nativeID})
}

// renumber reads which number the session's next turn has.
func (r *Runner) renumber(ctx context.Context, s *session) error {
	err := r.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		s.nextTurn, err = tx.NextTurn(s.key1())
		return err
	})
	if err != nil {
		return storeError(err)
	}
	return nil
}

// settleFlight finds out what became of one prompt in flight, and settles it.
func (r *Runner) settleFlight(ctx context.Context, s *session, f journal.Flight, h History) error {
	fate, err := r.fateOf(ctx, s, f, h)
	if err != nil {
		return err
	}
	return r.decideFlight(ctx, s, f, fate, h)
}

// decideFlight decides about a prompt in flight: to be sent, taken from the provider, or whatever the person's or the author's word is.
func (r *Runner) decideFlight(ctx context.Context, s *session, f journal.Flight, fate Fate, h History) error {
	word := r.o.Settle[f.Step]
	if word == "" && f.Sent.Resend && fate != FateCompleted {
		word = SettleResend
	}
	if _, inCall := journal.TurnOfCall(f.Step); inCall && word == "" {
		word = SettleSkip // the body that it stands in ended with the process; what becomes of the call is the turn's business
	}
	switch {
	case fate == FateAbsent && (word == "" || word == SettleResend):
		return r.neverArrived(ctx, s, f)
	case fate == FateCompleted && word == "":
		word = SettleAdopt
	}
	switch word {
	case SettleAdopt:
		return r.adopt(ctx, s, f, fate, h)
	case SettleResend:
		return r.resend(ctx, s, f, fate)
	case SettleSkip:
		return r.skip(ctx, s, f, fate)
	}
	return r.unsettled(s, f, fate)
}

// fateOf says what became of a prompt in flight.
func (r *Runner) fateOf(ctx context.Context, s *session, f journal.Flight, h History) (Fate, error) {
	turns, err := r.turns(ctx, s)
	if err != nil {
		return "", storeError(err)
	}
	var before []KnownTurn
	for _, t := range turns {
		switch {
		case t.Number < f.Sent.Turn && t.Accepted == store.AcceptedYes:
			before = append(before, knownTurn(t))
		case r.neverWas(t, f):
			return FateAbsent, nil
		}
	}
	switch {
	case s.conn == nil: // there is nothing to be loaded
		return FateAbsent, nil
	case f.Accepted && !s.loaded:
		return FateUnknown, nil
	case !s.loaded: // the conversation never had a turn, and is gone
		return FateAbsent, nil
	}
	fate := settleFlight(h, Flight{Words: flightWords(s.conn, f.Sent.Words), Before: before, FirstEver: len(before) == 0 && len(turns) < knownTurns, Accepted: f.Accepted})
	return fate, nil
}

// neverWas says whether it was found out before that a prompt in flight never arrived.
func (r *Runner) neverWas(t store.Turn, f journal.Flight) bool {
	return t.Number == f.Sent.Turn && t.Step == f.Step && t.Accepted == store.AcceptedNo
}

// neverArrived records that the provider does not have the words: the prompt is sent when its place comes.
func (r *Runner) neverArrived(ctx context.Context, s *session, f journal.Flight) error {
	err := r.o.Store.Do(ctx, func(tx *store.Tx) error {
		if err := tx.PutTurn(r.flightRow(s, f, store.AcceptedNo, Fingerprint{})); err != nil {
			return err
		}
		return r.idle(tx, s)
	})
	if err != nil {
		return storeError(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.absent == nil {
		r.absent = map[string]bool{}
	}
	r.absent[f.Step] = true
	return nil
}

// adopt takes what stands in the conversation after the words as the reply.
func (r *Runner) adopt(ctx context.Context, s *session, f journal.Flight, fate Fate, h History) error {
	if fate != FateCompleted && fate != FateUnfinished || h.LastReply == nil || !newestIs(h, f) {
		return Errorf(KindUnsettled, "%s cannot be adopted: its words are not the newest in the conversation %s of %s, or what follows them is too long",
			f.At.Position, s.nativeID, s.info.Shown)
	}
	reply := layout.TrimReply(*h.LastReply)
	body := &event.Ended{Turn: f.Sent.Turn, Outcome: outcomeDone, Reply: reply, Adopted: true}
	if fate == FateCompleted {
		body.Stop = "end_turn"
	}
	if err := r.closeFlight(ctx, s, f, body, r.flightRow(s, f, store.AcceptedYes, FingerprintOf(reply))); err != nil {
		return err
	}
	r.warn("adopted", fmt.Sprintf("%s: the answer that %s gave when the run died is taken from its conversation.", f.At.Position, s.info.Shown), s.at(f.At))
	return nil
}

func newestIs(h History, f journal.Flight) bool {
	n := len(h.Newest)
	return n > 0 && matches(h.Newest[n-1].Words, FingerprintOf(f.Sent.Words))
}

// skip ends the turn without a reply.
func (r *Runner) skip(ctx context.Context, s *session, f journal.Flight, fate Fate) error {
	body := &event.Ended{Turn: f.Sent.Turn, Outcome: outcomeSkipped}
	return r.closeFlight(ctx, s, f, body, r.flightRow(s, f, acceptedBy(fate), Fingerprint{}))
}

// closeFlight puts the end of a turn in flight on record and sets the owner idle.
func (r *Runner) closeFlight(ctx context.Context, s *session, f journal.Flight, body *event.Ended, row store.Turn) error {
	body.NativeID, body.Identity, body.History = s.nativeID, string(s.identity), string(s.history)
	err := r.o.Stream.Record(ctx, event.PromptEnded, f.At, body, func(tx *store.Tx) error {
		if row.Accepted == store.AcceptedYes && s.route == nil && s.key.Named() {
			if err := r.createRoute(tx, s); err != nil {
				return err
			}
		}
		if err := r.putTurn(tx, s, row); err != nil {
			return err
		}
		if body.Outcome != outcomeSkipped {
			end := &Entry{Outcome: body.Outcome}
			if body.Reply != "" {
				end.Parts = []Part{{Text: body.Reply}}
			}
			if err := r.endEntry(tx, s.key1(), f.Sent.Turn, end); err != nil {
				return err
			}
		}
		return r.idle(tx, s)
	})
	if err != nil {
		return storeError(err)
	}
	return nil
}

// resend takes the first sending out of use.
func (r *Runner) resend(ctx context.Context, s *session, f journal.Flight, fate Fate) error {
	err := r.o.Stream.Record(ctx, event.PromptDiscarded, f.At, &event.Discarded{Reason: "resend"}, func(tx *store.Tx) error {
		if fate != FateUnknown && s.route == nil && s.key.Named() {
			if err := r.createRoute(tx, s); err != nil {
				return err
			}
		}
		if err := r.putTurn(tx, s, r.flightRow(s, f, acceptedBy(fate), Fingerprint{})); err != nil {
			return err
		}
		return r.idle(tx, s)
	})
	if err != nil {
		return storeError(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resent == nil {
		r.resent = map[string]bool{}
	}
	r.resent[f.Step] = true
	return nil
}

// sayResent says once that a prompt is sent a second time, when it is.
func (r *Runner) sayResent(s *session, where event.At) {
	r.mu.Lock()
	resent := r.resent[where.Step]
	delete(r.resent, where.Step)
	r.mu.Unlock()
	if !resent {
		return
	}
	text := fmt.Sprintf("%s: the prompt is sent to %s a second time; what its first turn did is not undone.", where.Position, s.info.Shown)
	if slices.ContainsFunc(r.o.Past.Steps(), func(step string) bool { turn, in := journal.TurnOfCall(step); return in && turn == where.Step }) {
		text += " Tools of the workflow that it calls again run again."
	}
	r.warn("resend", text, where)
}

// acceptedBy is what a fate says of whether the provider has the words.
func acceptedBy(fate Fate) store.Accepted {
	switch fate {
	case FateCompleted, FateUnfinished:
		return store.AcceptedYes
	case FateAbsent:
		return store.AcceptedNo
	}
	return store.AcceptedUnknown
}

func (r *Runner) flightRow(s *session, f journal.Flight, accepted store.Accepted, reply Fingerprint) store.Turn {
	words := FingerprintOf(f.Sent.Words)
	return store.Turn{
		Key: s.key1(), Number: f.Sent.Turn, Run: r.o.RunID, Step: f.Step, WordsDigest: words.Digest, WordsLetters: words.Letters,
		ReplyDigest: reply.Digest, ReplyLetters: reply.Letters, Accepted: accepted,
	}
}

// unsettled says what is known of a prompt in flight, and what a person can say about it.
func (r *Runner) unsettled(s *session, f journal.Flight, fate Fate) error {
	what := fmt.Sprintf("whether %s has it cannot be told from its conversation", s.info.Shown)
	if fate == FateUnfinished {
		what = fmt.Sprintf("%s has it, and no end of its answer is on record", s.info.Shown)
	}
	e := Errorf(KindUnsettled, "this prompt was in flight when its run died: %s (conversation %s). Nothing was sent. Go on with one of:\n"+
		"xmd resume %[3]s --resend %[4]s   sends it again\nxmd resume %[3]s --adopt %[4]s   takes what stands there as the reply\n"+
		"xmd resume %[3]s --skip %[4]s   goes on without a reply", what, s.nativeID, r.o.RunID, f.Step)
	e.Position, e.Step = f.At.Position, f.Step
	return e
}
