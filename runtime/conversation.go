package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/resolve"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

// conversation is one Conversation in this invocation. Its turn token makes its prompts FIFO, over all its agents; whoever holds it may
// use the other members.
type conversation struct {
	key  store.ConversationKey
	turn token
	// lock is the Conversation's own, from before the first agent of it is contacted until none of them is attached; nil for one without
	// a name, which the run's lock covers.
	lock  *store.Lock
	asked []Asked // put to a person since the last turn
}

// shown is its name for people.
func (c *conversation) shown() string {
	if name := c.key.Name(); name != "" {
		return fmt.Sprintf("conversation %q", name)
	}
	return "the conversation"
}

// converse renders the body of a <Conversation>: its prompts take turns in sessions of its own.
func (r *Runner) converse(ctx context.Context, n *plan.Conversation, at place, out layout.Sink) error {
	restart := n.OnLost == "restart"
	if !n.Name.Given {
		scope := store.UnnamedConversation(at.id.of(n.ID))
		at.session = sessionPin{scope: scope, restart: restart}
		defer r.endScope(ctx, scope)
		return r.render(ctx, n.Body, at, out)
	}
	name, err := at.text(n.Name, n.Step, "name")
	if err != nil {
		return err
	}
	if err := resolve.SessionName(name); err != nil {
		return thrown(Errorf(KindFailed, "%w", err), at.where(n.Step))
	}
	at.session = sessionPin{name: store.Conversation(name), restart: restart}
	return r.render(ctx, n.Body, at, out)
}

// conversationOf is the Conversation that a pin means; nil: it means none.
func (r *Runner) conversationOf(pin sessionPin) (*conversation, error) {
	key := store.ConversationKey{Session: pin.name, Root: r.o.Dir}
	if pin.name == "" {
		key.Session = store.Unnamed(r.o.RunID, pin.scope)
	}
	if _, ok := key.Of("").Conversation(); !ok {
		return nil, nil
	}
	if key.Named() {
		place, err := r.o.Store.FindConversation(context.Background(), r.o.Dir, key.Name())
		if err != nil {
			return nil, storeError(err)
		}
		key.Root = place.Root
		if key.Root != r.o.Dir && r.once("root/"+key.Session) {
			r.warn("session", fmt.Sprintf("The conversation %q lives in %s; its agents work there.", key.Name(), key.Root), event.At{Session: key.Session})
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.talks[key]
	if c == nil {
		c = &conversation{key: key}
		r.talks[key] = c
	}
	return c, nil
}

// enter takes the lock of the session's Conversation, and finds out which generation of the session is current in it.
func (r *Runner) enter(ctx context.Context, s *session) error {
	c := s.conv
	if c == nil {
		return nil
	}
	if c.key.Named() && c.lock == nil {
		lock, err := r.takeLock(ctx, store.LockSession, c.key.LockName())
		if err != nil {
			return err
		}
		c.lock = lock
	}
	return r.o.Store.View(ctx, func(tx *store.Tx) error {
		p, found, err := tx.Party(c.key, s.info.Name)
		if err == nil && found && !c.key.Named() && s.generation < p.Generation {
			s.generation = p.Generation
		}
		s.told = store.Told{}
		return err
	})
}

// leave gives the lock of a Conversation up when none of its agents is attached any more.
func (r *Runner) leave(c *conversation) {
	if c == nil || c.lock == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		if s.conv == c && s.conn != nil {
			return
		}
	}
	_ = c.lock.Close() // it is gone with its file
	c.lock = nil
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

// noteAsked keeps a question that was put to a person in a Conversation for its log.
func (r *Runner) noteAsked(at place, question, answer string) {
	if r.o.Offline {
		return
	}
	c, err := r.conversationOf(at.session)
	if err != nil || c == nil {
		return // a note of it is no reason to fail
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.asked = append(c.asked, Asked{Question: strings.ToValidUTF8(question, "\uFFFD"), Answer: strings.ToValidUTF8(answer, "\uFFFD"), Answered: true})
}

// dropAsked drops what was asked before a turn that is on record: its entry has it.
func (r *Runner) dropAsked(at place) {
	if r.o.Offline {
		return
	}
	if c, err := r.conversationOf(at.session); err == nil && c != nil {
		c.takeAsked(r)
	}
}

// closeTalks gives the locks of all Conversations up.
func (r *Runner) closeTalks() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, c := range r.talks {
		errs = append(errs, c.lock.Close())
	}
	clear(r.talks)
	return errors.Join(errs...)
}
