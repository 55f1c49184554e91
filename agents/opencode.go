package agents

import (
	"time"

	"xmd/agents/acp"
	"xmd/agents/native"
	"xmd/runtime"
)

// openCodeAsks makes OpenCode ask, whatever the person's configuration allows: without it only files outside of the folder are asked for.
const openCodeAsks = `OPENCODE_PERMISSION={"bash":"ask","edit":"ask","webfetch":"ask","external_directory":"ask"}`

// openCodeWaits keeps OpenCode from ending a call of a server's tool after a minute.
const openCodeWaits = `OPENCODE_CONFIG_CONTENT={"experimental":{"mcp_timeout":86400000}}`

// openCode is OpenCode, which speaks ACP itself.
var openCode = Profile{
	Name: "opencode", Shown: "OpenCode", Transport: "acp",
	Adapter: Program{Command: "opencode", Args: []string{"acp"}, Package: "opencode-ai", Tested: "1.18.33"},
	Env:     []string{openCodeAsks},
	Weak:    []string{openCodeWaits},
	AskMode: "build",
	Unasked: "reading and searching files below the folder it works in, and the tools of its own servers",
	Confirm: true,
	Native:  native.Interface{Open: []string{"-s", "{id}"}},
	Driver: acp.Profile{
		StartLimit:   60 * time.Second, // 2 s, 10 s at its first start, more where much else runs
		HomeDir:      ".local/share/opencode",
		NoFence:      true,
		Instructions: acp.Instructions{Channel: runtime.ChannelDoor},
		DoorCall:     acp.DoorCall{Member: []string{"title"}, Form: "{server}_{tool}", First: true, NeverAsks: true},
		// The same error comes when its database is damaged.
		Missing:          []acp.Shape{{Code: -32603, Member: "data.service", Prefix: "session"}},
		Unlisted:         true,
		SignIn:           "run `opencode auth login`",
		RejectEnds:       true,
		HandshakeVersion: true,
	},
}
