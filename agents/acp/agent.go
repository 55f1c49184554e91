package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"xmd/agents/proc"
	"xmd/agents/wire"
	"xmd/runtime"
)

// Config is one agent as this machine reaches it. It is not changed after New.
type Config struct {
	Info    runtime.AgentInfo
	Profile Profile
	// Env is added to the environment of StartOptions, KEY=value.
	Env []string
	// Version is xmd's own, as it introduces itself; "" is "dev".
	Version string
	// Fetches is a package that npx has to download before the agent starts; then it is said, and only the caller's
	// context bounds the start. "" is none.
	Fetches string
}

// Agent is the runtime.Agent of this driver. Immutable.
type Agent struct{ o Config }

var _ runtime.Agent = (*Agent)(nil)

// New makes an agent. It starts nothing.
func New(o Config) *Agent { return &Agent{o} }

// Info tells how the agent is reached.
func (a *Agent) Info() runtime.AgentInfo { return a.o.Info }

// stopLimit bounds the end of a process whose start failed.
const stopLimit = 15 * time.Second

// Start launches the agent and initializes the protocol; see runtime.Agent.
func (a *Agent) Start(ctx context.Context, o runtime.StartOptions) (runtime.Connection, error) {
	if a.o.Fetches != "" && o.Notice != nil {
		o.Notice(fmt.Sprintf("The adapter of %s is not installed: npx downloads %s.", a.o.Info.Shown, a.o.Fetches))
	}
	c := &conn{p: &a.o.Profile, info: a.o.Info, root: o.Root, env: a.environment(o.Env), notice: o.Notice}
	if ctx.Err() != nil {
		return nil, c.cancelled(ctx)
	}
	p, err := proc.Start(ctx, proc.Options{
		Argv: a.o.Info.Command, Env: c.env, Dir: o.Root, Locks: o.Locks,
		EOFWait: a.o.Profile.eofWait(), StderrCopy: copier(o.Stderr), Name: a.o.Info.Shown,
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, c.cancelled(ctx)
		}
		return nil, c.fail(runtime.KindUnavailable, "%s cannot be started: %w (command: %s)", a.o.Info.Shown, err, c.command())
	}
	c.proc = (*guarded)(p)
	connect(c, p.Stdout, p.Stdin, o.Trace)
	if err := c.initialize(ctx, a.o.Version, a.o.Fetches == ""); err != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		_ = c.Close(stop) // the start's own failure is what counts
		return nil, err
	}
	return c, nil
}

// environment is what the agent gets: the person's, without what steers xmd, and what the profile adds.
func (a *Agent) environment(env []string) []string {
	own := slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "XMD_") })
	return append(own, a.o.Env...)
}

func (c *conn) command() string { return strings.Join(c.info.Command, " ") }

type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

type initializeParams struct {
	ProtocolVersion    int            `json:"protocolVersion"`
	ClientCapabilities struct{}       `json:"clientCapabilities"`
	ClientInfo         implementation `json:"clientInfo"`
}

// initialize shakes hands, or says that the command is no ACP agent.
func (c *conn) initialize(ctx context.Context, version string, limited bool) error {
	shake, stop := ctx, context.CancelFunc(func() {})
	if limited && c.p.StartLimit > 0 {
		shake, stop = context.WithTimeout(ctx, c.p.StartLimit)
	}
	defer stop()
	if version == "" {
		version = "dev"
	}
	result, err := c.wire.Call(shake, "initialize", initializeParams{
		ProtocolVersion: 1,
		ClientInfo:      implementation{"xmd", "xmd", version},
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return c.cancelled(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return c.noAgent("it did not answer within "+c.p.StartLimit.String(), nil)
	default:
		return c.shakeError(err)
	}
	var protocol string
	if c.shakes, protocol = parseHandshake(result); protocol != "1" {
		if protocol == "" {
			return c.noAgent("its answer names no protocol version", nil)
		}
		return c.fail(runtime.KindUnsupported, "%s speaks version %s of the Agent Client Protocol, this xmd version 1 (command: %s)", c.info.Shown, protocol, c.command())
	}
	return nil
}

func (c *conn) shakeError(err error) error {
	if e := c.signIn(err); e != nil {
		return e
	}
	var answered *wire.Error
	if errors.As(err, &answered) {
		return c.noAgent("it answered "+words(answered), err)
	}
	why := "it ended"
	if how := c.ending(); how != "" {
		why = "it ended with " + how
	}
	return c.noAgent(why, err)
}

// noAgent is the error of a command that does not speak the protocol.
func (c *conn) noAgent(why string, cause error) *runtime.Error {
	if n := c.wire.Stats().NotJSON; n > 0 {
		why += fmt.Sprintf(", and wrote %d lines on stdout that are not JSON", n)
	}
	e := c.fail(runtime.KindUnavailable, "%s cannot be started: the command does not speak the Agent Client Protocol: %s: %s%s",
		c.info.Shown, why, c.command(), quoted(c.proc.LastWords(5)))
	e.Err = cause
	return e
}

// guarded is a proc.Process as the driver sees one.
type guarded proc.Process

func (g *guarded) process() *proc.Process { return (*proc.Process)(g) }

func (g *guarded) Hold(ctx context.Context, lock *os.File) error { return g.process().Hold(ctx, lock) }
func (g *guarded) Stop(ctx context.Context) error                { return g.process().Stop(ctx) }
func (g *guarded) Done() <-chan struct{}                         { return g.process().Done() }
func (g *guarded) LastWords(n int) []string                      { return g.process().LastLines(n) }

func (g *guarded) Ending() string {
	select {
	case <-g.process().Done():
		return g.process().Exit().String()
	default:
		return ""
	}
}

// copier gives a function the shape of a writer.
func copier(f func([]byte)) io.Writer {
	if f == nil {
		return nil
	}
	return stderrFunc(f)
}

type stderrFunc func([]byte)

func (f stderrFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}
