package agents

import (
	"os"
	"path/filepath"
	"time"

	"xmd/agents/acp"
	"xmd/agents/codex"
	"xmd/agents/native"
	"xmd/agents/rollout"
	"xmd/runtime"
)

// transportServer is that of Codex's own app-server.
const transportServer = "app-server"

// codexServer is Codex over its own app-server, with no adapter between.
var codexServer = Profile{
	Name: "codex", Shown: "Codex", Transport: transportServer,
	CLI:     Program{Command: "codex", Package: "@openai/codex"},
	Points:  "CODEX_PATH",
	Serves:  []string{"app-server"},
	AskMode: codex.AskMode,
	Unasked: "web searches, and tools that an MCP server calls read-only",
	Native:  codexNative,

	Settings: codexSettings,
}

// codexACP is Codex over its adapter.
var codexACP = Profile{
	Name: "codex", Shown: "Codex", Transport: "acp",
	Adapter: Program{Command: "codex-acp", Package: "@agentclientprotocol/codex-acp", Tested: "2.6.0"},
	CLI:     Program{Command: "codex", Package: "@openai/codex"},
	Points:  "CODEX_PATH",
	Env:     []string{"INITIAL_AGENT_MODE=read-only"},
	Version: []string{"--version"},
	Unasked: "shell commands, in a sandbox that can neither write nor reach the network",
	Native:  codexNative,

	Settings: codexSettings,
	Driver: acp.Profile{
		StartLimit:   30 * time.Second,
		Instructions: acp.Instructions{Channel: runtime.ChannelStart, Member: "systemPrompt", Form: acp.AppendPrompt},
		// It calls every call of a server's tool "execute", and leaves out a server whose name the person's configuration has.
		ServerMark: "is_mcp_tool_call",
		DoorFailed: "mcp_startup.{server}.",
		DoorCall: acp.DoorCall{
			Member: []string{"rawInput", "server"}, Form: "{server}", Tool: []string{"rawInput", "tool"},
			With:  []acp.Sign{{Member: []string{"_meta", "is_mcp_tool_call"}, Value: "true"}},
			Asked: []acp.Sign{{Member: []string{"_meta", "is_mcp_tool_approval"}, Value: "true"}},
		},
		EOFWait: 6 * time.Second, // leaves after 2 to 4.2 s
		HomeVar: "CODEX_HOME", HomeDir: ".codex",
		Evidence:        acp.EvidenceRollout,
		NoFence:         true,
		Forms:           rollout.Forms,
		Rewritten:       "codex-file-citation{", // codex-acp makes a link of it
		Missing:         []acp.Shape{{Code: -32603, Member: "data.details", Prefix: "no rollout found for thread id "}},
		Busy:            []acp.Shape{{Code: -32600, Member: "data.reason", Prefix: "thread_active_writer"}},
		BusyWait:        90 * time.Second, // its own programs let go of a conversation up to a minute after they were left
		SignIn:          "run `codex login`",
		RejectEnds:      true,
		NoticeWithoutID: true,
		Harmless:        []string{"Warning: ", "Config warning: "},
		CompactTitle:    "Compact conversation",
		CompactNotice:   "*Context compacted",
	},
}

// codexNative is Codex's own interface. It takes neither an id nor instructions for a new conversation; app-server does. A daemon that it began would keep the conversation locked for a minute after it was left. 0.153.2
// asks whether to trust the folder.
var codexNative = native.Interface{
	Open:       []string{"resume", "-c", "features.daemon_auto_start=false", "{id}"},
	Made:       true,
	Version:    []string{"--version"},
	WriterLock: "thread-writer-locks/{id}.lock",
	FreeWait:   90 * time.Second,
}

// codexSettings looks at Codex's config.toml. The daemon of its own interface (0.162.1 and later) is copied into the home when it is first
// started; the last interface that closes leaves it running with the conversation locked.
func codexSettings(p person) []Finding {
	file := filepath.Join(p.home, "config.toml")
	var config struct {
		Features struct {
			Daemon *bool `toml:"daemon_auto_start"`
		} `toml:"features"`
	}
	_, fault := p.readTOML(file, &config)
	if fault != nil {
		return fault
	}
	_, err := os.Stat(filepath.Join(p.home, "packages", "app-server-daemon"))
	on := config.Features.Daemon
	if on == nil && err != nil || on != nil && !*on {
		return []Finding{p.say(OK, "", "no daemon of its own interface keeps conversations locked")}
	}
	return []Finding{p.say(Warning, "write daemon_auto_start = false under [features] in "+file,
		"the daemon of its own interface keeps a conversation locked for about a minute after you left it, and a run waits for that")}
}
