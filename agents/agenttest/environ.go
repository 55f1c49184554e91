package agenttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// CodexEnv is the whole environment in which a person has that version (Installed: the one on PATH) of Codex, the adapter, and a Codex home in p.Home
// whose model is p.Model. It writes the home's config.toml. The error says what is not installed.
func CodexEnv(p Place, version string) ([]string, error) {
	dirs, err := binDirs(version, "codex", "codex-acp")
	if err != nil {
		return nil, err
	}
	home := filepath.Join(p.Home, ".codex")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	// No sign-in is asked for when the provider has its key in the environment. The model is in no catalogue, so Codex
	// offers its plain tools and warns about it before every answer.
	config := fmt.Sprintf(`model = "gpt-5-codex"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = %q
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
`, p.Model+"/v1")
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	return append(personEnv(p, dirs), "FAKE_KEY=x"), nil
}

// ClaudeEnv is the whole environment in which a person has that version of Claude, the adapter with the Node it needs, and a
// home in p.Home. No file is needed in it. The error says what is not installed.
func ClaudeEnv(p Place, version string) ([]string, error) {
	dirs, err := binDirs(version, "claude", "claude-agent-acp", "node22")
	if err != nil {
		return nil, err
	}
	return append(personEnv(p, dirs),
		"ANTHROPIC_BASE_URL="+p.Model,
		"ANTHROPIC_API_KEY=sk-scripted",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=0", // a model that fails shows at once
	), nil
}

// personEnv is what any program needs, and nothing of whoever runs the tests: no keys, no homes.
func personEnv(p Place, dirs []string) []string {
	path := strings.Join(append(dirs, os.Getenv("PATH")), string(os.PathListSeparator))
	return []string{"HOME=" + p.Home, "PATH=" + path, "LANG=C.UTF-8", "TERM=dumb", "SHELL=/bin/bash", "TZ=UTC"}
}
