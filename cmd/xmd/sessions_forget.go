package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"xmd/runtime"
	"xmd/runtime/store"
)

// forgetVerb takes a session, or a Conversation with all its sessions, out of use, and removes what xmd itself kept of its text.
func forgetVerb(ctx context.Context, p *program, h *host, c *call, s *store.Store, args []string) error {
	talk, ok, err := h.findConversation(ctx, s, args[0], c.String("root"))
	if err != nil {
		return err
	}
	var report string
	if ok {
		report, err = h.forgetTalk(ctx, s, talk)
	} else {
		report, err = h.forgetOne(ctx, s, c, args[0])
	}
	if err == nil {
		err = s.Scrub(ctx)
	}
	if err != nil {
		return storeProblem(err)
	}
	_, err = fmt.Fprint(p.stdout, printable(report))
	return err
}

// forgetOne forgets one session.
func (h *host) forgetOne(ctx context.Context, s *store.Store, c *call, text string) (string, error) {
	f, err := h.findWhole(ctx, s, "forget", text, c.String("root"))
	if err != nil {
		return "", err
	}
	key := f.route.SessionKey()
	if _, ok := key.Conversation(); ok {
		return "", runtime.Errorf(runtime.KindInvalid, "%s is one agent's part of a Conversation; the Conversation is forgotten as a whole, without /%s", key, key.Agent)
	}
	lock, err := lockSession(ctx, s, key, "xmd sessions forget")
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	var b strings.Builder
	err = s.Do(ctx, func(tx *store.Tx) error { return h.forget(tx, lock, key, &b) })
	return fmt.Sprintf("%s in %s is forgotten; a session of that name begins anew.\n%s", key, key.Root, b.String()), err
}

// forgetTalk forgets a Conversation.
func (h *host) forgetTalk(ctx context.Context, s *store.Store, talk store.ConversationInfo) (string, error) {
	agents, err := agentsIn(ctx, s, talk.ConversationKey)
	if err != nil {
		return "", err
	}
	locks, done, err := lockConversation(ctx, s, talk.ConversationKey, agents, "xmd sessions forget")
	if err != nil {
		return "", err
	}
	defer done()
	var b strings.Builder
	err = s.Do(ctx, func(tx *store.Tx) error {
		for i, agent := range agents {
			if err := h.forget(tx, locks[i+1], talk.Of(agent), &b); err != nil {
				return err
			}
		}
		return tx.ForgetConversation(locks[0], talk.ConversationKey)
	})
	return fmt.Sprintf("%s in %s is forgotten, and its log is removed; a Conversation of that name begins anew.\n%s", talk.ConversationKey, talk.Root, b.String()), err
}

// forget forgets a session, and says what is removed and what remains elsewhere.
func (h *host) forget(tx *store.Tx, lock *store.Lock, key store.SessionKey, report *strings.Builder) error {
	routes, err := tx.Routes(store.Filter{Selector: store.Selector{Agent: key.Agent, Session: key.Session}, Root: key.Root, All: true})
	if err != nil {
		return err
	}
	records, err := tx.Forget(lock, key)
	if err != nil {
		return err
	}
	if records > 0 {
		fmt.Fprintf(report, "%s: %d records of its text are removed from the runs; what they recorded besides is kept, and they cannot be told again whole.\n", key, records)
	}
	info, err := h.infoOf(key.Agent)
	if err != nil {
		return err
	}
	for _, r := range routes {
		fmt.Fprintf(report, "%s still has the conversation %s of %s; %s\n", info.Shown, r.NativeSessionID, r.Key, deleting(info, r.NativeSessionID))
	}
	return nil
}

// infoOf describes an agent, as far as it is known here; it need not be installed.
func (h *host) infoOf(name string) (runtime.AgentInfo, error) {
	agent, err := h.agents.Lookup(name)
	var e *runtime.Error
	switch {
	case err == nil:
		return agent.Info(), nil
	case errors.As(err, &e) && (e.Kind == runtime.KindUnavailable || e.Kind == runtime.KindInvalid):
		return runtime.AgentInfo{Name: name, Shown: name}, nil
	}
	return runtime.AgentInfo{}, err
}

// keptIn is where agents keep a conversation, below their home. ID is its id, ID8 the first part of it.
var keptIn = map[string]string{
	"codex":   "sessions/*/*/*/rollout-*-ID.jsonl",
	"claude":  "projects/*/ID.jsonl",
	"gemini":  "tmp/*/chats/session-*-ID8.json*",
	"copilot": "session-state/ID",
	"grok":    "sessions/*/ID",
	"sim":     "sessions/ID.jsonl",
}

// deleting says how a person deletes a conversation that an agent has.
func deleting(info runtime.AgentInfo, id string) string {
	if info.Name == "opencode" {
		return "delete it with: opencode session delete " + id
	}
	where, ok := keptIn[info.Name]
	if !ok {
		return "delete it by the agent's own means"
	}
	id8, _, _ := strings.Cut(id, "-")
	where = strings.NewReplacer("ID8", id8, "ID", id).Replace(where)
	if info.Home == "" {
		return "delete it where the agent keeps it: " + where + " in its home"
	}
	return "delete it with: rm -r " + filepath.Join(info.Home, where)
}
