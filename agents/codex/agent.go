package codex

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"xmd/agents/link"
	"xmd/agents/wire"
	"xmd/runtime"
)

// Config is Codex as this machine reaches it. It is not changed after New.
type Config struct {
	Info runtime.AgentInfo
	// Env is added to the environment of StartOptions, KEY=value.
	Env []string
	// Version is xmd's own, as it introduces itself; "" is "dev".
	Version string
}

// Agent is the runtime.Agent of this driver. Immutable.
type Agent struct{ o Config }

var _ runtime.Agent = (*Agent)(nil)

// New makes an agent. It starts nothing.
func New(o Config) *Agent { return &Agent{o} }

// Info tells how Codex is reached.
func (a *Agent) Info() runtime.AgentInfo { return a.o.Info }

const (
	// startLimit bounds the time to the answer of initialize: 0.1 to 0.6 s were seen.
	startLimit = 30 * time.Second
	// eofWait is how long Codex may take to leave after its stdin has ended: it leaves within 0.2 s, also in a turn.
	eofWait = 3 * time.Second
)

// Start launches `codex app-server` and initializes the protocol; see runtime.Agent.
func (a *Agent) Start(ctx context.Context, o runtime.StartOptions) (runtime.Connection, error) {
	c := &conn{Link: link.Link{Info: a.o.Info}, root: o.Root, notice: o.Notice}
	stdout, stdin, err := c.Launch(ctx, link.Environment(o.Env, a.o.Env), eofWait, o)
	if err != nil {
		return nil, err
	}
	c.connect(stdout, stdin, o.Trace)
	if err := c.initialize(ctx, a.o.Version); err != nil {
		c.Abandon(ctx)
		return nil, err
	}
	return c, nil
}

// Home is Codex's folder of conversations in an environment of KEY=value; "" when it cannot be told.
func Home(env []string) string {
	if dir := getenv(env, "CODEX_HOME"); dir != "" {
		return dir
	}
	if home := getenv(env, "HOME"); home != "" {
		return filepath.Join(home, ".codex")
	}
	return ""
}

// getenv finds the last value of a name in KEY=value pairs, as a started process does.
func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

type clientInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

type capabilities struct {
	ExperimentalAPI bool     `json:"experimentalApi"` // excludeTurns, additionalContext, backgroundTerminals
	OptOut          []string `json:"optOutNotificationMethods"`
}

type initializeParams struct {
	ClientInfo   clientInfo   `json:"clientInfo"`
	Capabilities capabilities `json:"capabilities"`
}

// unwanted are notifications that repeat what others tell.
var unwanted = []string{"turn/diff/updated", "account/rateLimits/updated", "rawResponseItem/completed"}

// protocol is what it is called to people.
const protocol = "the app-server protocol of Codex"

// initialize shakes hands, or says that the command is no app-server.
func (c *conn) initialize(ctx context.Context, version string) error {
	if version == "" {
		version = "dev"
	}
	shake, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	result, err := c.Wire.Call(shake, "initialize", initializeParams{
		ClientInfo:   clientInfo{"xmd", "xmd", version},
		Capabilities: capabilities{ExperimentalAPI: true, OptOut: unwanted},
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return c.Cancelled(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return c.NoAgent(protocol, "it did not answer initialize within "+startLimit.String(), nil)
	default:
		return c.NoAgent(protocol, c.ShakeReason(err), err)
	}
	agent, ok := wire.String(wire.Field(result, "userAgent"))
	if !ok {
		return c.NoAgent(protocol, "its answer names no userAgent", nil)
	}
	c.version = versionOf(agent)
	_ = c.Wire.Notify("initialized", nil) // a connection that has ended shows at the next call
	return nil
}

// versionOf is the version in a userAgent: "xmd/0.171.0 (Debian 12; x86_64) …" names ours, its own version and the system.
func versionOf(agent string) string {
	_, rest, _ := strings.Cut(agent, "/")
	version, _, _ := strings.Cut(rest, " ")
	return version
}
