package sim_test

import (
	"context"
	"os"
	"strings"

	"xmd/agents/sim"
)

// An agent that says it is another version: for what looks after versions.
func Example() {
	noEnv := func(string) string { return "" }
	sim.Main(context.Background(), []string{"--version", "--fault", "version=codex-cli 0.162.1"},
		strings.NewReader(""), os.Stdout, os.Stderr, noEnv)
	// Output: codex-cli 0.162.1
}
