package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"xmd/runtime"
	"xmd/runtime/store"
)

// talkDetail is a Conversation as `sessions show` tells it: never a word of what was said.
type talkDetail struct {
	V            int           `json:"v"`
	Conversation string        `json:"conversation"`
	Root         string        `json:"root"`
	State        string        `json:"state"`
	Entries      int           `json:"entries"` // the number of the last one
	Point        int           `json:"point"`   // entries up to it are not handed over
	Agents       []partyDetail `json:"agents"`
}

type partyDetail struct {
	Agent      string `json:"agent"`
	Generation int    `json:"generation"`
	Seen       int    `json:"seen"` // the last entry that its provider conversation holds
	NativeID   string `json:"nativeSessionId"`
	Restart    bool   `json:"restart,omitempty"` // its next prompt begins a new conversation
}

func showTalk(ctx context.Context, p *program, c *call, s *store.Store, talk store.ConversationInfo) error {
	d := talkDetail{V: 1, Conversation: talk.Name(), Root: talk.Root, State: stateIdle, Entries: talk.Last, Point: talk.Point, Agents: []partyDetail{}}
	err := s.View(ctx, func(tx *store.Tx) error {
		parties, err := tx.Parties(talk.ConversationKey)
		for _, party := range parties {
			route, _, rerr := tx.Route(talk.Of(party.Agent).Generation(party.Generation))
			due, derr := tx.RestartDue(talk.Of(party.Agent))
			err = errors.Join(err, rerr, derr)
			d.Agents = append(d.Agents, partyDetail{party.Agent, party.Generation, party.Seen, route.NativeSessionID, due})
		}
		return err
	})
	if err != nil {
		return storeProblem(err)
	}
	holder, err := s.Locked(store.LockSession, talk.LockName())
	if err != nil {
		return storeProblem(err)
	}
	if holder != nil {
		d.State = stateInUse
	}
	if c.String("format") == "json" {
		return writeJSON(p, d)
	}
	var b strings.Builder
	d.write(&b, talk.ConversationKey)
	_, err = fmt.Fprint(p.stdout, printable(b.String()))
	return err
}

func (d *talkDetail) write(w io.Writer, key store.ConversationKey) {
	line(w, "conversation", d.Conversation)
	line(w, "root", d.Root)
	line(w, "state", d.State)
	line(w, "turns", fmt.Sprint(d.Entries))
	if d.Point > 0 {
		line(w, "restart", fmt.Sprintf("turns up to %d are not handed over", d.Point))
	}
	for _, a := range d.Agents {
		text := fmt.Sprintf("%s  has seen %d of %d  %s", key.Of(a.Agent).Generation(a.Generation), a.Seen, d.Entries, a.NativeID)
		if a.Restart {
			text += "  (begins anew)"
		}
		line(w, "agent", text)
	}
}

// restartTalk makes all agents of a Conversation begin anew, and leaves what was said until now out of what they are told.
func restartTalk(ctx context.Context, p *program, s *store.Store, talk store.ConversationInfo) error {
	agents, err := agentsIn(ctx, s, talk.ConversationKey)
	if err != nil {
		return storeProblem(err)
	}
	locks, done, err := lockConversation(ctx, s, talk.ConversationKey, agents, "xmd sessions restart")
	if err != nil {
		return storeProblem(err)
	}
	defer done()
	point := 0
	err = s.Do(ctx, func(tx *store.Tx) error {
		if point, err = tx.SetPoint(locks[0], talk.ConversationKey); err != nil {
			return err
		}
		for i, agent := range agents {
			if _, err := tx.Restart(locks[i+1], talk.Of(agent)); err != nil && !errors.Is(err, store.ErrNoSession) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return storeProblem(err)
	}
	_, err = fmt.Fprintln(p.stdout, printable(fmt.Sprintf(
		"%s: the next prompt of each agent begins a new conversation; what was said until now (%d turns) is not handed over.\nThe conversations of %s stay current until the first turn of the new ones is accepted.",
		talk.ConversationKey, point, orNobody(agents))))
	return err
}

func orNobody(agents []string) string {
	if len(agents) == 0 {
		return "nobody"
	}
	return strings.Join(agents, ", ")
}

// notTalk refuses what is done to sessions and cannot be done to those of a Conversation.
func notTalk(verb string, key store.SessionKey) error {
	if _, ok := key.Conversation(); ok {
		return runtime.Errorf(runtime.KindInvalid, "sessions %s is for sessions of one's own; %s belongs to a Conversation", verb, key)
	}
	return nil
}
