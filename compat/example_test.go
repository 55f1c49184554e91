package compat_test

import (
	"context"
	"fmt"

	"xmd/compat"
)

// An observation begins beside the agent's start and ends in at most one line.
func Example() {
	run := func(context.Context, []string, []string, string) (string, error) { return "codex-cli 0.162.1\n", nil }
	o := compat.NewObserver(compat.Options{Run: run})
	defer o.Close()

	up := make(chan struct{})
	look := o.Begin(context.Background(), compat.Program{Agent: "codex", VersionArgv: []string{"codex", "--version"}})
	close(up) // the agent is up
	seen := look.Result(context.Background(), up)
	established := &compat.Build{Version: "0.153.2"} // from the session's route
	for range 2 {
		if line, due := look.Warn("codex:review", established, seen, false); due {
			fmt.Println(line)
		}
	}
	// Output:
	// Codex has changed from 0.153.2 to 0.162.1 since this session was established. Continuing the existing conversation.
}
