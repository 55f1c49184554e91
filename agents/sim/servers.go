package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// connectLimit bounds the connection to one MCP server.
	connectLimit = 10 * time.Second
	// serverExit is how long a server that was started has to end by itself.
	serverExit = 500 * time.Millisecond
	// protocol is asked for, so that a server needs no probing.
	protocol = "2025-11-25"
)

// serverSpec is one entry of mcpServers in session/new and session/load.
type serverSpec struct {
	Type    string   `json:"type"` // http; absent: stdio
	Name    string   `json:"name"`
	URL     string   `json:"url"`
	Headers []member `json:"headers"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Env     []member `json:"env"`
}

type member struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// server is an MCP server that the client gave to a session, connected.
type server struct {
	name         string
	instructions string
	tools        []string
	session      *mcp.ClientSession
}

// specs reads the servers of a session/new or session/load, and refuses what initialize did not announce.
func (a *agent) specs(r request) ([]serverSpec, *rpcError) {
	var p struct {
		MCPServers []serverSpec `json:"mcpServers"`
	}
	if err := r.decode(&p); err != nil {
		return nil, err
	}
	for _, s := range p.MCPServers {
		switch {
		case s.Type == "http" && a.faults.on("no-mcp-http"), s.Type != "http" && s.Type != "":
			return nil, invalidParams("the MCP server %q: no transport %q", s.Name, s.Type)
		}
	}
	return slices.DeleteFunc(p.MCPServers, func(s serverSpec) bool { return s.Type == "" && a.faults.on("mcp-drops-stdio") }), nil
}

// attach gives the session these servers in place of those it had. It returns when they are connected, except with the fault mcp-late. One
// that cannot be reached is left out with a note, as agents do.
func (s *session) attach(specs []serverSpec) {
	s.detach()
	if len(specs) == 0 {
		return
	}
	if !s.agent.faults.on("mcp-late") {
		s.connectAll(specs)
		return
	}
	if !s.agent.begun() {
		return
	}
	go func() {
		defer s.agent.turns.Done()
		select {
		case <-time.After(milliseconds(s.agent.faults.number("mcp-late", 0))):
			s.connectAll(specs)
		case <-s.agent.ctx.Done():
		}
	}()
}

func (s *session) connectAll(specs []serverSpec) {
	for _, spec := range specs {
		connected, err := s.connect(spec)
		if err != nil {
			s.agent.note("the MCP server %s cannot be used: %v", spec.Name, err)
			continue
		}
		s.mu.Lock()
		s.servers = append(s.servers, connected)
		s.mu.Unlock()
	}
}

func (s *session) connect(spec serverSpec) (*server, error) {
	ctx, stop := context.WithTimeout(s.agent.ctx, connectLimit)
	defer stop()
	client := mcp.NewClient(&mcp.Implementation{Name: "xmd-sim", Version: Version}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, spec.transport(s.dir()), &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		return nil, err
	}
	made := &server{name: spec.Name, instructions: session.InitializeResult().Instructions, session: session}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			_ = session.Close()
			return nil, err
		}
		made.tools = append(made.tools, tool.Name)
	}
	return made, nil
}

func (spec serverSpec) transport(cwd string) mcp.Transport {
	if spec.Type == "http" {
		client := &http.Client{Transport: keyed{spec.Headers, &http.Transport{}}} // no proxy: an agent on this machine is given servers on it
		return &mcp.StreamableClientTransport{Endpoint: spec.URL, HTTPClient: client, DisableStandaloneSSE: true, MaxRetries: -1}
	}
	cmd := exec.Command(spec.Command, spec.Args...)
	cmd.Dir = cwd
	cmd.Env = cmd.Environ()
	for _, m := range spec.Env {
		cmd.Env = append(cmd.Env, m.Name+"="+m.Value)
	}
	return &mcp.CommandTransport{Command: cmd, TerminateDuration: serverExit}
}

// keyed adds headers to each request.
type keyed struct {
	headers []member
	next    http.RoundTripper
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for _, h := range k.headers {
		r.Header.Set(h.Name, h.Value)
	}
	return k.next.RoundTrip(r)
}

// CloseIdleConnections is for http.Client's.
func (k keyed) CloseIdleConnections() {
	if t, ok := k.next.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// detach leaves the servers, all at once: each may take a moment to end.
func (s *session) detach() {
	s.mu.Lock()
	servers := s.servers
	s.servers = nil
	s.mu.Unlock()
	var all sync.WaitGroup
	for _, one := range servers {
		all.Go(func() { _ = one.session.Close() }) // it may be gone already
	}
	all.Wait()
}

// serverOf finds the server with a tool: the one named, or for "" the first that has it.
func (s *session) serverOf(name, tool string) (*server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.servers {
		if (name == "" || one.name == name) && slices.Contains(one.tools, tool) {
			return one, nil
		}
	}
	if name != "" {
		tool = name + "'s " + tool
	}
	return nil, fmt.Errorf("no such tool available: %s", tool)
}

// described lists the servers with what they offer, a line each.
func (s *session) described() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.servers) == 0 {
		return "no MCP server"
	}
	var lines []string
	for _, one := range s.servers {
		line := one.name + ": " + strings.Join(one.tools, " ")
		if one.instructions != "" {
			line += "; instructions: " + one.instructions
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// serverCall is a call of a tool of an MCP server.
type serverCall struct {
	server string // "": the first that has the tool
	tool   string
	args   map[string]any
	kind   string
	title  string // "": made of tool and server
	ask    bool
}

// callTool calls for real, asking first where the call wants it, and gives the text that came back: the result, the tool's error, or why it
// was not called. The error is one that ends the turn.
func (t *turn) callTool(c serverCall) (text string, err error) {
	found, missing := t.session.serverOf(c.server, c.tool)
	if missing != nil {
		return missing.Error(), context.Cause(t.ctx)
	}
	if c.args == nil {
		c.args = object{}
	}
	if c.title == "" {
		c.title = c.tool + " (" + found.name + ")"
	}
	text = "permission to call this tool was refused"
	_, err = t.use(toolCall{kind: c.kind, title: c.title, input: c.args, ask: c.ask,
		meta: object{"sim": object{"server": found.name, "tool": c.tool}},
		do: func(id string) (string, bool) {
			var failed bool
			text, failed = t.reach(found, id, c)
			return text, failed
		}})
	if err == nil {
		err = context.Cause(t.ctx) // cancelled while it was at work
	}
	return text, err
}

// reach is the call itself; id is the ACP call's, which the server is told.
func (t *turn) reach(to *server, id string, c serverCall) (text string, failed bool) {
	result, err := to.session.CallTool(t.ctx, &mcp.CallToolParams{Meta: mcp.Meta{"sim/toolCallId": id}, Name: c.tool, Arguments: c.args})
	if err != nil {
		return err.Error(), true
	}
	var texts []string
	for _, block := range result.Content {
		if b, ok := block.(*mcp.TextContent); ok {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n"), result.IsError
}

// runCall is the command CALL: a tool's name, and its arguments as JSON.
func runCall(t *turn, _ []int, rest string) error {
	name, args, _ := strings.Cut(rest, " ")
	var values map[string]any
	if args = strings.TrimSpace(args); args != "" {
		if err := json.Unmarshal([]byte(args), &values); err != nil {
			return &rpcError{Code: -32602, Message: "CALL wants a name and a JSON object"}
		}
	}
	if name == "" {
		return errors.New("CALL wants the name of a tool")
	}
	text, err := t.callTool(serverCall{tool: name, args: values, kind: "other", ask: true})
	return then(err, t, text)
}
