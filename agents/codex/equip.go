package codex

import (
	"cmp"
	"encoding/json"
	"time"

	"xmd/runtime"
)

// equipment is what the thread is opened with; set by Equip and read-only from then on.
type equipment struct {
	config       map[string]any // of every thread/start and thread/resume: nothing of it is remembered
	tools        []dynamicTool  // of thread/start; a thread keeps them
	instructions string         // of thread/start; a thread keeps them
	door         string         // the name of the server that is the door; "": there is none
	own          ownTools
}

// mcpServer is one server of the configuration, by address or by command.
type mcpServer struct {
	URL      string            `json:"url,omitempty"`
	Headers  map[string]string `json:"http_headers,omitempty"`
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Approval string            `json:"default_tools_approval_mode,omitempty"`
	Timeout  int64             `json:"tool_timeout_sec,omitempty"`
}

// Takes says which servers Codex takes; see runtime.Equipper.
func (c *conn) Takes() (byAddress, byCommand bool) { return true, true }

// Equip says what the thread is opened with; see runtime.Equipper.
func (c *conn) Equip(e runtime.Equipment) error {
	own, err := ownToolsOf(e)
	if err != nil {
		return c.Fail(runtime.KindInvalid, "%s cannot be given the workflow's tools: %w", c.Info.Shown, err)
	}
	next := equipment{instructions: e.Instructions, own: own}
	for _, t := range e.Tools {
		next.tools = append(next.tools, dynamicTool{"function", t.Name, t.Description, schemaOf(t)})
	}
	for _, s := range e.Servers {
		if next.config == nil {
			next.config = map[string]any{}
		}
		// A dotted key adds to the person's own servers; a table of all servers would stand for them.
		next.config["mcp_servers."+s.Name] = serverOf(s)
		if s.Own {
			next.door = s.Name
		}
	}
	c.equipment = next
	return nil
}

// doorTimeout is how long a call of the door's may take when no tool of it has a limit. Without one Codex has a limit of its own.
const doorTimeout = 24 * time.Hour

// serverOf writes a server as Codex's configuration has it. The door's tools are allowed by xmd itself, whatever the approval policy: with
// "never" Codex would refuse them unasked.
func serverOf(s runtime.MCPServer) mcpServer {
	out := mcpServer{URL: s.URL, Command: s.Command, Args: s.Args}
	if s.URL != "" {
		out.Headers = pairs(s.Headers)
	} else {
		out.Env = pairs(s.Env)
	}
	limit := s.Timeout
	if s.Own {
		out.Approval, limit = "approve", cmp.Or(limit, doorTimeout)
	}
	out.Timeout = int64((limit + time.Second - 1) / time.Second)
	return out
}

func pairs(list []runtime.Pair) map[string]string {
	out := make(map[string]string, len(list))
	for _, p := range list {
		out[p.Name] = p.Value
	}
	return out
}

// dynamicTool is a tool that Codex asks this side to carry out.
type dynamicTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
}

// noArguments is the schema of a tool that takes nothing.
const noArguments = `{"type":"object","properties":{},"additionalProperties":false}`

func schemaOf(t runtime.Tool) json.RawMessage {
	return json.RawMessage(cmp.Or(string(t.Schema), noArguments))
}
