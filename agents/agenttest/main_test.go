package agenttest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"xmd/agents/door"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "replay" {
		if err := replay(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "replay:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == door.ShimCommand {
		os.Exit(door.ShimMain(context.Background(), os.Getenv(door.EnvAddress), os.Getenv(door.EnvKey), os.Stdin, os.Stdout, os.Stderr))
	}
	Main(m)
}
