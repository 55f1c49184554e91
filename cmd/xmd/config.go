package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"xmd/agents"
	"xmd/lang/resolve"
	"xmd/runtime"
)

// config is xmd.toml or the user's config.toml. The tags are all that is known of the keys: the reader, the checks, the messages and the
// schema are made of them. say tells what a key is for; words are what its value may be, where that is a closed list; form is how it is
// written otherwise. Unknown keys are errors at their position.
type config struct {
	Agent   string                 `toml:"agent" say:"the agent of prompts that name none"`
	Policy  string                 `toml:"policy" words:"approve-all,approve-reads,ask,deny-all" say:"the permission policy, as the flag of this name"`
	Secrets []string               `toml:"secrets" say:"names of environment variables whose values are secrets of every run in which they are set"`
	Limits  limits                 `toml:"limits" say:"limits of every run, as the flags of these names"`
	Agents  map[string]agentConfig `toml:"agents" say:"agents by name: one of your own, or another way to start a known one"`
}

// limits is [limits].
type limits struct {
	Timeout       string  `toml:"timeout" form:"duration" say:"end the run after this long"`
	TimeoutPrompt string  `toml:"timeout-prompt" form:"duration" say:"end the run when a prompt takes longer than this"`
	TimeoutExec   string  `toml:"timeout-exec" form:"duration" say:"end the run when an exec block takes longer than this"`
	MaxTurns      int64   `toml:"max-turns" say:"end the run before it sends more prompts than this"`
	MaxTokens     int64   `toml:"max-tokens" say:"end the run when agents have reported more tokens than this"`
	MaxCost       float64 `toml:"max-cost" say:"end the run when agents have reported a higher cost than this"`
	IdleTimeout   string  `toml:"idle-timeout" form:"duration" say:"cancel a turn in which the agent shows nothing for this long"`
}

// agentConfig is one [agents.NAME].
type agentConfig struct {
	Command    string            `toml:"command" say:"the program that is started"`
	Args       []string          `toml:"args" say:"its arguments"`
	Env        map[string]string `toml:"env" say:"variables that are added to its environment"`
	Transport  string            `toml:"transport" words:"acp,app-server" say:"how it is spoken to; app-server is of codex alone"`
	Executable string            `toml:"executable" say:"the file whose digest tells builds apart"`
	Version    []string          `toml:"version" say:"a command that prints its version; without it the handshake's is taken"`

	Home         string   `toml:"home" say:"where it keeps its conversations"`
	Model        string   `toml:"model" say:"the model of prompts that choose none"`
	Effort       string   `toml:"effort" say:"the effort of prompts that choose none"`
	Mode         string   `toml:"mode" say:"the mode in which it asks before it acts"`
	Instructions string   `toml:"instructions" words:"lead,start,every,door" say:"where it takes the workflow's instructions: before the words, in its own place once or with every load, or by the door"`
	Confirm      string   `toml:"confirm" words:"list,history" say:"what confirms the identity of a conversation; either, if left out"`
	Reject       string   `toml:"reject" words:"ends,continues" say:"what becomes of the turn when a permission is refused"`
	Fence        string   `toml:"fence" say:"the update behind a replay, or answer; 2 s of silence, if left out"`
	Noise        []string `toml:"noise" say:"beginnings of messages that are not the model's"`
}

// loadConfig reads the project's file (found upward from dir) over the user's. A missing file is no error.
func loadConfig(dir string, env environment) (config, error) {
	var merged config
	for _, path := range []string{filepath.Join(env.configHome(), "xmd", "config.toml"), findUpward(dir, "xmd.toml")} {
		if path == "" {
			continue
		}
		c, err := readConfig(path, dir)
		if err != nil {
			return config{}, err
		}
		merged.add(c)
	}
	return merged, nil
}

// add lays c over what is there.
func (m *config) add(c config) {
	m.Agent, m.Policy = first(c.Agent, m.Agent), first(c.Policy, m.Policy)
	m.Secrets = append(m.Secrets, c.Secrets...) // what is secret stays so
	m.Limits = limits{
		Timeout: first(c.Limits.Timeout, m.Limits.Timeout), TimeoutPrompt: first(c.Limits.TimeoutPrompt, m.Limits.TimeoutPrompt),
		TimeoutExec: first(c.Limits.TimeoutExec, m.Limits.TimeoutExec), IdleTimeout: first(c.Limits.IdleTimeout, m.Limits.IdleTimeout),
		MaxTurns: cmp.Or(c.Limits.MaxTurns, m.Limits.MaxTurns), MaxTokens: cmp.Or(c.Limits.MaxTokens, m.Limits.MaxTokens), MaxCost: cmp.Or(c.Limits.MaxCost, m.Limits.MaxCost),
	}
	for name, a := range c.Agents {
		if m.Agents == nil {
			m.Agents = map[string]agentConfig{}
		}
		m.Agents[name] = a
	}
}

// readConfig reads one file for runs in dir. A missing file is no error.
func readConfig(path, dir string) (config, error) {
	var c config
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, runtime.Errorf(runtime.KindUsage, "cannot read the configuration: %w", plainError(err))
	}
	if owner := strangeOwner(path, dir); owner != "" {
		return c, runtime.Errorf(runtime.KindUsage, "%s belongs to %s, who could have any program started by it: take it over with chown, or run in a folder that is not below it",
			path, owner)
	}
	return parseConfig(path, text)
}

// parseConfig reads the text of a configuration.
func parseConfig(path string, text []byte) (c config, err error) {
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&c); err != nil {
		return c, configError(path, err)
	}
	return c, c.check(path, text)
}

// configError words what go-toml found, at its place.
func configError(path string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		first := strict.Errors[0]
		row, col := first.Position()
		return runtime.Errorf(runtime.KindUsage, "%s:%d:%d: unknown key %q; known are %s", path, row, col, strings.Join(first.Key(), "."), knownKeys())
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, col := decode.Position()
		what := strings.TrimPrefix(decode.Error(), "toml: ")
		if key := decode.Key(); len(key) > 0 {
			if form := formOf(reflect.TypeFor[config](), key); form != "" {
				what = strings.Join(key, ".") + " has to be " + form
			}
		}
		return runtime.Errorf(runtime.KindUsage, "%s:%d:%d: %s", path, row, col, what)
	}
	return runtime.Errorf(runtime.KindUsage, "%s: %w", path, err)
}

// check refuses what cannot be meant. text is the file's.
func (c config) check(path string, text []byte) error {
	var wrong error
	refuse := func(key []string, format string, args ...any) {
		if wrong == nil {
			row, col := placeOf(text, key...)
			wrong = runtime.Errorf(runtime.KindUsage, "%s:%d:%d: %s", path, row, col, fmt.Sprintf(format, args...))
		}
	}
	eachWord(reflect.ValueOf(c), nil, func(key []string, k configKey, value string) {
		last := key[len(key)-1]
		switch {
		case len(key) == 3 && last == "transport":
			k.words = agents.Transports(key[1])
		case len(key) == 3 && last == "instructions":
			k.words = agents.Channels(transportOf(key[1], c.Agents[key[1]]))
		}
		switch _, err := resolve.Duration(value); {
		case k.form == formDuration && err != nil:
			refuse(key, "%s: %v", strings.Join(key, "."), err)
		case k.words == nil || slices.Contains(k.words, value):
		case len(key) == 3:
			refuse(key, "[agents.%s] there is no %s %q for this agent; write \"%s\"", key[1], last, value, strings.Join(k.words, `" or "`))
		default:
			refuse(key, "there is no %s %q; write \"%s\"", last, value, strings.Join(k.words, `" or "`))
		}
	})
	return wrong
}

// transportOf is what an agent is reached over as a table says.
func transportOf(name string, a agentConfig) string {
	switch {
	case a.Transport != "":
		return a.Transport
	case a.Command != "":
		return "acp"
	}
	return agents.Transports(name)[0]
}

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
	return agents.Custom{
		Command: a.Command, Args: a.Args, Env: a.Env, Transport: a.Transport, Executable: a.Executable, Version: a.Version,
		Home: a.Home, Model: a.Model, Effort: a.Effort, Mode: a.Mode, Instructions: a.Instructions,
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

// override lays what the variables XMD_POLICY and XMD_TIMEOUT… say over the configuration.
func (c *config) override(env environment) error {
	var wrong error
	for _, one := range []struct {
		name string
		to   *string
		ok   func(string) error
	}{
		{"XMD_POLICY", &c.Policy, isPolicy}, {"XMD_TIMEOUT", &c.Limits.Timeout, isDuration}, {"XMD_IDLE_TIMEOUT", &c.Limits.IdleTimeout, isDuration},
		{"XMD_TIMEOUT_PROMPT", &c.Limits.TimeoutPrompt, isDuration}, {"XMD_TIMEOUT_EXEC", &c.Limits.TimeoutExec, isDuration},
	} {
		value := env.get(one.name)
		if value == "" {
			continue
		}
		if err := one.ok(value); err != nil && wrong == nil {
			wrong = runtime.Errorf(runtime.KindUsage, "%s: %w", one.name, err)
		}
		*one.to = value
	}
	return wrong
}

func isPolicy(word string) error {
	if policies[word] == "" {
		return fmt.Errorf("there is no policy %q; write approve-all, approve-reads, ask or deny-all", word)
	}
	return nil
}

func isDuration(text string) error {
	_, err := resolve.Duration(text)
	return err
}
