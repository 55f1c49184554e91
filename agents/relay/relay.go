package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"xmd/agents/proc"
	"xmd/lang/expr"
	"xmd/lang/schema"
	"xmd/runtime"
)

const (
	// reachLimit bounds how long a server may take until its tools are known.
	reachLimit = 30 * time.Second
	// eofWait is how long a server may take to leave after its stdin has ended.
	eofWait = 2 * time.Second
	// maxTools is how many tools of one server are offered.
	maxTools = 1000
)

// Relay is a runtime.Relay. The zero value is ready.
type Relay struct{}

var _ runtime.Relay = Relay{}

// Reach connects to a server and lists its tools.
func (Relay) Reach(ctx context.Context, s runtime.MCPServer, o runtime.StartOptions) (runtime.Reached, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, reachLimit, runtime.Errorf(runtime.KindFailed, "it has not told its tools within %s", reachLimit))
	defer cancel()
	r := &reached{name: s.Name}
	err := r.connect(ctx, s, o)
	if err == nil {
		err = r.list(ctx)
	}
	if err == nil {
		return r, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), reachLimit)
	defer stop()
	_ = r.Close(closing)
	var ours *runtime.Error
	if errors.As(err, &ours) {
		return nil, ours
	}
	if errors.Is(err, context.Canceled) {
		return nil, &runtime.Error{Kind: runtime.KindCancelled, Message: "cancelled", Err: err}
	}
	failed := runtime.Errorf(runtime.KindFailed, "it cannot be reached: %w%s", err, r.lastWords())
	failed.Retryable = true
	return nil, failed
}

// reached is a runtime.Reached.
type reached struct {
	name    string
	process *proc.Process // nil: by URL
	session *mcp.ClientSession
	tools   []runtime.Tool
}

// connect makes the connection.
func (r *reached) connect(ctx context.Context, s runtime.MCPServer, o runtime.StartOptions) (err error) {
	var to mcp.Transport
	if s.URL != "" {
		client, err := clientFor(s)
		if err != nil {
			return err
		}
		to = &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, DisableStandaloneSSE: true}
	} else {
		r.process, err = proc.Start(ctx, proc.Options{
			Argv: append([]string{s.Command}, s.Args...), Env: environment(o.Env, s.Env), Dir: o.Root, Locks: o.Locks, EOFWait: eofWait, Name: s.Command,
		})
		if err != nil {
			return err
		}
		to = &mcp.IOTransport{Reader: r.process.Stdout, Writer: r.process.Stdin}
	}
	r.session, err = mcp.NewClient(&mcp.Implementation{Name: "xmd", Version: "1"}, nil).Connect(ctx, to, nil)
	return err
}

// environment is that of the server: xmd's own for children, and what the document gives.
func environment(env []string, own []runtime.Pair) []string {
	env = slices.Clone(env)
	for _, p := range own {
		env = append(env, p.Name+"="+p.Value)
	}
	return env
}

// clientFor sends the document's headers to the host that they are meant for.
func clientFor(s runtime.MCPServer) (*http.Client, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, runtime.Errorf(runtime.KindFailed, "its url is no address")
	}
	return &http.Client{Transport: headed{u.Scheme, u.Host, s.Headers}}, nil
}

// headed adds headers to the requests to one host.
type headed struct {
	scheme, host string
	headers      []runtime.Pair
}

func (h headed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == h.scheme && r.URL.Host == h.host {
		r = r.Clone(r.Context())
		for _, p := range h.headers {
			r.Header.Set(p.Name, p.Value)
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// list asks for the tools.
func (r *reached) list(ctx context.Context) error {
	for t, err := range r.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		if len(r.tools) == maxTools {
			return fmt.Errorf("it has more than %d tools", maxTools)
		}
		r.tools = append(r.tools, runtime.Tool{Name: t.Name, Description: t.Description, Schema: argsSchema(t.InputSchema)})
	}
	return nil
}

// argsSchema is the server's schema of a tool's arguments where it is one that the door can check, else that of any object: the server
// checks them itself.
func argsSchema(given any) json.RawMessage {
	open := json.RawMessage(`{"type":"object"}`)
	raw, err := json.Marshal(given)
	if err != nil {
		return open
	}
	v, err := expr.ParseJSON(string(raw))
	if object, ok := v.(map[string]any); err != nil || !ok || object["type"] != "object" {
		return open
	}
	if compiled, faults := schema.Compile(v); compiled == nil || len(faults) > 0 {
		return open
	}
	return raw
}

// Tools are those that were listed.
func (r *reached) Tools() []runtime.Tool { return slices.Clone(r.tools) }

// Call calls a tool of the server.
func (r *reached) Call(ctx context.Context, use runtime.ToolUse) runtime.ToolAnswer {
	args := use.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	result, err := r.session.CallTool(ctx, &mcp.CallToolParams{Name: use.Name, Arguments: args})
	if err != nil {
		return runtime.ToolAnswer{Failed: true, Text: fmt.Sprintf("the MCP server %s did not answer: %v", r.name, err)}
	}
	var parts []string
	for _, c := range result.Content {
		parts = append(parts, inWords(c))
	}
	return runtime.ToolAnswer{Text: strings.Join(parts, "\n"), Failed: result.IsError}
}

// inWords is a piece of a result as text.
func inWords(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return fmt.Sprintf("[an image, %s, %d bytes, which is not passed on]", c.MIMEType, len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[a sound, %s, %d bytes, which is not passed on]", c.MIMEType, len(c.Data))
	case *mcp.ResourceLink:
		return "[" + c.URI + "]"
	case *mcp.EmbeddedResource:
		if c.Resource != nil && c.Resource.Text != "" {
			return c.Resource.Text
		}
	}
	return "[something that is no text, which is not passed on]"
}

// Close ends the connection and the process.
func (r *reached) Close(ctx context.Context) error {
	if r.session != nil {
		_ = r.session.Close() // what cannot be said any more to a server that goes
	}
	if r.process == nil {
		return nil
	}
	return r.process.Stop(ctx)
}

// lastWords are the last lines that the server wrote beside the protocol.
func (r *reached) lastWords() string {
	if r.process == nil {
		return ""
	}
	lines := r.process.LastLines(3)
	if len(lines) == 0 {
		return ""
	}
	return "; it said: " + strings.Join(lines, " / ")
}
