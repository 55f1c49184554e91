package agenttest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Copilot is real Copilot of that version; the test is skipped as not run if it is not installed.
func Copilot(version string) Target {
	s := modelScript()
	s.Tool, s.ToolSays = `CALL glob {"pattern":"*"}`, "" // its commands all ask, even an echo
	s.Steps = "SAY I will look now.\n" + s.Tool + "\nSAY That was all."
	s.Fail, s.Failed = "HTTP 500", "500"
	return Target{
		Name:    "copilot " + version,
		Row:     Row{"Copilot", overItself},
		Release: version,
		Version: version,
		Model:   startModel,
		At:      realAgent("copilot", version, CopilotEnv),
		Script:  s,
		Store: Store{
			Unknown: otherID,
			Remove:  func(t testing.TB, p Place, id string) { t.Helper(); remove(t, copilotFile(p, id)) },
			Swap: func(t testing.TB, p Place, id string) *Reach {
				t.Helper()
				swapIn(t, copilotDir(p, id), id)
				return nil
			},
			File:  copilotFile,
			Ended: `"type":"assistant.turn_end"`,
			Late:  true,
		},
	}
}

// Grok is real Grok of that version; the test is skipped as not run if it is not installed.
func Grok(version string) Target {
	s := modelScript()
	s.Permit = func(file string) string { return "ASK echo made > " + file + " && echo made" } // 1.0.41 does not ask for a touch
	s.Tool, s.ToolSays = "RUN ls /", "usr"                                                     // 1.0.5 asks for an echo
	s.Fail, s.Failed = "HTTP 400", "400"                                                       // it retries others in silence
	s.Stay = func(file string) []string {
		return []string{"SAY I will run it now.\nASK echo made > " + file + " && tail -f /dev/null"}
	}
	return Target{
		Name:    "grok " + version,
		Row:     Row{"Grok", overItself},
		Release: version,
		Version: version,
		Model:   startModel,
		At:      realAgent("grok", version, GrokEnv),
		Script:  s,
		Store: Store{
			Durable: true,
			Unknown: otherID,
			Remove: func(t testing.TB, p Place, id string) {
				t.Helper()
				if err := os.RemoveAll(grokDir(t, p, id)); err != nil {
					t.Fatal(err)
				}
			},
			Empty: func(t testing.TB, p Place, id string) *Reach {
				t.Helper()
				for _, name := range []string{"updates.jsonl", "chat_history.jsonl"} {
					write(t, filepath.Join(grokDir(t, p, id), name), nil)
				}
				return nil
			},
			Swap: func(t testing.TB, p Place, id string) *Reach {
				t.Helper()
				swapIn(t, grokDir(t, p, id), id)
				return nil
			},
			Swapped: SwapOmitted,
			File:    func(p Place, id string) string { return onlyOne(filepath.Join(grokPattern(p, id), "updates.jsonl")) },
			Ended:   `"stop_reason":"end_turn"`,
			Ends:    true,
			Late:    true, // 1.0.41 has them by then
		},
	}
}

func copilotDir(p Place, id string) string {
	return filepath.Join(p.Home, ".copilot", "session-state", id)
}

func copilotFile(p Place, id string) string { return filepath.Join(copilotDir(p, id), "events.jsonl") }

func grokPattern(p Place, id string) string {
	return filepath.Join(p.Home, ".grok", "sessions", "*", id)
}

func grokDir(t testing.TB, p Place, id string) string { t.Helper(); return one(t, grokPattern(p, id)) }

// swapIn puts another id into all files of a folder.
func swapIn(t testing.TB, dir, id string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Type().IsRegular() {
			file := filepath.Join(dir, f.Name())
			write(t, file, bytes.ReplaceAll(read(t, file), []byte(id), []byte(otherID)))
		}
	}
}

// ForgetGrok takes all turns from what Grok's model is given, and leaves what a load replays.
func ForgetGrok(t testing.TB, p Place, id string) {
	t.Helper()
	file := filepath.Join(grokDir(t, p, id), "chat_history.jsonl")
	var kept []byte
	for line := range bytes.Lines(read(t, file)) {
		var m struct{ Type string }
		if json.Unmarshal(line, &m) == nil && m.Type == "system" {
			kept = append(kept, line...)
		}
	}
	write(t, file, kept)
}
