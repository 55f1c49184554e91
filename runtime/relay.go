package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Relay reaches MCP servers on behalf of agents that do not take their kind. Safe for concurrent use.
type Relay interface {
	// Reach connects to a server, which it starts if it is one by command: in root, with this environment beside the server's own, under a
	// guardian that holds the locks. Errors are *Error (KindFailed, KindCancelled). Nothing is left of it then.
	Reach(ctx context.Context, s MCPServer, o StartOptions) (Reached, error)
}

// Reached is a server that was reached. Safe for concurrent use.
type Reached interface {
	// Tools are what the server offered when it was reached.
	Tools() []Tool
	// Call calls one of them. What comes back that is no text is told in words. It returns when ctx ends.
	Call(ctx context.Context, use ToolUse) ToolAnswer
	// Close ends the connection and the server's process, and waits for it, or stops when ctx ends. Idempotent.
	Close(ctx context.Context) error
}

// errTold marks the error of a server's own tool, which the agent is told in the server's words.
var errTold = errors.New("")

// relayed is a server that is reached for one attachment. Its tools are known to the agent as SERVER_TOOL.
type relayed struct {
	name string
	conn Reached
}

type relays []*relayed

// find tells a relayed tool from the name that the agent knows.
func (list relays) find(known string) (*relayed, string, bool) {
	for _, r := range list {
		for _, t := range r.conn.Tools() {
			if r.known(t.Name) == known {
				return r, t.Name, true
			}
		}
	}
	return nil, "", false
}

func (r *relayed) known(tool string) string { return r.name + "_" + tool }

// tools are the server's tools as the agent is shown them.
func (r *relayed) tools() []Tool {
	var list []Tool
	for _, t := range r.conn.Tools() {
		t.Name = r.known(t.Name)
		list = append(list, t)
	}
	return list
}

func (r *relayed) call(ctx context.Context, tool string, args json.RawMessage) (string, error) {
	a := r.conn.Call(ctx, ToolUse{Name: tool, Args: args})
	if a.Failed {
		return "", Errorf(KindFailed, "%s%w", a.Text, errTold)
	}
	return a.Text, nil
}

// reach connects to the servers that the agent does not take by itself.
func (r *Runner) reach(ctx context.Context, s *session, servers []MCPServer) error {
	for _, server := range servers {
		if r.o.Relay == nil {
			return Errorf(KindUnsupported, "%s does not take MCP servers of the kind of %s, and it cannot be reached for it here", s.info.Shown, server.Name)
		}
		conn, err := r.o.Relay.Reach(ctx, server, StartOptions{
			Root: s.key.Root, Locks: s.locks(r.runLock), Env: r.o.Children, Notice: r.notice, Stderr: r.o.AgentStderr,
		})
		if err != nil {
			e := *asError(err)
			e.Message, e.Err = fmt.Sprintf("the MCP server %s: %s", server.Name, e.Message), err
			return &e
		}
		s.relays = append(s.relays, &relayed{server.Name, conn})
	}
	return nil
}

// close ends all of them.
func (list relays) close(ctx context.Context) error {
	var err error
	for _, r := range list {
		err = errors.Join(err, r.conn.Close(ctx))
	}
	return err
}
