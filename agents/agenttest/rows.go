package agenttest

import "slices"

// The real programs. What tests them needs XMD_REAL=1 and what `go run ./agents/agenttest/real` installs; `make real` does both.
var (
	codexVersions  = []string{"0.153.2", "0.162.1", "0.171.0"}
	claudeVersions = []string{"2.1.210", "2.1.332"}
	geminiVersions = []string{"0.58.0", "0.61.0"}
)

// How they are reached.
const (
	overServer = "app-server"
	overCodex  = "codex-acp 2.6.0"
	overClaude = "claude-agent-acp 0.101.0"
	overItself = "its own ACP"
)

// kind is one real agent over one transport, in all its pinned versions.
type kind struct {
	Row
	name     string   // in xmd's documents, and of its program
	versions []string // the oldest first
	target   func(version string) Target
	environ  func(Place, string) ([]string, error)
}

// kinds are the rows of the table.
var kinds = []kind{
	{Row{"Codex", overServer}, "codex", codexVersions, CodexServer, CodexEnv},
	{Row{"Codex", overCodex}, "codex", codexVersions, Codex, CodexEnv},
	{Row{"Claude", overClaude}, "claude", claudeVersions, Claude, ClaudeEnv},
	{Row{"Gemini", overItself}, "gemini", geminiVersions, Gemini, GeminiEnv},
	{Row{"Copilot", overItself}, "copilot", []string{"1.0.89", "1.0.102"}, Copilot, CopilotEnv},
	{Row{"Grok", overItself}, "grok", []string{"1.0.5", "1.0.41"}, Grok, GrokEnv},
	{Row{"OpenCode", overItself}, "opencode", []string{"1.18.20", "1.18.33"}, OpenCode, OpenCodeEnv},
}

// chain is a row of versions that a conversation goes through: all of them, oldest first, or newest first; then back to the first if they
// are only two.
func (k kind) chain(c column) []string {
	versions := slices.Clone(k.versions)
	if c == colDowngrade {
		slices.Reverse(versions)
	}
	if len(versions) == 2 {
		versions = append(versions, versions[0])
	}
	return versions
}
