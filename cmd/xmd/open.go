package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/agents/native"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

func openCommand() *command {
	return &command{
		name: "open", args: "SESSION",
		usage: "go on with a session in the agent's own interface, at this terminal",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "as if started in `DIR`"},
			&cli.StringFlag{Name: "root", Usage: "the session's root, where several have one name"},
			&cli.StringFlag{Name: "wait", Usage: "wait this long for a busy session"},
			&cli.StringFlag{Name: "state-dir", Usage: "the state folder"},
			&cli.BoolFlag{Name: "v", Aliases: []string{"verbose"}, Usage: "the agent's own stderr and notices too"},
		},
		run: openMain,
	}
}

func openMain(p *program, c *call) error {
	if len(c.args) != 1 {
		return &usageError{message: fmt.Sprintf("open takes one session, [AGENT:]NAME, got %d", len(c.args))}
	}
	if err := durations(c, "wait"); err != nil {
		return err
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
	return openVerb(ctx, p, h, c, s, c.args)
}

// openVerb opens the interface of the session that args name.
func openVerb(ctx context.Context, p *program, h *host, c *call, s *store.Store, args []string) error {
	f, err := h.findWhole(ctx, s, "open", args[0], c.String("root"))
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
	watch := h.observer()
	defer watch.Close()
	o := runtime.Options{
		Dir: h.dir, Stream: event.NewStream("", time.Now, rows{s}, n), Store: s, Agents: h.agents, Observer: watch, Terminal: p.window(nil),
		Children: p.env.forChildren(), Notice: n.line, Command: "xmd open " + session.Session, Wait: waitOf(c, "wait"),
	}
	if c.Bool("v") {
		o.AgentStderr = n.raw
	}
	err = runtime.New(o, nil).OpenWindow(ctx, agent, session)
	if code := signalCode(ctx); code != 0 {
		return exitCode(code)
	}
	return err
}

// rows keeps what belongs to an event, and not the event: what is no run has no journal.
type rows struct{ s *store.Store }

// Batch keeps nothing.
func (rows) Batch(*event.Event) {}

// Soon writes the rows. A window has no turn of xmd's, so nothing is asked for soon.
func (r rows) Soon(e *event.Event, extra any) { _ = r.Commit(context.Background(), e, extra) }

// Commit writes the rows.
func (r rows) Commit(ctx context.Context, _ *event.Event, extra any) error {
	if fn, ok := extra.(func(*store.Tx) error); ok && fn != nil {
		return r.s.Do(ctx, fn)
	}
	return nil
}

// window takes the terminal for an agent's own interface. flush waits until the document's text so far is written; nil: there is none.
func (p *program) window(flush func() error) func(context.Context) (runtime.Terminal, error) {
	return func(ctx context.Context) (runtime.Terminal, error) {
		if err := (&terminal{flush: flush}).caughtUp(ctx); err != nil {
			return nil, err
		}
		stdin, _ := p.stdin.(*os.File)
		t, err := native.OpenTerminal(stdin, p.stdout, p.stderr)
		if err != nil {
			return nil, err
		}
		return aside{t, p.face.screen}, nil
	}
}
