package acp

import (
	"context"
	"errors"
	"fmt"

	"xmd/agents/link"
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
	// Fetches is a package that npx has to download before the agent starts; then it is said, and the start may
	// take longer. "" is none.
	Fetches string
}

// Agent is the runtime.Agent of this driver. Immutable.
type Agent struct{ o Config }

var _ runtime.Agent = (*Agent)(nil)

// New makes an agent. It starts nothing.
func New(o Config) *Agent { return &Agent{o} }

// Info tells how the agent is reached.
func (a *Agent) Info() runtime.AgentInfo { return a.o.Info }

// Start launches the agent and initializes the protocol; see runtime.Agent.
func (a *Agent) Start(ctx context.Context, o runtime.StartOptions) (runtime.Connection, error) {
	if a.o.Fetches != "" && o.Notice != nil {
		o.Notice(fmt.Sprintf("The adapter of %s is not installed: npx downloads %s.", a.o.Info.Shown, a.o.Fetches))
	}
	c := &conn{
		Link: link.Link{Info: a.o.Info}, p: &a.o.Profile, root: o.Root, env: link.Environment(o.Env, a.o.Env), notice: o.Notice,
	}
	c.dropTwins(every)
	stdout, stdin, err := c.Launch(ctx, c.env, a.o.Profile.eofWait(), o)
	if err != nil {
		return nil, err
	}
	connect(c, stdout, stdin, o.Trace)
	if err := c.initialize(ctx, a.o.Version, a.o.Fetches == ""); err != nil {
		c.Abandon(ctx)
		return nil, err
	}
	return c, nil
}

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
	limit := c.p.StartLimit
	if !limited {
		limit = fetchLimit
	}
	shake, stop := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		shake, stop = context.WithTimeout(ctx, limit)
	}
	defer stop()
	if version == "" {
		version = "dev"
	}
	result, err := c.Wire.Call(shake, "initialize", initializeParams{
		ProtocolVersion: 1,
		ClientInfo:      implementation{"xmd", "xmd", version},
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return c.Cancelled(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return c.noAgent("it did not answer initialize within "+limit.String(), nil)
	default:
		return c.shakeError(err)
	}
	var protocol string
	if c.shakes, protocol = parseHandshake(result); protocol != "1" {
		if protocol == "" {
			return c.noAgent("its answer names no protocol version", nil)
		}
		return c.Fail(runtime.KindUnsupported, "%s speaks version %s of the Agent Client Protocol, this xmd version 1 (command: %s)", c.Info.Shown, protocol, c.Command())
	}
	return nil
}

func (c *conn) shakeError(err error) error {
	if e := c.signIn(err); e != nil {
		return e
	}
	return c.noAgent(c.ShakeReason(err), err)
}

// noAgent is the error of a command that does not speak the protocol.
func (c *conn) noAgent(why string, cause error) *runtime.Error {
	return c.NoAgent("the Agent Client Protocol", why, cause)
}
