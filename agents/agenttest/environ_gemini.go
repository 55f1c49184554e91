package agenttest

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// GeminiEnv is the whole environment in which a person has that version of Gemini CLI, with a home in p.Home whose model is p.Model. It
// writes the home's settings.json, which leaves Gemini's clean-up of conversations as it is by default. The error says what is not
// installed.
func GeminiEnv(p Place, version string) ([]string, error) {
	dirs, err := binDirs(version, "gemini")
	if err != nil {
		return nil, err
	}
	settings := map[string]any{
		"security":  map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"privacy":   map[string]any{"usageStatisticsEnabled": false},
		"telemetry": map[string]any{"enabled": false},
		"general":   map[string]any{"enableAutoUpdate": false},
		"model":     map[string]any{"name": "gemini-2.5-flash"},
	}
	if err := writeConfig(filepath.Join(p.Home, ".gemini", "settings.json"), settings); err != nil {
		return nil, err
	}
	// What Gemini reports of an error goes to the folder for temporary files.
	tmp := filepath.Join(p.Home, "tmp")
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return nil, err
	}
	return append(personEnv(p, dirs),
		"GEMINI_API_KEY=x",
		"GOOGLE_GEMINI_BASE_URL="+p.Model,
		"GEMINI_CLI_TRUST_WORKSPACE=true", // a folder that is not trusted has no tool servers, and nothing says so
		"TMPDIR="+tmp,
	), nil
}

// OpenCodeEnv is the whole environment in which a person has that version of OpenCode, with a home in p.Home whose model is p.Model. It
// writes the home's opencode.json, which says nothing of permissions. The error says what is not installed.
func OpenCodeEnv(p Place, version string) ([]string, error) {
	dirs, err := binDirs(version, "opencode")
	if err != nil {
		return nil, err
	}
	config := map[string]any{
		"autoupdate": false, "share": "disabled",
		"model": "scripted/fake-1", "small_model": "scripted/fake-1", "enabled_providers": []string{"scripted"},
		"provider": map[string]any{"scripted": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
			"options": map[string]any{"baseURL": p.Model + "/v1", "apiKey": "x"},
			"models": map[string]any{"fake-1": map[string]any{
				"name": "Scripted One", "limit": map[string]any{"context": 100_000_000, "output": 8000},
			}},
		}},
	}
	if err := writeConfig(filepath.Join(p.Home, ".config", "opencode", "opencode.json"), config); err != nil {
		return nil, err
	}
	return append(personEnv(p, dirs),
		"OPENCODE_DISABLE_AUTOUPDATE=1",
		"OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"npm_config_registry=http://127.0.0.1:9", // nothing is fetched while tests run
	), nil
}

func writeConfig(file string, v any) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}
