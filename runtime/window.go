package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"xmd/runtime/event"
	"xmd/runtime/store"
)

// conversation decides which conversation the window shows, and takes its lock.
func (w *window) conversation(ctx context.Context) error {
	r, s := w.r, w.s
	id, err := r.recorded(ctx, s)
	if err != nil {
		return err
	}
	established, err := w.established(ctx)
	switch {
	case err != nil:
		return err
	case established:
		if err := w.sameLayer(); err != nil {
			return err
		}
	case w.was.Phase == phaseDetached: // whether or not it came to a turn, it is never begun again
		id = w.was.NativeID
	case w.was.Phase == phasePrepared && w.was.NativeID == id && s.begun != nil: // its window was about to open, and never did
		w.fresh = true
	case id != "":
		return w.look(ctx)
	default:
		return w.begin(ctx)
	}
	s.nativeID = id
	return r.lockNative(ctx, s, id)
}

// established says whether the session has a conversation with an accepted turn.
func (w *window) established(ctx context.Context) (bool, error) {
	if w.s.route != nil || w.s.key.Named() {
		return w.s.route != nil, nil
	}
	turns, err := w.r.turns(ctx, w.s)
	return len(acceptedOf(turns)) > 0, err
}

// look asks the agent whether a conversation that was opened, and of which no accepted turn is on record, has come to one.
func (w *window) look(ctx context.Context) error {
	opened, gone, err := w.r.reopen(ctx, w.s)
	if derr := w.detach(ctx); err == nil {
		err = derr
	}
	if err != nil {
		return err
	}
	if !gone && hasTurn(opened.History) {
		if err := w.route(ctx); err != nil {
			return err
		}
		return w.sameLayer()
	}
	if w.s.native != nil { // nothing was ever in it: a new one replaces nothing
		if err := w.s.native.Close(); err != nil {
			return err
		}
		w.s.native = nil
	}
	return w.begin(ctx)
}

// hasTurn says whether a history holds something a user said.
func hasTurn(h History) bool { return h.UserTurns > 0 || h.Compacted }

// begin chooses the id of a conversation that the window will begin.
func (w *window) begin(ctx context.Context) error {
	shown := w.s.info.Shown
	switch {
	case !w.create:
		return Errorf(KindMissing, "session %q of %s has no conversation with a turn; send it a prompt first", w.s.shown(), shown)
	case w.native.NewID == nil:
		return Errorf(KindUnsupported, "%s cannot begin a conversation in its own interface in this version of xmd; send the session a <Prompt> first", shown)
	}
	w.fresh = true
	w.s.nativeID, w.s.begun = w.native.NewID(), &beginning{layer: w.digest()}
	return w.r.lockNative(ctx, w.s, w.s.nativeID)
}

// beginning is how a conversation was begun in the agent's own interface.
type beginning struct {
	layer string // digest of the instruction layer; "": none
}

// digest of the instruction layer; "" if none is given.
func (w *window) digest() string {
	if w.layer == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(w.layer))
	return hex.EncodeToString(sum[:])
}

// sameLayer refuses an instruction layer that the conversation was not begun with.
func (w *window) sameLayer() error {
	had := ""
	switch {
	case w.s.route != nil:
		had = w.s.route.InstructionDigest
	case w.s.begun != nil:
		had = w.s.begun.layer
	}
	switch {
	case w.layer == "" || w.digest() == had:
		return nil
	case had == "":
		return Errorf(KindInstructions, "session %q of %s was begun without instructions, and a conversation keeps what it was begun with; leave the body of <Session.Launch> out, or name another session", w.s.shown(), w.s.info.Shown)
	}
	return Errorf(KindInstructions, "session %q of %s was begun with other instructions, and a conversation keeps what it was begun with; put the body of <Session.Launch> back or leave it out, or name another session", w.s.shown(), w.s.info.Shown)
}

// beginningOf tells how a conversation was begun that an agent's own interface was opened on first; nil: it was not.
func (r *Runner) beginningOf(ctx context.Context, o store.Opened) (*beginning, error) {
	if o.Transport != store.TransportNative {
		return nil, nil
	}
	b := &beginning{}
	for head, err := range r.o.Store.RecordHeads(ctx, o.Run, 0) {
		if err != nil {
			return nil, err
		}
		if head.Kind != string(event.Launched) {
			continue
		}
		rec, found, err := r.o.Store.Record(ctx, o.Run, head.Seq)
		if err != nil || !found {
			return nil, err
		}
		var data struct{ Body event.Launch }
		if err := json.Unmarshal(rec.Data, &data); err != nil {
			return nil, errors.Join(store.ErrUnaccountable, err)
		}
		if data.Body.NativeID == o.NativeID {
			b.layer = data.Body.Instructions
			break
		}
	}
	return b, nil
}
