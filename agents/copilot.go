package agents

import (
	"path/filepath"
	"slices"
	"time"

	"xmd/agents/acp"
	"xmd/agents/native"
	"xmd/agents/past"
	"xmd/runtime"
)

// copilot is GitHub Copilot CLI, which speaks ACP itself.
var copilot = Profile{
	Name: "copilot", Shown: "Copilot", Transport: "acp",
	Adapter: Program{Command: "copilot", Args: []string{"--acp", "--allow-all-mcp-server-instructions"}, Package: "@github/copilot", Tested: "1.0.102"},
	Unasked: "reading files below the folder it works in",
	Confirm: true,
	// It asks whether to trust the folder, once.
	Native:   native.Interface{Open: []string{"--resume", "{id}"}},
	Settings: copilotSettings,
	Driver: acp.Profile{
		Mode:       "https://agentclientprotocol.com/protocol/session-modes#agent",
		Options:    []acp.Option{{ID: "allow_all", Value: "off"}}, // the person's settings can turn it on
		StartLimit: 30 * time.Second,                              // a version unpacks itself at its first start, 5 s
		HomeVar:    "COPILOT_HOME", HomeDir: ".copilot",
		NoFence:      true,
		Instructions: acp.Instructions{Channel: runtime.ChannelDoor},
		NoCommands:   true,
		AwaitsDoor:   2 * time.Second, // a first prompt at once was seen without the door\'s instructions; 1.0.89 asks only when it is prompted, and has the instructions by then
		// The title of a command is in the model's words; then that of its request is the same.
		DoorCall: acp.DoorCall{
			Member: []string{"title"}, Form: "{server}-{tool}", First: true,
			Asked: []acp.Sign{{Member: []string{"toolCall", "title"}, Value: "{tool}"}},
		},
		Forms:            past.Forms{ErrorText: []string{"Error: "}},
		Missing:          []acp.Shape{{Code: -32002, Member: "message", Prefix: "Resource not found: Session "}},
		RejectEnds:       true,
		OwnWords:         []string{"Info: ", "Error: "},
		Harmless:         []string{"Info: "},
		UsageIsTotal:     true,
		HandshakeVersion: true,
		DropsStdio:       true,
	},
}

// copilotSettings looks for the folders that Copilot was told to trust; the name of the file and of the member have changed once.
func copilotSettings(p person) []Finding {
	var trusted []string
	for _, name := range []string{"config.json", "settings.json"} {
		var config struct {
			Old []string `json:"trusted_folders"`
			New []string `json:"trustedFolders"`
		}
		if _, fault := p.readJSON(filepath.Join(p.home, name), &config); fault != nil {
			return fault
		}
		trusted = slices.Concat(trusted, config.Old, config.New)
	}
	if p.above(func(dir string) bool { return slices.Contains(trusted, dir) }) {
		return nil
	}
	return []Finding{p.say(Warning, "start `copilot` in "+p.root+" once and answer",
		"its own interface asks whether to trust %s, which xmd open and <Session.Launch> would show first", p.root)}
}
