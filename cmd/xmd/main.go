// Command xmd runs workflow documents: Markdown with components that drive coding agents.
package main

import (
	"os"

	"xmd/agents/proc"
)

// version is set by the linker; "dev" for a plain go build.
var version = "dev"

func main() {
	proc.GuardianMain() // before anything else: a guardian must start in milliseconds
	proc.AdoptOrphans()
	os.Exit(run(&program{
		args: os.Args[1:], env: os.Environ(),
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
	}))
}
