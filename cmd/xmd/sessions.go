package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

func sessionsCommand() *command {
	return &command{
		name: "sessions", args: "[show|recover|move|restart|forget|import|export …]",
		usage: "list the named sessions; show, recover, move, restart, forget, import or export one",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "as if started in `DIR`"},
			&cli.StringFlag{Name: "root", Usage: "the session's root, where several have one name; of an imported one, where it is to live"},
			&cli.StringFlag{Name: "to", Usage: "move: the new root"},
			&cli.StringFlag{Name: "agent", Usage: "import: the agent that has the conversation"},
			&cli.StringFlag{Name: "id", Usage: "import: the agent's own id of the conversation"},
			&cli.StringSliceFlag{Name: "name", Usage: "import: the session's name, for records that do not say it"},
			&cli.StringFlag{Name: "state-dir", Usage: "the state folder"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "list, show: text or json"},
			&cli.StringFlag{Name: "wait", Value: "60s", Usage: "recover: wait this long for what is left of the last owner"},
		},
		run: sessionsMain,
	}
}

// sessionVerbs are what `xmd sessions VERB` can be; each but import takes one session.
var sessionVerbs = map[string]func(ctx context.Context, p *program, h *host, c *call, s *store.Store, args []string) error{
	"show": showVerb, "open": openVerb, "recover": recoverVerb, "move": moveVerb, "restart": restartVerb, "import": importVerb, "export": exportVerb, "forget": forgetVerb,
}

func sessionsMain(p *program, c *call) error {
	if err := durations(c, "wait"); err != nil {
		return err
	}
	if err := oneFormat(c); err != nil {
		return err
	}
	verb := "list"
	if len(c.args) > 0 {
		verb = c.args[0]
	}
	run := sessionVerbs[verb]
	switch {
	case verb == "list" && len(c.args) <= 1:
		run = listVerb
	case run == nil:
		return &usageError{message: fmt.Sprintf("unknown: sessions %s; known are %s", verb, strings.Join(knownVerbs(), ", "))}
	case verb != "import" && len(c.args) != 2:
		return &usageError{message: fmt.Sprintf("sessions %s takes one session: [AGENT:]NAME, or conversation:NAME[/AGENT]", verb)}
	}
	h, err := p.host(c)
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
	return run(ctx, p, h, c, s, c.args[min(1, len(c.args)):])
}

func knownVerbs() []string {
	var known []string
	for v := range sessionVerbs {
		known = append(known, v)
	}
	slices.Sort(known)
	return known
}

// oneFormat checks --format of a command that has text and json.
func oneFormat(c *call) error {
	if f := c.String("format"); f != "text" && f != "json" {
		return &usageError{message: fmt.Sprintf("--format is text or json, not %q", f)}
	}
	return nil
}

// storeProblem gives an error of the store its kind.
func storeProblem(err error) error {
	var ours *runtime.Error
	var busy *store.BusyError
	var recovery *store.RecoveryError
	var taken *store.TakenError
	var native *store.NativeTakenError
	switch {
	case err == nil || errors.As(err, &ours):
		return err
	case errors.As(err, &busy):
		return &runtime.Error{Kind: runtime.KindBusy, Retryable: true, Message: busy.Error(), Err: err}
	case errors.As(err, &recovery):
		return runtime.Errorf(runtime.KindRecovery, "%w", err)
	case errors.As(err, &taken), errors.As(err, &native), errors.Is(err, store.ErrNoSession), errors.Is(err, store.ErrNoRun):
		return runtime.Errorf(runtime.KindInvalid, "%w", err)
	}
	return storeFailed(err)
}

// found is the session that a person means.
type found struct {
	route  store.Route // without a conversation when the session was only opened
	routed bool
}

// findSession is the one session a person means. Opened sessions without an accepted turn count: they may need recovery.
func (h *host) findSession(ctx context.Context, s *store.Store, text, root string) (found, error) {
	sel, err := store.ParseSelector(text)
	if err != nil {
		return found{}, runtime.Errorf(runtime.KindInvalid, "%w", err)
	}
	if root, err = rootOf(root); err != nil {
		return found{}, err
	}
	list, err := selected(ctx, s, sel, root)
	if agents, ok := sel.InConversation(); ok && err == nil && len(list) == 0 {
		list, err = selected(ctx, s, agents, root)
	}
	switch {
	case err != nil:
		return found{}, storeProblem(err)
	case len(list) == 0:
		return found{}, runtime.Errorf(runtime.KindInvalid, "there is no session %s; xmd sessions lists them", text)
	case len(list) == 1:
		return list[0], nil
	}
	lines := ""
	for _, f := range list {
		lines += fmt.Sprintf("\n  %s --root %s", f.route.SessionKey(), f.route.Root)
	}
	return found{}, runtime.Errorf(runtime.KindInvalid, "%s is several sessions; name the agent or the root:%s", text, lines)
}

// selected lists the sessions that a selector chooses.
func selected(ctx context.Context, s *store.Store, sel store.Selector, root string) (list []found, err error) {
	err = s.View(ctx, func(tx *store.Tx) error {
		routes, err := tx.Routes(store.Filter{Selector: sel, Root: root})
		for _, r := range routes {
			list = append(list, found{r, true})
		}
		if err != nil || len(list) > 0 || sel.Generation > 0 {
			return err
		}
		owners, err := tx.Owners(sel, root)
		for _, o := range owners {
			list = append(list, found{store.Route{Key: o.Key, NativeSessionID: o.NativeID}, false})
		}
		return err
	})
	return list, err
}

// findWhole is findSession for what is done to a session and not to one generation of it.
func (h *host) findWhole(ctx context.Context, s *store.Store, verb, text, root string) (found, error) {
	f, err := h.findSession(ctx, s, text, root)
	if err == nil && strings.Contains(text, "@") {
		err = runtime.Errorf(runtime.KindInvalid, "sessions %s is about a whole session: write it without @%d", verb, f.route.Generation)
	}
	return f, err
}

// rootOf is --root as sessions have it: a real path as far as it exists.
func rootOf(root string) (string, error) {
	if root == "" {
		return "", nil
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", runtime.Errorf(runtime.KindUsage, "--root: %w", err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}

// recoverVerb settles what a dead owner left, and prints what it found.
func recoverVerb(ctx context.Context, p *program, h *host, c *call, s *store.Store, args []string) error {
	f, err := h.findWhole(ctx, s, "recover", args[0], c.String("root"))
	if err != nil {
		return err
	}
	session := f.route.SessionKey()
	agent, err := h.agents.Lookup(session.Agent)
	if err != nil {
		return err
	}
	p.openFace(c)
	n := p.notes(c, nil)
	runner := runtime.New(runtime.Options{
		Dir: h.dir, Stream: event.NewStream("", time.Now, nil, n), Store: s, Agents: h.agents, Observer: h.observer(),
		Children: p.env.forChildren(), Notice: n.line, Command: "xmd sessions recover", Wait: waitOf(c, "wait"),
	}, nil)
	n.line(fmt.Sprintf("recovering %s: waiting up to %s for what is left of its last owner", session, waitOf(c, "wait")))
	found, err := runner.Recover(ctx, agent, session, waitOf(c, "wait"))
	if code := signalCode(ctx); code != 0 {
		return exitCode(code)
	}
	if err != nil {
		return err
	}
	if !found.Needed {
		_, err = fmt.Fprintf(p.stdout, "%s is idle; there is nothing to recover\n", session)
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n%s is idle now; nothing was sent\n", found.Sentence(agent.Info().Shown), session)
	return err
}

func writeJSON(p *program, v any) error {
	enc := json.NewEncoder(p.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// stamp is how times are written, for people and machines alike.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
