package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"xmd/agents"
	"xmd/agents/proc"
)

func doctorCommand() *command {
	return &command{
		name: "doctor", usage: "check this machine, the agents and the settings that matter; changes nothing",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "look from `DIR` instead of here"},
			&cli.StringFlag{Name: "state-dir", Usage: "the state folder"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
		},
		run: doctorMain,
	}
}

func doctorMain(p *program, c *call) error {
	if err := oneFormat(c); err != nil {
		return err
	}
	if len(c.args) > 0 {
		return &usageError{message: "doctor takes no arguments"}
	}
	dir, err := runDir(first(c.String("C"), "."))
	if err != nil {
		return err
	}
	ctx, stop := p.signals(context.Background())
	defer stop()
	found := append(checkMachine(), checkPlaces(p.env)...)
	cfg, ofConfig := checkConfig(dir, p.env)
	h, err := p.hostWith(c, dir, cfg)
	if err != nil {
		return err
	}
	found = slices.Concat(found, ofConfig, checkStore(ctx, h.stateDir), h.lookAtAgents(ctx))
	if code := signalCode(ctx); code != 0 {
		return exitCode(code)
	}
	return tell(p.stdout, c.String("format"), found)
}

// checkMachine says what of an agent ends with xmd here.
func checkMachine() []agents.Finding {
	whole, words := proc.Reach()
	if !whole {
		return []agents.Finding{{Level: agents.Warning, About: "system", Says: words, Do: "look for left processes after xmd was killed"}}
	}
	return []agents.Finding{{Level: agents.OK, About: "system", Says: "everything that an agent starts ends with it, also when xmd is killed"}}
}

// checkPlaces says where things are, and which variables say it in vain.
func checkPlaces(env environment) []agents.Finding {
	var found []agents.Finding
	if env.get("HOME") == "" {
		found = append(found, agents.Finding{Level: agents.Warning, About: "places", Says: "HOME is not set: agents do not find their sign-in and conversations", Do: "set HOME"})
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		if v := env.get(name); v != "" && v != env.xdg(name) {
			found = append(found, agents.Finding{Level: agents.Warning, About: "places",
				Says: fmt.Sprintf("%s is %q, which is no absolute path: it is ignored", name, v), Do: "give it an absolute path"})
		}
	}
	return append(found, agents.Finding{Level: agents.OK, About: "places",
		Says: fmt.Sprintf("configuration below %s, state below %s", env.configHome(), env.stateHome())})
}

// lookAtAgents asks every agent's program for its version, and looks at what the person has set for it.
func (h *host) lookAtAgents(ctx context.Context) []agents.Finding {
	var node string
	var asked sync.WaitGroup
	asked.Go(func() {
		limited, stop := context.WithTimeout(ctx, versionLimit)
		defer stop()
		node, _ = versionOf(limited, []string{"node", "--version"}, h.env.forChildren(), h.dir) // no node shows as ""
	})
	lines := h.lines(ctx, nil)
	asked.Wait()
	var found []agents.Finding
	if err := h.checkDefault(); err != nil {
		found = append(found, agents.Finding{Level: agents.Problem, About: "agents", Says: err.Error(), Do: "name another default agent"})
	}
	if !slices.ContainsFunc(lines, func(a agentLine) bool { return a.Problem == "" && a.Name != "sim" }) {
		found = append(found, agents.Finding{Level: agents.Problem, About: "agents", Says: "no agent is installed", Do: "install one of those below"})
	}
	for _, a := range lines {
		_, configured := h.config.Agents[a.Name]
		found = append(found, h.agents.Check(a.Listing, agents.Seen{
			Root: h.dir, Wanted: configured || a.Name == h.agent, Version: a.Version, Silent: a.Silent, Node: node,
		})...)
	}
	return found
}

// tell writes what was found, and fails when something of it is a problem.
func tell(w io.Writer, format string, found []agents.Finding) error {
	count := map[agents.Level]int{}
	for _, f := range found {
		count[f.Level]++
	}
	text := reportText(found, count)
	if format == "json" {
		data, err := json.MarshalIndent(map[string]any{"v": 1, "ok": count[agents.Problem] == 0, "checks": found}, "", "  ")
		if err != nil {
			return err
		}
		text = string(data) + "\n"
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	if count[agents.Problem] > 0 {
		return exitCode(1)
	}
	return nil
}

func reportText(found []agents.Finding, count map[agents.Level]int) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%-8s %-9s %s\n", f.Level, f.About, printable(f.Says))
		if f.Do != "" {
			fmt.Fprintf(&b, "%-18s → %s\n", "", printable(f.Do))
		}
	}
	fmt.Fprintf(&b, "\n%s, %s\n", counted(int64(count[agents.Problem]), "problem"), counted(int64(count[agents.Warning]), "warning"))
	return b.String()
}
