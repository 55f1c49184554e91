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
	dirs, err := binDirs(version, "copilot")
	if err != nil {
		return nil, err
	}
	// Where a version unpacks itself at its first start: once for each install, not for each home.
	cache := filepath.Join(dirs[0], "..", "..", "cache")
	if version == Installed {
		cache = filepath.Join(p.Home, ".cache")
	}
	return append(personEnv(p, dirs),
		"COPILOT_OFFLINE=true",
		"COPILOT_PROVIDER_BASE_URL="+p.Model+"/v1",
		"COPILOT_PROVIDER_API_KEY=x",
		"COPILOT_MODEL=fake-1",
		"COPILOT_AUTO_UPDATE=false",
		"XDG_CACHE_HOME="+cache,
	), nil
}

// GrokEnv is the whole environment in which a person has that version of Grok, with a home in p.Home and the model p.Model. It puts into
// that home what the install script of Grok puts there. The error says what is not installed.
func GrokEnv(p Place, version string) ([]string, error) {
	dirs, err := binDirs(version, "grok")
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
	target := filepath.Join(dirs[0], "..", "..", ScriptHome, "bin", "grok-"+version)
	if version == Installed {
		if target, err = filepath.EvalSymlinks(filepath.Join(dirs[0], "grok")); err != nil {
			return nil, err
		}
	}
	if err := os.Symlink(target, program); err != nil {
		return nil, err
	}
	return append(personEnv(p, dirs), "XAI_API_KEY=x", "GROK_XAI_API_BASE_URL="+p.Model+"/xai/v1"), nil
}
