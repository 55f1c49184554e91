package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"xmd/agents"
	"xmd/compat"
	"xmd/runtime"
	"xmd/runtime/store"
)

// host is this machine as a command uses it: folders, configuration, agents.
type host struct {
	env      environment
	dir      string // the run's directory, a real path
	stateDir string
	config   config
	agents   *agents.Registry
	agent    string // the default agent
}

// host works out where a command runs. It opens no store and starts nothing.
func (p *program) host(c *call) (*host, error) {
	return p.hostIn(c, first(c.String("C"), "."))
}

// hostIn is host for a given directory.
func (p *program) hostIn(c *call, dir string) (*host, error) {
	dir, err := runDir(dir)
	if err != nil {
		return nil, err
	}
	cfg, err := loadConfig(dir, p.env)
	if err != nil {
		return nil, err
	}
	return p.hostWith(c, dir, cfg)
}

// runDir is the real path of a run's directory.
func runDir(given string) (string, error) {
	dir, err := filepath.Abs(given)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", runtime.Errorf(runtime.KindUsage, "the run's directory %s cannot be used: %w", given, plainError(err))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", runtime.Errorf(runtime.KindUsage, "%s is no directory", dir)
	}
	return dir, nil
}

// hostWith is host for a run's directory and a configuration.
func (p *program) hostWith(c *call, dir string, cfg config) (*host, error) {
	h := &host{env: p.env, dir: dir, config: cfg}
	var err error
	if h.stateDir, err = p.stateDir(c); err != nil {
		return nil, err
	}
	h.agents = agents.New(agents.Options{Env: p.env, Config: cfg.custom(), Self: self(), Native: nativeProgram})
	h.agent = first(c.String("agent"), p.env.get("XMD_AGENT"), cfg.Agent)
	return h, nil
}

// stateDir is the folder of the store.
func (p *program) stateDir(c *call) (string, error) { return p.stateDirOf(c.String("state-dir")) }

// stateDirOf is stateDir for what --state-dir says; "" if it is not given.
func (p *program) stateDirOf(given string) (string, error) {
	dir := first(given, p.env.get("XMD_STATE_DIR"), filepath.Join(p.env.stateHome(), "xmd"))
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", runtime.Errorf(runtime.KindUsage, "--state-dir: %w", err)
	}
	return dir, nil
}

// openStore opens the state folder.
func (p *program) openStore(ctx context.Context, c *call) (*store.Store, error) {
	dir, err := p.stateDir(c)
	if err != nil {
		return nil, err
	}
	return p.storeIn(ctx, store.Options{Dir: dir})
}

// readStore opens the state folder for reading alone.
func (p *program) readStore(ctx context.Context, c *call) (*store.Store, error) {
	dir, err := p.stateDir(c)
	if err != nil {
		return nil, err
	}
	return p.storeIn(ctx, store.Options{Dir: dir, ReadOnly: true})
}

func (p *program) storeIn(ctx context.Context, o store.Options) (*store.Store, error) {
	o.UserDir, o.BootID = filepath.Join(p.env.stateHome(), "xmd"), bootID()
	s, err := store.Open(ctx, o)
	if err != nil {
		return nil, storeFailed(err)
	}
	return s, nil
}

// store opens the state folder.
func (h *host) store(ctx context.Context) (*store.Store, error) {
	s, err := store.Open(ctx, store.Options{Dir: h.stateDir, UserDir: filepath.Join(h.env.stateHome(), "xmd"), BootID: bootID()})
	if err == nil {
		return s, nil
	}
	return nil, storeFailed(err)
}

// first is the first value that is not empty.
func first[T ~string](values ...T) T {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// self is the path of this program, for the agent sim.
func self() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// bootID tells one start of the machine from another; "" where the system has none.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// checkDefault refuses a default agent that this machine does not know; whether it is installed shows when it is used.
func (h *host) checkDefault() error {
	if h.agent == "" {
		return nil
	}
	if _, err := h.agents.Lookup(h.agent); err != nil && runtime.KindOf(err) == runtime.KindInvalid {
		return err
	}
	return nil
}

// nativeProgram is the file whose digest tells builds of an agent apart; "" when there is none that would.
func nativeProgram(agent, command string) string {
	find := map[string]func(string) (string, bool){
		"codex": compat.NativeCodex, "claude": compat.NativeClaude, "copilot": compat.NativeCopilot, "grok": compat.NativeGrok,
		"gemini": compat.NativeGemini, "opencode": compat.NativeOpenCode,
	}[agent]
	if find == nil {
		return command // the configuration's executable: the person says which file it is
	}
	path, _ := find(command)
	return path
}
