package runtime

import (
	"context"

	"xmd/runtime/event"
	"xmd/runtime/store"
)

// connect starts the agent and has it open the conversation id, "" for a new one, which is judged. now is the one that was asked for in the
// end, when it is another.
func (r *Runner) connect(ctx context.Context, s *session, id string, at event.At) (opened Opened, now string, err error) {
	if id != "" {
		if err := r.lockNative(ctx, s, id); err != nil {
			return opened, id, err
		}
	}
	up := make(chan struct{})
	if s.watch == nil && r.o.Observer != nil {
		s.watch = r.o.Observer.Begin(ctx, s.info)
	}
	if err := r.start(ctx, s, at); err != nil {
		return opened, id, err
	}
	close(up)
	if id, err = r.unable(ctx, s, id); err != nil {
		return opened, id, err
	}
	if err = r.equip(ctx, s); err == nil {
		opened, err = r.open(ctx, s, id, at)
	}
	r.observe(ctx, s, up, at)
	if err != nil {
		return opened, id, err
	}
	if err := r.confirm(ctx, s, id, opened, at); err != nil {
		return opened, id, err
	}
	r.informed(s)
	return opened, id, nil
}

// hadTurn says whether a turn of the session's generation was ever accepted.
func (r *Runner) hadTurn(ctx context.Context, s *session) (bool, error) {
	if s.route != nil || s.key.Named() {
		return s.route != nil, nil
	}
	turns, err := r.turns(ctx, s)
	for _, t := range turns {
		if t.Accepted == store.AcceptedYes {
			return true, err
		}
	}
	return false, err
}

// pinned begins a new generation where the agent's tools are fixed when its conversation is made, and they are others now.
func (r *Runner) pinned(ctx context.Context, s *session, id string) (string, error) {
	if s.conv == nil || !s.info.OwnTools || s.bare || id == "" {
		return id, nil
	}
	had, err := r.hadTurn(ctx, s)
	if err != nil || !had || s.told.Tools == toolsDigest(s.direct()) {
		return id, err
	}
	return r.renew(ctx, s, ReasonTools)
}

// renew begins the next generation of a session of a Conversation. What there is of it is read: a conversation that was opened, and of
// which no turn was accepted, is gone on with. The replaced generation stays current until a turn of the new one is accepted.
func (r *Runner) renew(ctx context.Context, s *session, why Reason) (id string, err error) {
	err = r.o.Store.View(ctx, func(tx *store.Tx) error {
		if s.key.Named() {
			s.generation, err = tx.NextGeneration(s.key)
			return err
		}
		p, found, err := tx.Party(s.conv.key, s.info.Name)
		if found {
			s.generation = p.Generation + 1
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if err := s.native.Close(); err != nil {
		return "", err
	}
	s.native, s.route, s.begun, s.nativeID, s.loaded, s.why = nil, nil, nil, "", false, why
	return r.recorded(ctx, s)
}

// lost says whether an attach failed because the provider conversation is gone or empty.
func lost(err error) bool {
	kind := KindOf(err)
	return err != nil && (kind == KindMissing || kind == KindEmpty)
}

// startOver begins a new generation in the place of a conversation that is lost. A prompt that was in flight in it is settled first, and
// cannot be told from it any more.
func (r *Runner) startOver(ctx context.Context, s *session, id string, at event.At) (Opened, string, error) {
	s.nativeID, s.loaded = id, false
	list, err := r.flights.of(ctx, r.o.Past, id)
	if err != nil {
		return Opened{}, "", storeError(err)
	}
	for _, f := range list {
		if err := r.decideFlight(ctx, s, f, FateUnknown, History{}); err != nil {
			return Opened{}, "", err
		}
	}
	if len(list) > 0 {
		if err := r.o.Past.Refresh(ctx); err != nil {
			return Opened{}, "", storeError(err)
		}
		s.owed = nil
	}
	if s.conn != nil {
		if err := s.conn.Close(ctx); err != nil {
			return Opened{}, "", err
		}
		s.conn = nil
	}
	if id, err = r.renew(ctx, s, ReasonLost); err != nil {
		return Opened{}, "", err
	}
	return r.connect(ctx, s, id, at)
}

// unable replaces the conversation of an agent that can load none, in a Conversation: the new one is told everything.
func (r *Runner) unable(ctx context.Context, s *session, id string) (string, error) {
	if l, ok := s.conn.(Loader); s.conv == nil || id == "" || !ok || l.CanLoad() {
		return id, nil
	}
	had, err := r.hadTurn(ctx, s)
	switch {
	case err != nil:
		return "", err
	case had:
		if _, err := r.renew(ctx, s, ReasonNoLoad); err != nil {
			return "", err
		}
	}
	if err := s.native.Close(); err != nil { // opened, without a turn: a new one replaces nothing
		return "", err
	}
	s.native, s.begun, s.nativeID = nil, nil, ""
	return "", nil
}
