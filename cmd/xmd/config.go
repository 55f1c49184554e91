package main

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

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

	Home         string   `toml:"home"`
	Model        string   `toml:"model"`
	Effort       string   `toml:"effort"`
	Mode         string   `toml:"mode"`
	Instructions string   `toml:"instructions"`
	Confirm      string   `toml:"confirm"`
	Reject       string   `toml:"reject"`
	Fence        string   `toml:"fence"`
	Noise        []string `toml:"noise"`
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
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, runtime.Errorf(runtime.KindUsage, "cannot read the configuration: %w", plainError(err))
	}
	err = toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&c)
	if err == nil {
		return c, c.check(path, text)
	}
	return c, configError(path, err)
}

// configError words what go-toml found, at its place.
func configError(path string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		first := strict.Errors[0]
		row, col := first.Position()
		return runtime.Errorf(runtime.KindUsage, "%s:%d:%d: unknown key %q; known are agent and [agents.NAME] with command, args, env, transport, executable, version, home, model, effort, mode, instructions, confirm, reject, fence, noise",
			path, row, col, strings.Join(first.Key(), "."))
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, col := decode.Position()
		return runtime.Errorf(runtime.KindUsage, "%s:%d:%d: %s", path, row, col, strings.TrimPrefix(decode.Error(), "toml: "))
	}
	return runtime.Errorf(runtime.KindUsage, "%s: %w", path, err)
}

// check refuses what cannot be meant. text is the file's.
func (c config) check(path string, text []byte) error {
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		for _, one := range []struct {
			key, value string
			known      []string
		}{
			{"transport", a.Transport, agents.Transports(name)},
			{"instructions", a.Instructions, []string{instructionsLead, instructionsDoor}},
			{"confirm", a.Confirm, []string{agents.ConfirmList, agents.ConfirmHistory}},
			{"reject", a.Reject, []string{agents.RejectEnds, agents.RejectContinues}},
		} {
			if one.value == "" || slices.Contains(one.known, one.value) {
				continue
			}
			row, col := placeOf(text, "agents", name, one.key)
			return runtime.Errorf(runtime.KindUsage, "%s:%d:%d: [agents.%s] there is no %s %q for this agent; write \"%s\"",
				path, row, col, name, one.key, one.value, strings.Join(one.known, `" or "`))
		}
	}
	return nil
}

// Words of the key instructions.
const (
	instructionsLead = "lead"
	instructionsDoor = "door"
)

// placeOf finds where a key of a file that could be read stands, or the key whose value holds it.
func placeOf(text []byte, path ...string) (row, col int) {
	var p unstable.Parser
	p.Reset(text)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.KeyValue {
			continue
		}
		var keys []string
		first := unstable.Range{}
		for it := e.Key(); it.Next(); {
			if keys == nil {
				first = it.Node().Raw
			}
			keys = append(keys, string(it.Node().Data))
		}
		if e.Kind == unstable.Table {
			table = keys
			continue
		}
		if full := slices.Concat(table, keys); len(full) <= len(path) && slices.Equal(full, path[:len(full)]) {
			start := p.Shape(first).Start
			return start.Line, start.Column
		}
	}
	return 1, 1
}

// custom turns the agents of the configuration into what the registry takes.
func (c config) custom() map[string]agents.Custom {
	out := make(map[string]agents.Custom, len(c.Agents))
	for name, a := range c.Agents {
		out[name] = a.custom()
	}
	return out
}

func (a agentConfig) custom() agents.Custom {
	channel := runtime.ChannelLead
	if a.Instructions == instructionsDoor {
		channel = runtime.ChannelDoor
	}
	return agents.Custom{
		Command: a.Command, Args: a.Args, Env: a.Env, Transport: a.Transport, Executable: a.Executable, Version: a.Version,
		Home: a.Home, Model: a.Model, Effort: a.Effort, Mode: a.Mode, Instructions: channel, InstructionsGiven: a.Instructions != "",
		Confirm: a.Confirm, Reject: a.Reject, Fence: a.Fence, Noise: a.Noise,
	}
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
