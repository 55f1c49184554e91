package runtime

import (
	"context"
	"encoding/json"
	"time"
)

// DoorName is the name under which agents know the workflow's own MCP server. It is reserved.
const DoorName = "xmd"

// Door offers the workflow's own tools to agents, as one MCP server on loopback for a run. Package agents/door implements it. Safe for
// concurrent use.
type Door interface {
	// Admit makes a way in for one attachment, with a key of its own. The first call binds the address. Errors are *Error (KindFailed).
	Admit(a Admission) (Pass, error)
	// Close refuses new calls, cancels those under way, waits for them and gives the address back, or stops when ctx ends. Idempotent.
	Close(ctx context.Context) error
}

// Admission is what one attachment is shown and how its calls are answered. Read-only after Admit.
type Admission struct {
	Tools        []Tool // as tools/list shows them, in this order
	Instructions string // of the MCP server; "": none
	// Call answers one call; called concurrently, each from a goroutine of its own, with a ctx that ends when the agent cancels the
	// call, the pass is revoked or the door closes. Arguments are valid against the tool's schema. nil: every call is a tool error.
	Call func(ctx context.Context, call ToolUse) ToolAnswer
}

// Pass is one attachment's way in. Safe for concurrent use.
type Pass interface {
	// Server is how an agent that takes MCP servers by address reaches the door, key included (a secret); Shim how one does that
	// starts them as programs of its own.
	Server() MCPServer
	Shim() MCPServer
	// Listed is closed when the tools were asked for the first time.
	Listed() <-chan struct{}
	// Revoke ends the calls of the attachment, waits for them and makes its key worthless. Idempotent.
	Revoke()
}

// Tool is one tool of the workflow as an agent is shown it.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of the arguments: an object schema, JSON Schema 2020-12; nil: no arguments
	Timeout     time.Duration   // 0: none; for agents that must be told how long a call may take
}

// ToolUse is one call of a tool by an agent.
type ToolUse struct {
	Name string
	Args json.RawMessage // an object
	// Meta is _meta of the call as the agent sent it, an object; nil: none. Some agents name their own call there.
	Meta json.RawMessage
}

// ToolAnswer is what a call returns to the agent: text, or an error of the tool, which is text too.
type ToolAnswer struct {
	Text   string
	Failed bool
}

// MCPServer is an MCP server that an agent is given: by address, or by command.
type MCPServer struct {
	Name    string
	URL     string
	Headers []Pair
	Command string // absolute, or found on PATH
	Args    []string
	Env     []Pair
	Timeout time.Duration // the longest that one call may take; 0: the agent's own default
	Own     bool          // it is the door: its calls are allowed by identity and shown by what the door saw
}

// Pair is a name with its value. Values may be secrets.
type Pair struct{ Name, Value string }

// Equipper is a Connection whose agent can be given MCP servers, instructions and tools of the workflow.
type Equipper interface {
	// Equip says what the conversation is opened with; called before Open, once. An *Error of KindUnsupported says what cannot be given.
	Equip(e Equipment) error
	// Takes says which servers the agent takes, known once the protocol is initialized.
	Takes() (byAddress, byCommand bool)
}

// Equipment is what a provider conversation is opened with, new or loaded.
type Equipment struct {
	Servers []MCPServer
	// Instructions go into the agent's own channel for them where its AgentInfo.Channel is ChannelStart or ChannelEvery; "": none.
	Instructions string
	// Tools are told to the agent directly and not through a server, where AgentInfo.OwnTools; Call answers them. nil: none.
	Tools []Tool
	Call  func(ctx context.Context, call ToolUse) ToolAnswer
	// Listed is closed when the door was asked for its tools; nil: there is no door. Agents that answer before they know their tools are
	// held back until then, bounded.
	Listed <-chan struct{}
}

// Channel is where an agent takes the workflow's instructions.
type Channel string

// The channels. What changed later is told by Informer where the Connection is one, else it leads the next prompt, except with ChannelDoor,
// where every attach tells it anew.
const (
	ChannelLead  Channel = ""      // nowhere: they lead the message
	ChannelStart Channel = "start" // once, when the conversation is made
	ChannelEvery Channel = "every" // with every new and every load
	ChannelDoor  Channel = "door"  // the door's own MCP instructions, read at every new and load
)
