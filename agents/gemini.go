package agents

import (
	"time"

	"xmd/agents/acp"
	"xmd/agents/native"
	"xmd/agents/past"
	"xmd/runtime"
)

// gemini is Gemini CLI, which speaks ACP itself. It has no list of conversations, but looks for the id inside its files.
var gemini = Profile{
	Name: "gemini", Shown: "Gemini", Transport: "acp",
	Adapter:     Program{Command: "gemini", Args: []string{"--acp"}, Package: "@google/gemini-cli", Tested: "0.61.0", Node: 20},
	Env:         []string{"GEMINI_CLI_NO_RELAUNCH=true"}, // else it starts itself a second time
	Unasked:     "reading and searching files below the folder it works in",
	ConfirmLoad: true,
	// It asks whether to trust the folder, once.
	Native:   native.Interface{Open: []string{"--resume", "{id}"}},
	Settings: geminiSettings,
	// Its start makes the file of a conversation without a turn, and deletes what its clean-up is told to; --version leaves files too.
	ProbeHome: "GEMINI_CLI_HOME",
	Driver: acp.Profile{
		Mode:       "default",
		StartLimit: 60 * time.Second, // 2 to 10 s
		HomeTop:    "GEMINI_CLI_HOME", HomeDir: ".gemini",
		// It does not wait for what it replays, only for room in its pipe: the fence is on its way when a message is longer than that.
		Fence: "available_commands_update", Trails: 300 * time.Millisecond,
		Instructions: acp.Instructions{Channel: runtime.ChannelDoor},
		AwaitsDoor:   5 * time.Second, // it asks before it answers a new or a load
		DoorCall:     acp.DoorCall{Member: []string{"toolCallId"}, Form: "mcp_{server}_{tool}__{rest}"},
		DoorMissed:   "it starts no tool servers in a folder that it does not trust, and says nothing of it; run `gemini` there and trust it, or set GEMINI_CLI_TRUST_WORKSPACE=true",
		Forms: past.Forms{Synthetic: []past.Frame{
			{Open: "<session_context>", Close: "</session_context>"},
			{Open: "[Function Response: ", Close: "]"},
		}},
		WholeTurns: true,
		Trims:      true,
		Unsaid:     []past.Frame{{Open: "[Function Call: ", Close: "]"}},
		Missing: []acp.Shape{
			{Code: -32603, Member: "data.details", Prefix: "Invalid session identifier "},
			{Code: -32603, Member: "data.details", Prefix: "No previous sessions found for this project."},
		},
		Unlisted:         true,
		Files:            "tmp/*/chats/session-{minute}-{id8}.json*",
		MinuteLoses:      true,
		Twins:            true,
		SignIn:           "run `gemini` and choose /auth, or set GEMINI_API_KEY",
		Noise:            []string{"[MODE_UPDATE] "},
		HandshakeVersion: true,
	},
}
