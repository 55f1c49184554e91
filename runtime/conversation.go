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
