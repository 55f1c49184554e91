//go:build unix

package proc_test

import (
	"context"
	"fmt"
	"io"
	"time"

	"xmd/agents/proc"
)

// A program that calls Start calls GuardianMain first; the test binary does so in
// TestMain.
func ExampleStart() {
	p, err := proc.Start(context.Background(), proc.Options{
		Argv: []string{"sh", "-c", "cat; echo ready to go >&2; exit 3"}, Env: []string{"PATH=/usr/bin:/bin"},
		EOFWait: time.Minute,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Stdout.Close()
	io.WriteString(p.Stdin, "hello\n")
	p.CloseStdin()
	out, _ := io.ReadAll(p.Stdout)
	fmt.Printf("%s%v, %q\n", out, p.Exit(), p.LastLines(5))
	// Output:
	// hello
	// exit code 3, ["ready to go"]
}
