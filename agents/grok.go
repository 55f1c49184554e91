package agents

import (
	"time"

	"xmd/agents/acp"
	"xmd/agents/native"
	"xmd/runtime"
)

// grok is xAI's Grok, which speaks ACP itself. Without its leader no process of it outlives the one that xmd starts.
var grok = Profile{
	Name: "grok", Shown: "Grok", Transport: "acp",
	Adapter: Program{Command: "grok", Args: []string{"agent", "--no-leader", "stdio"}, Package: "@xai-official/grok", Tested: "1.0.41"},
	Unasked: "reading files and commands it takes to be harmless, since 1.0.41 touch and mkdir too",
	// The id in the answer to a load is the one that was asked for, whatever the conversation's own files say; the list reads them.
	Confirm: true,
	Native:  native.Interface{Open: []string{"--resume", "{id}"}},
	Driver: acp.Profile{
		StartLimit: 30 * time.Second, // its script unpacks the program at the first start, 6 s
		HomeVar:    "GROK_HOME", HomeDir: ".grok",
		NoFence:      true,
		Instructions: acp.Instructions{Channel: runtime.ChannelStart, Member: "_meta.rules", Form: "{text}"},
		Ready:        "_x.ai/mcp_initialized",
		DoorCall: acp.DoorCall{
			Member: []string{"rawInput", "tool_name"}, Form: "{server}__{tool}",
			With: []acp.Sign{{Member: []string{"_meta", "x.ai/tool", "name"}, Value: "use_tool"}}, // any tool may be given such an input
		},
		TurnEnd: acp.TurnEnd{Method: "_x.ai/session/update", Kind: "turn_completed", Member: "stop_reason", Normal: "end_turn"},
		// The same error comes for a conversation of another folder, which the list names.
		Missing:          []acp.Shape{{Code: -32603, Member: "data.code", Prefix: "FS_NOT_FOUND"}},
		Unlisted:         true,
		SignIn:           "run `grok` and sign in, or set XAI_API_KEY",
		RejectEnds:       true,
		HandshakeVersion: true,
	},
}
