package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/agents"
	"xmd/compat"
)

func agentsCommand() *command {
	return &command{
		name: "agents", args: "[AGENT…]", usage: "list the agents and how each is found",
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "probe", Usage: "start each installed agent, or those named, and show what it can; no model is asked"},
			&cli.StringFlag{Name: "C", Usage: "look from `DIR` instead of here"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
		},
		run: agentsMain,
	}
}

// agentLine is one agent as it is listed.
type agentLine struct {
	agents.Listing
	Version string  `json:"version,omitempty"` // of the program that changes
	Silent  string  `json:"versionProblem,omitempty"`
	Probe   *probed `json:"probe,omitempty"`
}

func agentsMain(p *program, c *call) error {
	if err := oneFormat(c); err != nil {
		return err
	}
	h, err := p.host(c)
	if err != nil {
		return err
	}
	for _, name := range c.args {
		if !slices.Contains(h.agents.Names(), name) {
			_, err := h.agents.Lookup(name)
			return err
		}
	}
	ctx, stop := p.signals(context.Background())
	defer stop()
	lines := h.lines(ctx, c.args)
	if c.Bool("probe") {
		h.probe(ctx, lines, len(c.args) > 0)
	}
	if code := signalCode(ctx); code != 0 {
		return exitCode(code)
	}
	if err := writeAgents(p.stdout, c.String("format"), h.agent, lines); err != nil {
		return err
	}
	return unprobed(lines, c.args)
}

// lines lists these agents, or all, with their versions.
func (h *host) lines(ctx context.Context, only []string) []agentLine {
	var lines []agentLine
	for _, l := range h.agents.List() {
		if len(only) == 0 || slices.Contains(only, l.Name) {
			lines = append(lines, agentLine{Listing: l})
		}
	}
	var all sync.WaitGroup
	for i := range lines {
		all.Go(func() { lines[i].Version, lines[i].Silent = h.version(ctx, lines[i].Listing) })
	}
	all.Wait()
	return lines
}

// versionLimit bounds a version command: a program that unpacks itself first takes 6 s.
const versionLimit = 20 * time.Second

// version asks a program for its version. A program that cannot be started is not asked, and one of which no such command is known tells it
// with the handshake alone. silent says why one that was asked told nothing.
func (h *host) version(ctx context.Context, l agents.Listing) (version, silent string) {
	if l.Problem != "" || l.VersionArgv == nil {
		return "", ""
	}
	limited, stop := context.WithTimeout(ctx, versionLimit)
	defer stop()
	aside, done, err := h.agents.Aside(l.Name)
	if err != nil {
		return "", err.Error()
	}
	defer done()
	line, err := versionOf(limited, l.VersionArgv, slices.Concat(l.VersionEnv, aside), h.dir)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Sprintf("it did not end within %s", versionLimit)
	case err != nil:
		return "", err.Error()
	}
	version, ok := compat.ParseVersion(line)
	if !ok {
		return "", fmt.Sprintf("there is none in %q", line)
	}
	return version, ""
}

func writeAgents(w io.Writer, format, chosen string, lines []agentLine) error {
	if format == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"v": 1, "default": chosen, "agents": lines})
	}
	var b strings.Builder
	for _, a := range lines {
		a.write(&b)
	}
	_, err := io.WriteString(w, printable(b.String()))
	return err
}

// more is the beginning of a line that says more of the agent above it.
const more = "           "

func (a agentLine) write(b *strings.Builder) {
	fmt.Fprintf(b, "%-10s %-8s %-10s %s\n", a.Name, a.Shown, a.Transport, a.state())
	if a.Problem == "" && a.Install != "" {
		fmt.Fprintf(b, "%sinstall: %s\n", more, a.Install)
	}
	if a.Silent != "" {
		fmt.Fprintf(b, "%sno version: %s: %s\n", more, strings.Join(a.VersionArgv, " "), a.Silent)
	}
	if a.Unasked != "" {
		fmt.Fprintf(b, "%sruns unasked: %s\n", more, a.Unasked)
	}
	if a.Probe != nil {
		a.Probe.write(b)
	}
}

// state says whether the agent is installed, and how it was found.
func (a agentLine) state() string {
	if a.Problem != "" {
		return "not available: " + a.Problem
	}
	state := a.Found
	switch {
	case a.Fetches != "":
		state += ", fetches " + a.Fetches
	case a.AdapterVersion != "" && a.CLI != "":
		state += ", adapter " + a.AdapterVersion
	}
	if a.Version == "" {
		return state
	}
	return a.Version + ", " + state
}
