package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"xmd/agents/link"
	"xmd/runtime"
)

// probed is what an agent told when it was started.
type probed struct {
	*link.Capabilities
	Took  string `json:"took,omitempty"`
	Fault string `json:"problem,omitempty"` // why it could not be probed
	err   error
}

// probesAtOnce keeps agents from waiting for each other longer than their starts may take.
const probesAtOnce = 3

// probe starts agents, a few at once, each in the run's directory as a run would. Where they are not named, those that are not installed are
// left alone.
func (h *host) probe(ctx context.Context, lines []agentLine, named bool) {
	var all sync.WaitGroup
	free := make(chan struct{}, probesAtOnce)
	for i := range lines {
		if !named && (lines[i].Problem != "" || lines[i].Fetches != "") {
			continue
		}
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			lines[i].Probe = h.probeOne(ctx, lines[i].Name)
		})
	}
	all.Wait()
}

func (h *host) probeOne(ctx context.Context, name string) *probed {
	begun := time.Now()
	told, err := h.agents.Probe(ctx, name, runtime.StartOptions{Root: h.dir, Env: h.env.forChildren()})
	if err != nil {
		return &probed{Fault: err.Error(), err: err}
	}
	return &probed{Capabilities: &told, Took: time.Since(begun).Round(10 * time.Millisecond).String()}
}

// unprobed is the error of the first agent that was named and could not be probed; it has been said in the list.
func unprobed(lines []agentLine, named []string) error {
	for _, a := range lines {
		if len(named) > 0 && a.Probe != nil && a.Probe.err != nil {
			return exitCode(runtime.KindUnavailable.ExitCode())
		}
	}
	return nil
}

func (p *probed) write(b *strings.Builder) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%s%s: "+format+"\n", append([]any{more, name}, args...)...)
	}
	if p.Fault != "" {
		line("probe", "%s", strings.ReplaceAll(p.Fault, "\n", "\n"+more))
		return
	}
	who := strings.TrimSpace(p.Name + " " + p.Version)
	if who == "" {
		who = "it tells neither name nor version"
	}
	line("probe", "%s; started and ended in %s", who, p.Took)
	able := "cannot be loaded"
	if p.Load {
		able = "can be loaded"
	}
	if p.List {
		able += " and listed"
	}
	if len(p.More) > 0 {
		able += "; also " + strings.Join(p.More, ", ")
	}
	line("conversations", "%s", able)
	line("tool servers", "%s", strings.Join(p.Servers, ", "))
	if len(p.Modes) > 0 {
		line("modes", "%s", strings.Join(p.Modes, ", "))
	}
	if len(p.SignIn) > 0 {
		line("ways to sign in", "%s", strings.Join(p.SignIn, ", "))
	}
	if p.SignedOut {
		line("sign-in", "missing, as it says itself")
	}
}
