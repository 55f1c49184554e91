package agenttest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// CopilotEnv is the whole environment in which a person has that version of Copilot, with a home in p.Home and the model p.Model. No file
// is needed in it. The error says what is not installed.
func CopilotEnv(p Place, version string) ([]string, error) {
	dirs, err := binDirs("copilot-" + version)
	if err != nil {
		return nil, err
	}
	return append(personEnv(p, dirs),
		"COPILOT_OFFLINE=true",
		"COPILOT_PROVIDER_BASE_URL="+p.Model+"/v1",
		"COPILOT_PROVIDER_API_KEY=x",
		"COPILOT_MODEL=fake-1",
		"COPILOT_AUTO_UPDATE=false",
		// Where a version unpacks itself at its first start: once for each install, not for each home.
		"XDG_CACHE_HOME="+filepath.Join(dirs[0], "..", "..", "cache"),
	), nil
}

// GrokEnv is the whole environment in which a person has that version of Grok, with a home in p.Home and the model p.Model. It puts into
// that home what the install script of Grok puts there. The error says what is not installed.
func GrokEnv(p Place, version string) ([]string, error) {
	dirs, err := binDirs("grok-" + version)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(p.Home, ".grok", "bin", "grok")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return nil, err
	}
	if err := os.Remove(program); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.Symlink(filepath.Join(dirs[0], "..", "..", ScriptHome, "bin", "grok-"+version), program); err != nil {
		return nil, err
	}
	return append(personEnv(p, dirs), "XAI_API_KEY=x", "GROK_XAI_API_BASE_URL="+p.Model+"/xai/v1"), nil
}
