package agents

import (
	"context"
	"os"
	"time"

	"xmd/agents/link"
	"xmd/runtime"
)

// teller is a connection of which it can be told what its agent can do.
type teller interface {
	Capabilities(context.Context) link.Capabilities
}

// probeEnd bounds the end of an agent that was probed; what its driver allows it is shorter.
const probeEnd = 30 * time.Second

// Probe starts an agent, shakes hands, and ends it: no conversation is made and no prompt sent. It returns when no process of the agent is
// left. The start is bounded as that of a run is. Nothing is downloaded for it: an agent whose adapter is not installed cannot be probed.
// Errors are *runtime.Error, as of Lookup and runtime.Agent.Start.
func (r *Registry) Probe(ctx context.Context, name string, o runtime.StartOptions) (told link.Capabilities, err error) {
	p, ok := r.row(name)
	if !ok {
		return told, r.unknown(name)
	}
	w, err := r.find(p)
	if err != nil {
		return told, err
	}
	if w.fetches != "" {
		return told, r.fail(p, runtime.KindUnavailable, "%s is reached through %s, which is not installed: install it with `%s`", p.Shown, p.Adapter.Command, w.install)
	}
	aside, done, err := r.Aside(name)
	if err != nil {
		return told, err
	}
	defer done()
	w.env = append(w.env, aside...)
	c, err := w.agent(r.o.Version).Start(ctx, o)
	if err != nil {
		return told, err
	}
	told = c.(teller).Capabilities(ctx)
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), probeEnd)
	defer stop()
	if err := c.Close(end); err != nil {
		return told, r.fail(p, runtime.KindFailed, "%s was started and does not end: %w", p.Shown, err)
	}
	if ctx.Err() != nil {
		return told, r.fail(p, runtime.KindCancelled, "%w", context.Cause(ctx))
	}
	return told, nil
}

// Aside is what is added to the environment of an agent that is started only to be asked something, as KEY=value: a home made for it, where
// its start alone would change the person's. done removes it, when no process of the agent is left.
func (r *Registry) Aside(name string) (env []string, done func(), err error) {
	p, _ := r.row(name)
	if p.ProbeHome == "" {
		return nil, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "xmd-probe-")
	if err != nil {
		return nil, nil, r.fail(p, runtime.KindUnavailable, "%s needs a folder to be started in: %w", p.Shown, err)
	}
	return []string{p.ProbeHome + "=" + dir}, func() { _ = os.RemoveAll(dir) }, nil // what is left is the system's to clean
}
