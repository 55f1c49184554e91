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
	case w.was.Phase == phasePrepared && w.was.NativeID == id && s.begun.native(): // its window was about to open, and never did
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
	if !gone && w.s.begun.layerOf() == w.digest() { // made for a window that never opened
		return nil
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

// begin comes to a new conversation: its id is chosen here and the window begins it, or it is made beforehand.
func (w *window) begin(ctx context.Context) error {
	shown := w.s.info.Shown
	switch {
	case !w.create:
		return Errorf(KindMissing, "session %q of %s has no conversation with a turn; send it a prompt first", w.s.shown(), shown)
	case w.native.NewID == nil && w.native.Begins == nil:
		return Errorf(KindUnsupported, "%s cannot begin a conversation in its own interface in this version of xmd; send the session a <Prompt> first", shown)
	}
	w.made = true
	if w.native.NewID == nil {
		return errors.Join(w.make(ctx), w.detach(context.WithoutCancel(ctx)))
	}
	w.fresh = true
	w.s.nativeID, w.s.begun = w.native.NewID(), &beginning{layer: w.digest(), transport: store.TransportNative}
	return w.r.lockNative(ctx, w.s, w.s.nativeID)
}

// make has the provider make a conversation that it keeps without a turn, with the layer in its own channel, and puts it on record. What
// a crash before that leaves with the provider never had a turn and is never looked for.
func (w *window) make(ctx context.Context) error {
	r, s, agent := w.r, w.s, w.native.Begins
	if err := r.startAs(ctx, s, agent, w.at); err != nil {
		return err
	}
	maker, ok := s.conn.(Beginner)
	if !ok {
		return Errorf(KindUnsupported, "%s makes no conversation that has no prompt; send the session a <Prompt> first", s.info.Shown)
	}
	id, err := maker.NewDurable(ctx, w.layer)
	if err != nil {
		return err
	}
	s.begun = &beginning{layer: w.digest(), transport: agent.Info().Transport}
	return r.recordOpened(ctx, s, id, s.begun.transport, w.at)
}

// beginning is how a conversation was begun in the agent's own interface, or for it.
type beginning struct {
	layer     string // digest of the instruction layer; "": none
	transport string // over which it was made; TransportNative: in the interface, under an id that xmd chose
}

// native says whether the conversation was begun in the interface. The receiver may be nil: a prompt began it.
func (b *beginning) native() bool { return b != nil && b.transport == store.TransportNative }

// layerOf is the digest of the layer of a beginning that may be nil.
func (b *beginning) layerOf() string {
	if b == nil {
		return ""
	}
	return b.layer
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
	had := w.s.begun.layerOf()
	if w.s.route != nil {
		had = w.s.route.InstructionDigest
	}
	switch {
	case w.layer == "" || w.digest() == had:
		return nil
	case had == "":
		return Errorf(KindInstructions, "session %q of %s was begun without instructions, and a conversation keeps what it was begun with; leave the body of <Session.Launch> out, or name another session", w.s.shown(), w.s.info.Shown)
	}
	return Errorf(KindInstructions, "session %q of %s was begun with other instructions, and a conversation keeps what it was begun with; put the body of <Session.Launch> back or leave it out, or name another session", w.s.shown(), w.s.info.Shown)
}

// beginningOf tells how a conversation was begun that is not known to have a turn; nil: by a prompt, or for a window without a layer, which
// is the same.
func (r *Runner) beginningOf(ctx context.Context, o store.Opened) (*beginning, error) {
	if o.NativeID == "" {
		return nil, nil
	}
	b := &beginning{transport: o.Transport}
	for head, err := range r.o.Store.RecordHeads(ctx, o.Run, 0) {
		if err != nil {
			return nil, err
		}
		if head.Kind != string(event.SessionOpened) {
			continue
		}
		rec, found, err := r.o.Store.Record(ctx, o.Run, head.Seq)
		if err != nil || !found {
			return nil, err
		}
		var data struct{ Body event.Session }
		if err := json.Unmarshal(rec.Data, &data); err != nil {
			return nil, errors.Join(store.ErrUnaccountable, err)
		}
		if data.Body.NativeID == o.NativeID {
			b.layer = data.Body.Instructions
			break
		}
	}
	if b.layer == "" && !b.native() {
		return nil, nil
	}
	return b, nil
}
