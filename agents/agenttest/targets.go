package agenttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/agents"
	"xmd/agents/agenttest/model"
	"xmd/runtime"
)

const (
	tell = "Please remember this: the codeword is ZEBRA. Answer with OK."
	ask  = "Which codeword did I give you at the start?"
)

// Codex is real Codex of that version over its adapter; the test is skipped as not run if it is not installed.
func Codex(version string) Target {
	return Target{
		Name:    "codex " + version,
		Row:     Row{"Codex", overCodex},
		Release: version,
		Model:   startModel,
		At:      codexOver("acp", version, nil),
		Script:  codexScript(),
		Store: Store{
			Locks:   true,
			Unknown: otherID,
			Remove:  func(t testing.TB, p Place, id string) { t.Helper(); remove(t, Rollout(t, p, id)) },
			Empty:   func(t testing.TB, p Place, id string) *Reach { t.Helper(); CutRollout(t, p, id); return nil },
			Swap:    func(t testing.TB, p Place, id string) *Reach { t.Helper(); swapRollout(t, p, id); return nil },
			File:    rolloutFile,
			Ended:   `"type":"task_complete"`,
			Ends:    true,
		},
	}
}

// Claude is real Claude of that version over its adapter; the test is skipped as not run if it is not installed.
func Claude(version string) Target {
	return Target{
		Name:    "claude " + version,
		Row:     Row{"Claude", overClaude},
		Release: version,
		Model:   startModel,
		At:      realAgent("claude", version, ClaudeEnv),
		Script:  modelScript(),
		Store: Store{
			Unknown: otherID,
			Remove:  func(t testing.TB, p Place, id string) { t.Helper(); remove(t, claudeSession(t, p, id)) },
			Swap:    func(t testing.TB, p Place, id string) *Reach { t.Helper(); swapClaude(t, p, id); return nil },
			Swapped: SwapListed,
			File:    claudeFile,
			Ended:   `"stop_reason":"end_turn"`,
			Late:    true,
		},
	}
}

func startModel(t testing.TB) string {
	t.Helper()
	s, err := model.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // nobody is left to answer
	return s.URL()
}

func realAgent(name, version string, environ func(Place, string) ([]string, error)) func(testing.TB, Place) Reach {
	return func(t testing.TB, p Place) Reach {
		t.Helper()
		env, err := environ(p, version)
		if err != nil {
			NotRun(t, err.Error())
		}
		a, err := agents.New(agents.Options{Env: env}).Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		return Reach{Agent: a, Env: env}
	}
}

// modelScript is what the scripted model understands behind any agent.
func modelScript() Script {
	return Script{
		Tell: tell, Told: "OK, I will remember.",
		Ask: ask, Knows: "CODEWORD=ZEBRA",
		Stream: "STREAM 5", Streamed: "chunk 1 chunk 2 chunk 3 chunk 4 chunk 5 ",
		Think: "THINK a thought\nSAY done", Thought: "a thought",
		Steps: "SAY I will run it now.\nTHINK a thought\nRUN ls /\nSAY That was all.",
		Tool:  "RUN echo from-the-tool", ToolSays: "from-the-tool",
		Permit:  func(file string) string { return "ASK touch " + file + " && echo made" },
		Makes:   true,
		Allowed: "made",
		Call: func(server, value string) string {
			return "TOOL " + server + " " + theTool + ` {"value":"` + value + `"}`
		},
		Slow: "SLOW 200\nSTREAM 500",
		Fail: "HTTP 500", Failed: "temporary",
		Stay: func(file string) []string {
			return []string{"SAY I will run it now.\nASK touch " + file + " && tail -f /dev/null"}
		},
		StayFiles: true,
	}
}

// codexScript differs in what Codex makes of a plain echo: nothing is announced for it. And its adapter shows a citation in other words
// than the rollout has.
func codexScript() Script {
	s := modelScript()
	s.Steps = `SAY I will run it now, see :codex-file-citation{path="a.go"}.` + "\nRUN ls /\nSAY That was all."
	s.Tool, s.ToolSays = "RUN ls /", "usr"
	return s
}

// Sim is the scripted agent: this binary itself, whose TestMain is Main. Faults are those of `xmd sim`.
func Sim(faults ...string) Target {
	say := strings.Join(append([]string{"sim"}, faults...), " ")
	return Target{
		Name: say,
		At:   func(t testing.TB, p Place) Reach { t.Helper(); return simAt(t, p, faults...) },
		Script: Script{
			Tell: tell, Told: "turn 1: " + tell,
			Ask: ask, Knows: "ZEBRA",
			Stream: "CHUNKS 5 10", Streamed: strings.Repeat("xxxxxxxxx\n", 5),
			Think: "THINK a thought", Thought: "a thought",
			Steps:   "In steps",
			Tool:    "TOOLS 1",
			Permit:  func(string) string { return "PERM execute" },
			Allowed: "permission: allow_once",
			Call: func(server, value string) string {
				if server != runtime.DoorName {
					return "Use another server"
				}
				return "CALL " + theTool + ` {"value":"` + value + `"}`
			},
			Slow: "Count slowly",
			Fail: "FAIL -32603 the model is down", Failed: "the model is down",
			Stay: func(string) []string { return []string{"SPAWN setsid stubborn", "HANG"} },
		},
		Store: Store{
			Unknown: otherID,
			Remove: func(t testing.TB, p Place, id string) {
				t.Helper()
				remove(t, simFile(p, id))
			},
			Empty: func(t testing.TB, p Place, _ string) *Reach {
				t.Helper()
				r := simAt(t, p, append(faults, "empty-history")...)
				return &r
			},
			Swap: func(t testing.TB, p Place, _ string) *Reach {
				t.Helper()
				r := simAt(t, p, append(faults, "load-other-id="+otherID)...)
				return &r
			},
			File:  simFile,
			Ended: `"stop":"end_turn"`,
			Ends:  slices.Contains(faults, "keeps-ends"),
		},
	}
}

func simHome(p Place) string { return filepath.Join(p.Home, "sim") }

func simFile(p Place, id string) string {
	return filepath.Join(simHome(p), "sessions", id+".jsonl")
}

// simScript has the answers that the scripted agent does not know by itself.
const simScript = `<WhenPrompt template="Count slowly"><Say>one</Say><Wait ms={600000} /></WhenPrompt>

<WhenPrompt template="Use another server"><CallTool server="other" name="submit" args={{"value": "v9"}} kind="other" ask /></WhenPrompt>

<WhenPrompt template="In steps"><Say>I will run it now. </Say><ToolCall kind="read" title="Read it" /><Say>That was all.</Say></WhenPrompt>
`

func simAt(t testing.TB, p Place, faults ...string) Reach {
	t.Helper()
	script := filepath.Join(p.Home, "sim.script")
	if err := os.WriteFile(script, []byte(simScript), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Without GORACE a program built with the race detector takes a second to exit.
	env := append(personEnv(p, nil), "GORACE=atexit_sleep_ms=0", "XMD_SIM_HOME="+simHome(p), "XMD_SIM_SCRIPT="+script)
	if len(faults) > 0 {
		env = append(env, "XMD_SIM_FAULT="+strings.Join(faults, ","))
	}
	a, err := agents.New(agents.Options{Env: env, Self: self}).Lookup("sim")
	if err != nil {
		t.Fatal(err)
	}
	return Reach{Agent: a, Env: env}
}

// targetNamed finds a target again by its name, in another process.
func targetNamed(name string) (Target, error) {
	kind, rest, _ := strings.Cut(name, " ")
	switch kind {
	case "codex":
		return Codex(rest), nil
	case "codex-app-server":
		return CodexServer(rest), nil
	case "codex-launcher":
		return CodexLauncher(rest), nil
	case "claude":
		return Claude(rest), nil
	case "copilot":
		return Copilot(rest), nil
	case "grok":
		return Grok(rest), nil
	case "gemini":
		return Gemini(rest), nil
	case "opencode":
		return OpenCode(rest), nil
	case "sim":
		return Sim(strings.Fields(rest)...), nil
	}
	return Target{}, fmt.Errorf("no target is called %q", name)
}
