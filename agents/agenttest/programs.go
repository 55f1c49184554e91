package agenttest

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// manifests holds one npm project per real program: a package.json and the
// lock file that pins it.
//
//go:embed real/*/package.json real/*/package-lock.json
var manifests embed.FS

// Program is a real program that can be installed from its pinned manifest.
// Values are read-only and safe to copy.
type Program struct {
	// Name is the folder of the manifest, for example "codex-0.162.1".
	Name string
	// Version is the version the lock file pins.
	Version string
	// Bin is the command, relative to the install folder, with slashes.
	Bin string
	// OmitOptional leaves out optional dependencies: an adapter's own bundled
	// agent, which is never wanted here.
	OmitOptional bool
	// Home names the folder that its install script writes into in the environment, which is otherwise the person's. It gets one
	// inside the install: see ScriptHome.
	Home string
	// NeedsNode22 says that the command is a script for Node 22 or newer.
	NeedsNode22 bool
}

// Programs lists every real program in the order it is installed.
func Programs() []Program {
	return []Program{
		{Name: "node22", Version: "22.23.3", Bin: nodeBin()},
		{Name: "codex-acp", Version: "2.6.0", Bin: "node_modules/.bin/codex-acp", OmitOptional: true},
		{Name: "codex-0.153.2", Version: "0.153.2", Bin: "node_modules/.bin/codex"},
		{Name: "codex-0.162.1", Version: "0.162.1", Bin: "node_modules/.bin/codex"},
		{Name: "codex-0.171.0", Version: "0.171.0", Bin: "node_modules/.bin/codex"},
		{Name: "claude-agent-acp", Version: "0.101.0", Bin: "node_modules/.bin/claude-agent-acp", OmitOptional: true, NeedsNode22: true},
		{Name: "claude-2.1.210", Version: "2.1.210", Bin: "node_modules/.bin/claude"},
		{Name: "claude-2.1.332", Version: "2.1.332", Bin: "node_modules/.bin/claude"},
		{Name: "copilot-1.0.89", Version: "1.0.89", Bin: "node_modules/.bin/copilot"},
		{Name: "copilot-1.0.102", Version: "1.0.102", Bin: "node_modules/.bin/copilot"},
		{Name: "grok-1.0.5", Version: "1.0.5", Bin: "node_modules/.bin/grok", Home: "GROK_HOME"},
		{Name: "grok-1.0.41", Version: "1.0.41", Bin: "node_modules/.bin/grok", Home: "GROK_HOME"},
		{Name: "gemini-0.58.0", Version: "0.58.0", Bin: "node_modules/.bin/gemini"},
		{Name: "gemini-0.61.0", Version: "0.61.0", Bin: "node_modules/.bin/gemini"},
		{Name: "opencode-1.18.20", Version: "1.18.20", Bin: "node_modules/.bin/opencode"},
		{Name: "opencode-1.18.33", Version: "1.18.33", Bin: "node_modules/.bin/opencode"},
		{Name: "acpx", Version: "0.19.1", Bin: "node_modules/.bin/acpx", NeedsNode22: true},
		{Name: "mcp-conformance", Version: "0.1.16", Bin: "node_modules/@modelcontextprotocol/conformance/dist/index.js", NeedsNode22: true},
	}
}

// FindProgram returns the program of that name.
func FindProgram(name string) (Program, error) {
	for _, p := range Programs() {
		if p.Name == name {
			return p, nil
		}
	}
	return Program{}, fmt.Errorf("no real program is called %q: the folders of agents/agenttest/real are the names", name)
}

// Named returns the programs of those names; a name without a version stands for all of its versions and, of an agent, for its adapter too.
// No names: all programs.
func Named(names []string) ([]Program, error) {
	if len(names) == 0 {
		return Programs(), nil
	}
	var found []Program
	for _, name := range names {
		n := len(found)
		for _, p := range Programs() {
			if p.Name == name || strings.HasPrefix(p.Name, name+"-") || name == "claude" && p.Name == "node22" {
				found = append(found, p)
			}
		}
		if len(found) == n {
			_, err := FindProgram(name)
			return nil, err
		}
	}
	return found, nil
}

// CacheDir is where real programs are installed: $XMD_REAL_CACHE, else
// xmd-real in the person's cache folder. It need not exist yet.
func CacheDir() (string, error) {
	if dir := os.Getenv("XMD_REAL_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	base := os.Getenv("XDG_CACHE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no cache folder for the real programs: %w; set XMD_REAL_CACHE", err)
		}
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(base, "xmd-real"), nil
}

// Key is the digest of everything that decides what an install of p holds: its
// manifest, its lock file, what is left out, and the platform.
func (p Program) Key() (string, error) {
	h := sha256.New()
	for _, file := range []string{"package.json", "package-lock.json"} {
		data, err := p.manifest(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", file, len(data))
		h.Write(data)
	}
	fmt.Fprintf(h, "%v %s/%s", p.OmitOptional, runtime.GOOS, runtime.GOARCH)
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// Dir is the folder p is installed in under cache, whether or not it is there.
func (p Program) Dir(cache string) (string, error) {
	key, err := p.Key()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, p.Name+"-"+key), nil
}

// manifest reads one file of p's npm project.
func (p Program) manifest(file string) ([]byte, error) {
	data, err := manifests.ReadFile(path.Join("real", p.Name, file))
	if err != nil {
		return nil, fmt.Errorf("the manifest of %s: %w", p.Name, err)
	}
	return data, nil
}

// doneMarker is written last, inside the install, and holds the key.
const doneMarker = ".xmd-installed"

// Installed returns the absolute path of p's command if this exact pin is
// installed in the cache. The error says what to run otherwise.
func (p Program) Installed() (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	dir, err := p.Dir(cache)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, doneMarker)); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is not installed: run `go run ./agents/agenttest/real`", p.Name)
	} else if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, filepath.FromSlash(p.Bin))
	if _, err := os.Stat(bin); err != nil {
		return "", fmt.Errorf("%s is installed without its command: %w", p.Name, err)
	}
	return bin, nil
}

// nodeBin is where the platform's Node package keeps the interpreter.
func nodeBin() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return path.Join("node_modules", "node-"+runtime.GOOS+"-"+arch, "bin", "node")
}

// Report says what became of one program; a list of them is the JSON file
// that the installer leaves in the cache.
type Report struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Bin is the absolute path of the command, empty when not installed.
	Bin string `json:"bin,omitempty"`
	// Problem says why there is no Bin. Such a program is "not run", never passed.
	Problem string `json:"problem,omitempty"`
}

// WriteReports replaces the cache's programs.json, atomically.
func WriteReports(cache string, reports []Report) error {
	data, err := json.MarshalIndent(reports, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(cache, ".programs-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(cache, "programs.json"))
}
