package main

import (
	"context"
	"fmt"

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
