package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"xmd/agents/sim"
	"xmd/lang/diag"
	"xmd/runtime"
)

// errorPage is specs/errors.md, made from the tables in the code.
func errorPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Errors\n\nMade by `go test ./cmd/xmd -run ErrorPage -update` from the tables in the code; not edited by hand.\n\n" +
		"## Codes of documents\n\nStable: a code keeps its meaning and is never used again. `xmd check` prints them at the end of each message.\n\n| code | what it says |\n|---|---|\n")
	codes := slices.Concat(documentCodes(), sim.ScriptCodes)
	slices.SortFunc(codes, func(a, b diag.Code) int { return strings.Compare(a.Code, b.Code) })
	for i, c := range codes {
		if i > 0 && codes[i-1].Code == c.Code {
			t.Errorf("the code %s stands for two things: %q and %q", c.Code, codes[i-1].Title, c.Title)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", c.Code, strings.ReplaceAll(c.Title, "|", "\\|"))
	}
	b.WriteString("\n## Kinds of run-time errors\n\nThe word in brackets at the end of a message. The exit code is that of the first failure in document order; a signal wins\n(130 for SIGINT, 143 for SIGTERM, 141 for a closed stdout).\n\n| kind | exit code |\n|---|---|\n")
	for _, k := range runtime.Kinds {
		fmt.Fprintf(&b, "| `%s` | %d |\n", k, k.ExitCode())
	}
	b.WriteString("\n`[kind, retryable]` says that the same may work another time with nothing changed: the agent's start of a conversation or a load came to no\n" +
		"end in its time, the conversation is open in another process, the agent was gone before anything was sent, or the agent itself said of a\n" +
		"failed turn that it may pass (overload, a lost connection). xmd tries nothing again by itself once words may have been accepted; a resume\n" +
		"of the run is such another time. Without the word something has to be changed first.\n")
	return b.String()
}

func TestErrorPage(t *testing.T) {
	const path = "../../specs/errors.md"
	want := errorPage(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the code says (err %v); run: go test ./cmd/xmd -run ErrorPage -update", path, err)
	}
}
