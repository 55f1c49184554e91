package main

import (
	"context"
	"fmt"
	"path/filepath"

	"xmd/agents/proc"
	"xmd/compat"
	"xmd/runtime"
)

// versionBytes bounds what is read of a program's --version.
const versionBytes = 64 << 10

// observer is compat as the runtime wants it.
type observer struct {
	*compat.Observer
	env []string
}

// observer observes agents' programs, which get what agents get: no secrets of these names.
func (h *host) observer(secrets ...string) *observer {
	return &observer{
		compat.NewObserver(compat.Options{Run: versionOf, Cache: compat.NewDirCache(filepath.Join(h.stateDir, "digests"))}),
		h.env.forChildren(secrets...),
	}
}

// Begin starts observing an agent's program.
func (o *observer) Begin(ctx context.Context, info runtime.AgentInfo) runtime.Observation {
	env := info.VersionEnv
	if env == nil {
		env = o.env
	}
	handshake := len(info.VersionArgv) == 0
	return observation{o.Observer.Begin(ctx, compat.Program{
		Agent: info.Name, Shown: info.Shown, VersionArgv: info.VersionArgv, Env: env,
		Executable: info.Executable, HandshakeVersion: handshake,
	}), handshake}
}

// Warning is the line that is due for a session; the runtime asks once per session.
func (o *observer) Warning(shown string, established *runtime.Build, seen runtime.Build) string {
	var was *compat.Build
	if established != nil {
		b := compat.Build(*established)
		was = &b
	}
	line, _ := compat.Warning(shown, was, compat.Build(seen), was == nil)
	return line
}

type observation struct {
	*compat.Observation
	handshake bool
}

// Build waits, bounded, for what can be known by now.
func (o observation) Build(ctx context.Context, up <-chan struct{}, handshake string) runtime.Build {
	if o.handshake {
		o.Handshake(handshake)
	}
	return runtime.Build(o.Result(ctx, up))
}

// versionOf runs a program's --version and returns the first line it prints.
func versionOf(ctx context.Context, argv, env []string, dir string) (string, error) {
	r, err := proc.Output(ctx, argv, env, dir, versionBytes)
	if err != nil {
		return "", err
	}
	if r.Exit.Code != 0 {
		return "", fmt.Errorf("%s ended with code %d", argv[0], r.Exit.Code)
	}
	return r.FirstLine(), nil
}
