package main

import (
	"context"
	"fmt"
	"os"

	"xmd/agents/door"
)

// doorShim is `xmd door-shim`, which xmd itself has agents start: it stands in no list of commands. Address and key come from the
// environment, where other users cannot read them, and do not stay there.
func doorShim(p *program, args []string) int {
	address, key := p.env.get(door.EnvAddress), p.env.get(door.EnvKey)
	p.env = nil
	for _, name := range []string{door.EnvAddress, door.EnvKey} {
		_ = os.Unsetenv(name) // fails for names that are none
	}
	if len(args) > 0 {
		fmt.Fprintf(p.stderr, "xmd %s: it takes no arguments; xmd itself starts this command\n", door.ShimCommand)
		return 2
	}
	return door.ShimMain(context.Background(), address, key, p.stdin, p.stdout, p.stderr)
}
