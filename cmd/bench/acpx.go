//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// acpx is the other client that is measured where it is installed. A nil one measures nothing.
type acpx struct {
	*bench
	node, cli string
}

// program is a call of it. Its background process ends after a second without work.
func (a *acpx) program(p *place, agent []string, args ...string) program {
	command := strings.Join(append([]string{p.agent}, agent...), " ")
	return p.program(append([]string{a.node, a.cli, "--cwd", p.work(), "--ttl", "1", "--agent", command}, args...)...)
}

// measured is what a call takes; nil if it is not installed.
func (a *acpx) measured(p *place, args ...string) func(int) (sample, error) {
	if a == nil {
		return nil
	}
	return func(int) (sample, error) {
		o, err := a.run(a.program(p, nil, args...))
		if err == nil {
			err = a.idle()
		}
		return o.sample, err
	}
}

// further is a prompt on a session that exists. Each is a process of its own; there is no other way to send one.
func (a *acpx) further(p *place) func(int) (sample, error) {
	if a == nil {
		return nil
	}
	prompt := a.measured(p, "--format", "quiet", "prompt", "-s", "bench", "ping")
	return func(i int) (sample, error) {
		if i == 0 {
			if _, err := a.run(a.program(p, nil, "sessions", "new", "--name", "bench")); err != nil {
				return sample{}, err
			}
		}
		return prompt(i)
	}
}

const threeNodes = `import { acp, defineFlow } from "acpx/flows";
export default defineFlow({
  name: "three", startAt: "a",
  nodes: { a: acp({ prompt: () => "ping" }), b: acp({ prompt: () => "ping" }), c: acp({ prompt: () => "ping" }) },
  edges: [{ from: "a", to: "b" }, { from: "b", to: "c" }],
});
`

// flow is three prompts in one of its workflows.
func (a *acpx) flow(p *place) func(int) (sample, error) {
	if a == nil {
		return nil
	}
	const name = "three.flow.ts"
	run := a.measured(p, "--format", "quiet", "flow", "run", name)
	return func(i int) (sample, error) {
		if err := os.WriteFile(filepath.Join(p.work(), name), []byte(threeNodes), 0o600); err != nil {
			return sample{}, err
		}
		return run(i)
	}
}

// idle waits until its background process is gone, so that it is in nobody's way.
func (a *acpx) idle() error {
	var err error
	for range 100 {
		if err = a.gone(); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("acpx: %w", err)
}
