package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"xmd/agents/sim"
)

func versionCommand() *command {
	return &command{name: "version", usage: "print the version", run: func(p *program, c *call) error {
		_, err := fmt.Fprintf(p.stdout, "xmd %s\n", version)
		return err
	}}
}

// simCommand runs the scripted agent; it reads its own flags.
func simCommand() *command {
	return &command{name: "sim", usage: "the scripted agent, an ACP program on stdio", raw: func(p *program, args []string) int {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		return sim.Main(ctx, args, p.stdin, p.stdout, p.stderr, p.env.get)
	}}
}

func agentsCommand() *command {
	return &command{
		name: "agents", usage: "list the agents and how each is found",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "look from `DIR` instead of here"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
		},
		run: listAgents,
	}
}

func listAgents(p *program, c *call) error {
	if len(c.args) > 0 {
		return &usageError{message: "agents takes no arguments"}
	}
	h, err := p.host(c)
	if err != nil {
		return err
	}
	list := h.agents.List()
	switch c.String("format") {
	case "json":
		enc := json.NewEncoder(p.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"v": 1, "default": h.agent, "agents": list})
	case "text":
	default:
		return &usageError{message: fmt.Sprintf("--format is text or json, not %q", c.String("format"))}
	}
	for _, a := range list {
		state := a.Found
		if a.Fetches != "" {
			state += ", fetches " + a.Fetches
		}
		if a.Problem != "" {
			state = "not available: " + a.Problem
		}
		_, _ = fmt.Fprintf(p.stdout, "%-10s %-8s %-10s %s\n", a.Name, a.Shown, a.Transport, state)
		if a.Unasked != "" {
			_, _ = fmt.Fprintf(p.stdout, "%30s runs unasked: %s\n", "", a.Unasked)
		}
	}
	return nil
}
