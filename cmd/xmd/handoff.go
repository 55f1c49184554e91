package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/handoff"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/secret"
	"xmd/runtime/store"
)

func handoffCommand() *command {
	return &command{
		name: "handoff", args: "SESSION --to AGENT",
		usage: "print what an agent would be told of a Conversation, or of a session",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the `AGENT` that is to be told"},
			&cli.StringFlag{Name: "C", Usage: "as if started in `DIR`"},
			&cli.StringFlag{Name: "root", Usage: "the session's root, where several have one name"},
			&cli.StringSliceFlag{Name: "secret", Usage: "the variable `NAME` is secret"},
			&cli.StringFlag{Name: "state-dir", Usage: "the state folder"},
		},
		run: handoffMain,
	}
}

func handoffMain(p *program, c *call) error {
	if len(c.args) != 1 {
		return &usageError{message: fmt.Sprintf("handoff takes one session, conversation:NAME or [AGENT:]NAME, got %d", len(c.args))}
	}
	h, err := p.host(c)
	if err != nil {
		return err
	}
	to, err := h.handoffTo(c.String("to"))
	if err != nil {
		return err
	}
	secrets, err := h.secrets(p, c, nil)
	if err != nil {
		return err
	}
	ctx, stop := p.signals(context.Background())
	defer stop()
	s, err := h.store(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	p.openFace(c)
	n := p.notes(c, secrets)
	runner := runtime.New(runtime.Options{
		Dir: h.dir, Stream: event.NewStream("", time.Now, nil, n), Store: s, Agents: h.agents, Secrets: secrets,
		Handoff: handoff.Writer{}, Hide: p.hider(secrets), Tree: p.tree(secrets.Names()...),
	}, nil)
	change, err := h.handoffOf(ctx, s, runner, c, to, n)
	switch {
	case signalCode(ctx) != 0:
		return exitCode(signalCode(ctx))
	case err != nil:
		return err
	case change.Block == "":
		n.line(fmt.Sprintf("%s has missed nothing: its next prompt is exactly its words", to.Shown))
		return nil
	}
	n.line(handedLine(to.Shown, change))
	_, err = fmt.Fprintln(p.stdout, change.Block)
	return err
}

// handoffTo is the agent that is to be told. It need not be installed.
func (h *host) handoffTo(name string) (runtime.AgentInfo, error) {
	if name == "" {
		return runtime.AgentInfo{}, &usageError{message: "--to is missing: the agent that is to be told"}
	}
	agent, err := h.agents.Lookup(name)
	switch {
	case err == nil:
		return agent.Info(), nil
	case slices.Contains(h.agents.Names(), name):
		return runtime.AgentInfo{Name: name, Shown: name}, nil
	}
	return runtime.AgentInfo{}, err
}

// handoffOf renders the block of a Conversation, or of what the runs that are still in the store have of a session.
func (h *host) handoffOf(ctx context.Context, s *store.Store, r *runtime.Runner, c *call, to runtime.AgentInfo, n *notes) (*event.HandedOver, error) {
	talk, ok, err := h.findConversation(ctx, s, c.args[0], c.String("root"))
	if err != nil {
		return nil, err
	}
	if ok {
		return r.HandOver(ctx, talk, to)
	}
	f, err := h.findSession(ctx, s, c.args[0], c.String("root"))
	if err != nil {
		return nil, err
	}
	if !f.routed {
		return nil, noRoute(f, "there is nothing to hand over")
	}
	change, from, err := r.HandOverSession(ctx, f.route)
	if err == nil && change.Block == "" {
		err = runtime.Errorf(runtime.KindInvalid, "no run that is still in the store has a turn of %s", f.route.Key)
	}
	if err == nil {
		n.line(fmt.Sprintf("%s, from the runs still in the store: turns since %s", f.route.Key, from.Local().Format(time.DateTime)))
	}
	return change, err
}

// findConversation is the Conversation that a person means; ok is false when they mean something else.
func (h *host) findConversation(ctx context.Context, s *store.Store, text, root string) (c store.ConversationInfo, ok bool, err error) {
	sel, err := store.ParseSelector(text)
	if err != nil {
		return c, false, runtime.Errorf(runtime.KindInvalid, "%w", err)
	}
	meant, ok := sel.Conversation()
	if !ok || sel.Generation > 0 {
		return c, false, nil
	}
	if root, err = rootOf(root); err != nil {
		return c, false, err
	}
	var list []store.ConversationInfo
	err = s.View(ctx, func(tx *store.Tx) error {
		list, err = tx.Conversations(meant.Session, root)
		return err
	})
	list = slices.DeleteFunc(list, func(c store.ConversationInfo) bool { return c.Forgotten })
	switch {
	case err != nil || len(list) == 0:
		return c, false, storeProblem(err)
	case len(list) == 1:
		return list[0], true, nil
	}
	lines := ""
	for _, one := range list {
		lines += fmt.Sprintf("\n  %s --root %s", one.ConversationKey, one.Root)
	}
	return c, false, runtime.Errorf(runtime.KindInvalid, "%s is several conversations; name the root:%s", text, lines)
}

// lockConversation takes the locks of a Conversation and of all its sessions for a moment; somebody who works with one is not waited for.
func lockConversation(ctx context.Context, s *store.Store, c store.ConversationKey, agents []string, command string) (locks []*store.Lock, done func(), err error) {
	names := []string{c.LockName()}
	for _, a := range agents {
		names = append(names, c.Of(a).LockName())
	}
	done = func() {
		for _, l := range locks {
			_ = l.Close()
		}
	}
	for _, name := range names {
		l, err := s.TryLock(ctx, store.LockSession, name, store.LockOwner{Command: command})
		if err != nil {
			done()
			return nil, func() {}, err
		}
		locks = append(locks, l)
	}
	return locks, done, nil
}

// agentsIn lists the agents that have a session in a Conversation, accepted turns or not.
func agentsIn(ctx context.Context, s *store.Store, c store.ConversationKey) (agents []string, err error) {
	err = s.View(ctx, func(tx *store.Tx) error {
		parties, perr := tx.Parties(c)
		owners, oerr := tx.Owners(store.Selector{Session: c.Session}, c.Root)
		for _, p := range parties {
			agents = append(agents, p.Agent)
		}
		for _, o := range owners {
			agents = append(agents, o.Agent)
		}
		return errors.Join(perr, oerr)
	})
	slices.Sort(agents)
	return slices.Compact(agents), err
}

// hider finds what must not be handed over: declared secrets, and the values of variables that are known to hold one.
func (p *program) hider(secrets *secret.Set) *secret.Hider {
	return secret.NewHider(secrets, secret.WellKnown(p.env)...)
}

// handedLine says for people what an agent is told beside the words, and why. Only a lost conversation is called lost.
func handedLine(shown string, h *event.HandedOver) string {
	of := "the conversation"
	if h.Conversation != "" {
		of = fmt.Sprintf("conversation %q", h.Conversation)
	}
	text := ""
	switch runtime.Reason(h.Reason) {
	case runtime.ReasonInstructions:
		return fmt.Sprintf("%s is told the changed instructions (%s)", shown, h.Reason)
	case runtime.ReasonLost:
		text = fmt.Sprintf("%s has lost its part of %s and begins a new one, told", shown, of)
	case runtime.ReasonTools:
		text = fmt.Sprintf("%s begins anew in %s on purpose, since its tools have changed, told", shown, of)
	case runtime.ReasonNoLoad:
		text = fmt.Sprintf("%s cannot continue its part of %s and begins a new one, told", shown, of)
	case runtime.ReasonJoined:
		text = fmt.Sprintf("%s joins %s, told", shown, of)
	default:
		text = fmt.Sprintf("%s goes on in %s, told", shown, of)
	}
	switch h.Entries {
	case 0:
		text += " nothing"
	case 1:
		text += " 1 turn that it has not seen"
	default:
		text += fmt.Sprintf(" %d turns that it has not seen", h.Entries)
	}
	if h.LeftOut > 0 {
		text += fmt.Sprintf(", %d of them left out", h.LeftOut)
	}
	if h.Secrets > 0 {
		text += fmt.Sprintf(", %d known secrets replaced", h.Secrets)
	}
	return fmt.Sprintf("%s (%s)", text, h.Reason)
}
