package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"xmd/agents"
	"xmd/runtime"
)

// config is xmd.toml or the user's config.toml. Unknown keys are errors at their position.
type config struct {
	Agent  string                 `toml:"agent"` // the default agent
	Agents map[string]agentConfig `toml:"agents"`
}

// agentConfig is one [agents.NAME].
type agentConfig struct {
	Command    string            `toml:"command"`
	Args       []string          `toml:"args"`
	Env        map[string]string `toml:"env"`
	Transport  string            `toml:"transport"`
	Executable string            `toml:"executable"` // the CLI whose build is observed
	Version    []string          `toml:"version"`    // argv that prints its version

	Instructions string `toml:"instructions"` // where it takes the workflow's: lead, start, every, door
}

// loadConfig reads the project's file (found upward from dir) over the user's. A missing file is no error.
func loadConfig(dir string, env environment) (config, error) {
	var merged config
	for _, path := range []string{filepath.Join(env.configHome(), "xmd", "config.toml"), findUpward(dir, "xmd.toml")} {
		if path == "" {
			continue
		}
		c, err := readConfig(path)
		if err != nil {
			return config{}, err
		}
		merged.add(c)
	}
	return merged, nil
}

// add lays c over what is there.
func (m *config) add(c config) {
	if c.Agent != "" {
		m.Agent = c.Agent
	}
	for name, a := range c.Agents {
		if m.Agents == nil {
			m.Agents = map[string]agentConfig{}
		}
		m.Agents[name] = a
	}
}

func readConfig(path string) (config, error) {
	var c config
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, runtime.Errorf(runtime.KindUsage, "cannot read the configuration: %w", err)
	}
	defer func() { _ = f.Close() }()
	err = toml.NewDecoder(f).DisallowUnknownFields().Decode(&c)
	if err == nil {
		return c, c.check(path)
	}
	return c, configError(path, err)
}

// configError words what go-toml found, at its place.
func configError(path string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		first := strict.Errors[0]
		row, col := first.Position()
		return runtime.Errorf(runtime.KindUsage, "%s:%d:%d: unknown key %q; known are agent and [agents.NAME] with command, args, env, transport, executable, version",
			path, row, col, strings.Join(first.Key(), "."))
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, col := decode.Position()
		return runtime.Errorf(runtime.KindUsage, "%s:%d:%d: %s", path, row, col, strings.TrimPrefix(decode.Error(), "toml: "))
	}
	return runtime.Errorf(runtime.KindUsage, "%s: %w", path, err)
}

// check refuses what cannot be meant.
func (c config) check(path string) error {
	for name, a := range c.Agents {
		if known := agents.Transports(name); a.Transport != "" && !slices.Contains(known, a.Transport) {
			return runtime.Errorf(runtime.KindUsage, "%s: [agents.%s] there is no transport %q for this agent; write \"%s\"", path, name, a.Transport, strings.Join(known, `" or "`))
		}
	}
	return nil
}

// custom turns the agents of the configuration into what the registry takes.
func (c config) custom() map[string]agents.Custom {
	out := make(map[string]agents.Custom, len(c.Agents))
	for name, a := range c.Agents {
		out[name] = agents.Custom{Command: a.Command, Args: a.Args, Env: a.Env, Transport: a.Transport, Executable: a.Executable, Version: a.Version, Instructions: a.Instructions}
	}
	return out
}

// findUpward is the nearest file of that name in dir or above it; "" when there is none.
func findUpward(dir, name string) string {
	for {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
