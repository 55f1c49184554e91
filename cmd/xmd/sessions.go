package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

func sessionsCommand() *command {
	return &command{
		name: "sessions", args: "[show|recover SESSION]",
		usage: "list the named sessions, show one, or recover one whose owner died in a turn",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "as if started in `DIR`"},
			&cli.StringFlag{Name: "root", Usage: "the session's root, where several have one name"},
			&cli.StringFlag{Name: "state-dir", Usage: "the state folder"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
			&cli.StringFlag{Name: "wait", Value: "60s", Usage: "recover: wait this long for what is left of the last owner"},
		},
		run: sessionsMain,
	}
}

func sessionsMain(p *program, c *call) error {
	if err := durations(c, "wait"); err != nil {
		return err
	}
	h, err := p.host(c)
	if err != nil {
		return err
	}
	verb := "list"
	if len(c.args) > 0 {
		verb = c.args[0]
	}
	switch {
	case verb == "list" && len(c.args) <= 1:
		return h.listSessions(p, c)
	case (verb == "show" || verb == "recover") && len(c.args) == 2:
	case verb == "show" || verb == "recover":
		return &usageError{message: fmt.Sprintf("sessions %s takes one session: [AGENT:]NAME", verb)}
	case verb == "open" || verb == "move" || verb == "restart" || verb == "forget" || verb == "import" || verb == "export":
		return &usageError{message: fmt.Sprintf("sessions %s is not built yet", verb)}
	default:
		return &usageError{message: fmt.Sprintf("unknown: sessions %s; known are show and recover", verb)}
	}
	ctx, stop := p.signals(context.Background())
	defer stop()
	s, err := h.store(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	route, err := h.findSession(ctx, s, c.args[1], c.String("root"))
	if err != nil {
		return err
	}
	if verb == "show" {
		return showSession(ctx, p, s, route, c.String("format"))
	}
	return h.recoverSession(ctx, p, c, s, route)
}

// sessionView is a session as lists show it.
type sessionView struct {
	Agent      string `json:"agent"`
	Session    string `json:"session"`
	Root       string `json:"root"`
	Generation int    `json:"generation"`
	NativeID   string `json:"nativeSessionId"`
	Transport  string `json:"transport"`
	Created    string `json:"createdAt,omitempty"`
	Version    string `json:"establishedVersion,omitempty"`
	Owner      string `json:"owner"`
	Turns      int    `json:"turns"`
}

func (h *host) listSessions(p *program, c *call) error {
	ctx := context.Background()
	s, err := h.store(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	var views []sessionView
	err = s.View(ctx, func(tx *store.Tx) error {
		routes, err := tx.Routes(store.Filter{Root: c.String("root")})
		if err != nil {
			return err
		}
		for _, r := range routes {
			v, err := viewOf(tx, r)
			if err != nil {
				return err
			}
			views = append(views, v)
		}
		return nil
	})
	if err != nil {
		return runtime.Errorf(runtime.KindStore, "%w", err)
	}
	if c.String("format") == "json" {
		if views == nil {
			views = []sessionView{}
		}
		return writeJSON(p, map[string]any{"v": 1, "sessions": views})
	}
	for _, v := range views {
		_, _ = fmt.Fprintf(p.stdout, "%-28s %3d turns  %-6s %s\n", v.Agent+":"+v.Session, v.Turns, v.Owner, v.Root)
	}
	return nil
}

func viewOf(tx *store.Tx, r store.Route) (sessionView, error) {
	v := sessionView{
		Agent: r.Agent, Session: r.Session, Root: r.Root, Generation: r.Generation, NativeID: r.NativeSessionID,
		Transport: r.Transport, Owner: string(store.OwnerIdle),
	}
	if !r.CreatedAt.IsZero() {
		v.Created = r.CreatedAt.UTC().Format(time.RFC3339)
	}
	if r.Established != nil {
		v.Version = r.Established.Version
	}
	owner, found, err := tx.Owner(r.SessionKey())
	if err != nil {
		return v, err
	}
	if found {
		v.Owner = string(owner.State)
	}
	next, err := tx.NextTurn(r.Key)
	v.Turns = next - 1
	return v, err
}

func showSession(ctx context.Context, p *program, s *store.Store, r store.Route, format string) error {
	var v sessionView
	err := s.View(ctx, func(tx *store.Tx) (err error) {
		v, err = viewOf(tx, r)
		return err
	})
	if err != nil {
		return runtime.Errorf(runtime.KindStore, "%w", err)
	}
	if format == "json" {
		return writeJSON(p, v)
	}
	_, err = fmt.Fprintf(p.stdout, "session      %s:%s@%d\nroot         %s\nconversation %s\ntransport    %s\ncreated      %s\nestablished  %s\nowner        %s\nturns        %d\n",
		v.Agent, v.Session, v.Generation, v.Root, v.NativeID, v.Transport, v.Created, first(v.Version, "version not recorded"), v.Owner, v.Turns)
	return err
}

// findSession is the one session a person means. Opened sessions without an accepted turn count: they may need recovery.
func (h *host) findSession(ctx context.Context, s *store.Store, text, root string) (store.Route, error) {
	sel, err := store.ParseSelector(text)
	if err != nil {
		return store.Route{}, runtime.Errorf(runtime.KindInvalid, "%w", err)
	}
	if root != "" {
		if root, err = filepath.Abs(root); err != nil {
			return store.Route{}, runtime.Errorf(runtime.KindUsage, "--root: %w", err)
		}
	}
	var routes []store.Route
	err = s.View(ctx, func(tx *store.Tx) (err error) {
		routes, err = tx.Routes(store.Filter{Selector: sel, Root: root})
		if err == nil && len(routes) == 0 {
			routes, err = openedAsRoutes(tx, sel, root)
		}
		return err
	})
	switch {
	case err != nil:
		return store.Route{}, runtime.Errorf(runtime.KindStore, "%w", err)
	case len(routes) == 0:
		return store.Route{}, runtime.Errorf(runtime.KindInvalid, "there is no session %s; xmd sessions lists them", text)
	case len(routes) == 1:
		return routes[0], nil
	}
	list := ""
	for _, r := range routes {
		list += fmt.Sprintf("\n  %s --root %s", r.SessionKey(), r.Root)
	}
	return store.Route{}, runtime.Errorf(runtime.KindInvalid, "%s is several sessions; name the agent or the root:%s", text, list)
}

// openedAsRoutes are sessions that were opened and never had an accepted turn, in the form of routes.
func openedAsRoutes(tx *store.Tx, sel store.Selector, root string) ([]store.Route, error) {
	owners, err := tx.Owners(sel, root)
	if err != nil {
		return nil, err
	}
	var routes []store.Route
	for _, o := range owners {
		routes = append(routes, store.Route{Key: o.Key, NativeSessionID: o.NativeID})
	}
	return routes, nil
}

// recoverSession settles what a dead owner left, and prints what it found.
func (h *host) recoverSession(ctx context.Context, p *program, c *call, s *store.Store, route store.Route) error {
	agent, err := h.agents.Lookup(route.Agent)
	if err != nil {
		return err
	}
	n := &notes{w: p.stderr}
	runner := runtime.New(runtime.Options{
		Dir: h.dir, Stream: event.NewStream("", time.Now, nil, n), Store: s, Agents: h.agents, Observer: h.observer(),
		Children: p.env.forChildren(), Notice: n.line, Command: "xmd sessions recover", Wait: waitOf(c, "wait"),
	}, nil)
	n.line(fmt.Sprintf("recovering %s: waiting up to %s for what is left of its last owner", route.SessionKey(), waitOf(c, "wait")))
	found, err := runner.Recover(ctx, agent, route.SessionKey(), waitOf(c, "wait"))
	if code := signalCode(ctx); code != 0 {
		return exitCode(code)
	}
	if err != nil {
		return err
	}
	if !found.Needed {
		_, err = fmt.Fprintf(p.stdout, "%s is idle; there is nothing to recover\n", route.SessionKey())
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n%s is idle now; nothing was sent\n", found.Sentence(agent.Info().Shown), route.SessionKey())
	return err
}

func writeJSON(p *program, v any) error {
	enc := json.NewEncoder(p.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
