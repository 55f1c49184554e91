package agents

import (
	"encoding/json"
	"time"

	"xmd/agents/acp"
	"xmd/agents/codex"
	"xmd/agents/native"
	"xmd/agents/past"
	"xmd/runtime"
)

// Profile is what is known of one agent: a row of the table below. Read-only.
type Profile struct {
	Name      string // as in documents
	Shown     string // as shown to people
	Transport string
	Adapter   Program // what xmd starts
	CLI       Program // the person's own program behind the adapter; zero: the adapter is the agent
	Points    string  // the environment variable that points the adapter at the CLI
	Env       []string
	Weak      []string // environment that is set only where there is none of that name
	Serves    []string // arguments with which the CLI speaks the transport itself; nil: the adapter does
	AskMode   string   // the mode Env starts it in, where the driver sets none
	Version   []string // arguments with which the CLI prints its version; nil: the handshake tells it
	Unasked   string   // what it does without asking in the mode xmd starts it in
	Confirm   bool     // its own session list may confirm identity
	// ConfirmLoad says that a load that succeeded confirms identity too: the agent compares the id with the one it kept.
	ConfirmLoad bool
	ListOnly    bool             // nothing but the list confirms identity, not a history that matches
	Defaults    runtime.Settings // of prompts that choose none
	Home        string           // as the configuration says; "": as Driver finds it
	leads       bool             // the configuration says that instructions lead the message
	Own         bool             // xmd itself: found without looking, and given XMD_SIM_* of the environment
	Driver      acp.Profile
	Native      native.Interface // of its own, for people; zero: xmd does not open it
	// Settings looks at what of the person's own settings endangers conversations; nil: nothing of the kind is known.
	Settings func(person) []Finding
	// ProbeHome is a variable that gives the agent another home, for one whose start alone changes the conversations of its home. "": the
	// person's own serves.
	ProbeHome string
}

// Program is a command and where it comes from.
type Program struct {
	Command string
	Args    []string
	Package string // on npm
	Tested  string // the version this build was tested with; what npx fetches
	Node    int    // the major version of Node that it asks for; 0: none, or any
}

// rawMessages asks Claude's adapter for two of the CLI's own messages; they state the id and the version of the CLI.
const rawMessages = `{"claudeCode":{"emitRawSDKMessages":[{"type":"system","subtype":"init"},{"type":"result"}]}}`

// profiles is the table of the agents that are built in. Of one that is reached over several transports the first is what it is reached
// over when nothing else is said.
var profiles = []Profile{
	codexServer, codexACP,
	{
		Name: "claude", Shown: "Claude", Transport: "acp",
		Adapter: Program{Command: "claude-agent-acp", Package: "@agentclientprotocol/claude-agent-acp", Tested: "0.101.0", Node: 22},
		CLI:     Program{Command: "claude", Package: "@anthropic-ai/claude-code"},
		Points:  "CLAUDE_CODE_EXECUTABLE",
		Version: []string{"--version"},
		Unasked: "reading files and harmless commands such as echo",
		Confirm: true,
		// It asks for a theme, a sign-in and whether to trust the folder, once each. 2.1.210 forgets the layer on resume, 2.1.332 does not.
		Native: native.Interface{
			Open:         []string{"--resume", "{id}"},
			Begin:        []string{"--session-id", "{id}"},
			Instructions: []string{"--append-system-prompt-file", "{file}"},
		},
		Settings: claudeSettings,
		Driver: acp.Profile{
			Mode: "default", Meta: json.RawMessage(rawMessages),
			// 2.1.210 takes what comes with every load, and drops it where nothing comes; from 2.1.300 on the first that it saw stays.
			Instructions: acp.Instructions{Channel: runtime.ChannelEvery, Member: "_meta.systemPrompt", Form: `{"append":{text}}`},
			DoorCall: acp.DoorCall{
				Member: []string{"_meta", "claudeCode", "toolName"}, Form: "mcp__{server}__{tool}",
				Unless: []acp.Sign{
					{Member: []string{"_meta", "claudeCode", "mcpServer", "name"}, Value: "{server}"},
					{Member: []string{"_meta", "claudeCode", "mcpServer", "source"}, Value: "dynamic"}, // not of the person's configuration
				},
			},
			StartLimit: 30 * time.Second,
			EOFWait:    5 * time.Second, // the CLI behind it may live on for 3 s
			HomeVar:    "CLAUDE_CONFIG_DIR", HomeDir: ".claude",
			NoFence: true, // what follows a load, 2.1.210 does not always send
			Forms: past.Forms{
				Synthetic: []past.Frame{{Open: "[Request interrupted by user", Close: "]"}},
				Summary:   "This session is being continued from a previous conversation",
				ErrorText: []string{"API Error: ", "Failed to authenticate. API Error: "},
			},
			Missing:     []acp.Shape{{Code: -32002, Member: "message", Prefix: "Resource not found"}},
			SignIn:      "run `claude` and type /login",
			CostIsTotal: true,

			CompactTitle: "Compact conversation",
		},
	},
	copilot, grok, gemini, openCode,
	{
		Name: "sim", Shown: "sim", Transport: "acp",
		Adapter: Program{Args: []string{"sim"}},
		Unasked: "nothing: it is a script",
		Confirm: true,
		Own:     true,
		Native: native.Interface{
			Open:         []string{"--native", "--resume", "{id}"},
			Begin:        []string{"--native", "--session-id", "{id}"},
			Instructions: []string{"--system-prompt-file", "{file}"},
			Version:      []string{"--version"},
			WriterLock:   "sessions/{id}.jsonl.lock",
			LockHome:     "XMD_SIM_HOME",
			FreeWait:     90 * time.Second,
		},
		Driver: acp.Profile{
			Mode:       "ask",
			StartLimit: 30 * time.Second,
			Asserts:    true,
			Fence:      "available_commands_update",
			DoorCall:   acp.DoorCall{Member: []string{"_meta", "sim", "server"}, Form: "{server}", Tool: []string{"_meta", "sim", "tool"}},
			Forms:      past.Forms{Summary: "This conversation goes on from an earlier one of "},
			Missing:    []acp.Shape{{Code: -32002}},
			Busy:       []acp.Shape{{Code: -32600, Member: "data.reason", Prefix: "thread_active_writer"}},

			NoticeWithoutID:  true,
			Harmless:         []string{"Warning: "},
			HandshakeVersion: true,
			CompletedMark:    "completed",
		},
	},
}

// home is where the agent keeps its conversations, in an environment of KEY=value; "" when it cannot be told.
func (p Profile) home(env []string) string {
	if p.Transport == transportServer {
		return codex.Home(env)
	}
	return p.Driver.Home(env)
}

// homeVar names that folder in the agent's environment; "": nothing does.
func (p Profile) homeVar() string {
	if p.Transport == transportServer {
		return "CODEX_HOME"
	}
	return p.Driver.HomeVar
}

// askMode is the mode in which the agent asks before it acts; "" when no name is known for it.
func (p Profile) askMode() string {
	if p.Driver.Mode != "" {
		return p.Driver.Mode
	}
	return p.AskMode
}

// customProfile is the row of an agent of which only the configuration knows.
func customProfile(name string) Profile {
	return Profile{
		Name: name, Shown: name, Transport: "acp",
		Unasked: "unknown: xmd does not know this agent",
		Confirm: true,
		Driver: acp.Profile{
			StartLimit:       30 * time.Second,
			Missing:          []acp.Shape{{Code: -32002}},
			RejectEnds:       true,
			HandshakeVersion: true,
		},
	}
}

// builtIn finds a row of the table.
func builtIn(name string) (Profile, bool) {
	for _, p := range profiles {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}
