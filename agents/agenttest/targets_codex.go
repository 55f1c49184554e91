package agenttest

import (
	"path/filepath"
	"testing"

	"xmd/agents"
)

// CodexServer is real Codex of that version over its own app-server; the test is skipped as not run if it is not installed.
func CodexServer(version string) Target {
	target := Codex(version)
	target.Name, target.Version, target.Row = "codex-app-server "+version, version, Row{"Codex", overServer}
	target.At = codexOver("app-server", version, codexProgram)
	target.Script.ToolAsks = true // there is nothing that it does unasked and tells of
	return target
}

// CodexLauncher is CodexServer started by the launcher that npm puts before the program.
func CodexLauncher(version string) Target {
	target := CodexServer(version)
	target.Name = "codex-launcher " + version
	target.At = codexOver("app-server", version, nil)
	return target
}

// codexOver is Codex over one of its transports. program finds what is behind npm's launcher; nil: it is started itself.
func codexOver(transport, version string, program func(agent, command string) string) func(testing.TB, Place) Reach {
	return func(t testing.TB, p Place) Reach {
		t.Helper()
		env, err := CodexEnv(p, version)
		if err != nil {
			NotRun(t, err.Error())
		}
		a, err := agents.New(agents.Options{
			Env: env, Native: program, Config: map[string]agents.Custom{"codex": {Transport: transport}},
		}).Lookup("codex")
		if err != nil {
			t.Fatal(err)
		}
		return Reach{Agent: a, Env: env}
	}
}

// codexProgram is the program behind npm's launcher of Codex.
func codexProgram(_, command string) string {
	file, err := filepath.EvalSymlinks(command)
	if err != nil {
		return ""
	}
	return onlyOne(filepath.Join(filepath.Dir(file), "..", "..", "codex-*", "vendor", "*", "bin", "codex"))
}
