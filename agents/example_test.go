package agents_test

import (
	"fmt"

	"xmd/agents"
)

func ExampleRegistry_Lookup() {
	known := agents.New(agents.Options{
		Env:  []string{"PATH=/nowhere", "HOME=/home/me"},
		Self: "/usr/bin/xmd",
	})
	for _, name := range []string{"sim", "codex", "cloude"} {
		if agent, err := known.Lookup(name); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println(agent.Info().Command)
		}
	}
	// Output:
	// [/usr/bin/xmd sim]
	// Codex is not installed: there is no "codex" on PATH; install it with `npm install -g @openai/codex`, or name it as executable under [agents.codex] in xmd.toml
	// there is no agent "cloude"; did you mean "claude"? known are claude, codex, copilot, gemini, grok, opencode, sim; others are declared as [agents.NAME] in xmd.toml
}
