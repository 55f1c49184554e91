package runtime_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime"
	"xmd/runtime/event"
)

// An action that xmd refused is told as not run, once.
func TestDeclinedCall(t *testing.T) {
	b := newBench(t)
	b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		for _, status := range []string{"in_progress", "declined", "declined"} {
			turn.Sink(runtime.Update{Kind: runtime.UpdateTool, Accepts: true, Tool: &runtime.ToolCall{ID: "1", Name: "Bash", Kind: "execute", Status: status}})
		}
		return runtime.TurnResult{}, nil
	}
	var got []string
	for _, e := range b.flow(`<Prompt text="do it"/>`).events {
		if body, ok := e.Body.(*event.Tool); ok {
			got = append(got, string(e.Type)+" "+body.Outcome)
		}
	}
	if want := "tool.started |tool.ended not run"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What an agent says of a failure is what the error says.
func TestRetryableFailure(t *testing.T) {
	for _, retryable := range []bool{true, false} {
		b := newBench(t)
		b.agents["fake"].onPrompt = func(runtime.Turn) (runtime.TurnResult, error) {
			return runtime.TurnResult{Stop: "error", Failure: "busy now", Retryable: retryable}, nil
		}
		var e *runtime.Error
		if r := b.flow(`<Prompt as="v" text="x"/>`); !errors.As(r.err, &e) || e.Kind != runtime.KindFailed || e.Retryable != retryable {
			t.Errorf("%+v", e)
		}
	}
}

// A driver gets the schema beside the words that ask for it, each time it is asked, and none for a prompt without one.
func TestSchemaReachesTheDriver(t *testing.T) {
	b := newBench(t)
	var got []string
	answers := replies(`{"ok": 1}`, `{"ok": true}`)
	b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		var v any
		if turn.Schema != nil && json.Unmarshal(turn.Schema, &v) != nil {
			t.Errorf("no JSON: %s", turn.Schema)
		}
		got = append(got, string(turn.Schema))
		return answers(turn)
	}
	if r := b.flow(`<Prompt ` + verdict + ` as="v" text="Judge."/>`); r.err != nil {
		t.Fatal(r.err)
	}
	b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		got = append(got, string(turn.Schema))
		return runtime.TurnResult{}, nil
	}
	if r := b.flow(`<Prompt text="Talk."/>`); r.err != nil {
		t.Fatal(r.err)
	}
	if len(got) != 3 || got[0] == "" || got[0] != got[1] || got[2] != "" {
		t.Errorf("%q", got)
	}
}

// A call that was refused was not run, whatever the agent calls its end; one without an end is unknown, and each is told once, before the
// turn's own end.
func TestEndsOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
			call := func(id, status string) {
				turn.Sink(runtime.Update{Kind: runtime.UpdateTool, Accepts: true, Tool: &runtime.ToolCall{ID: id, Name: "Bash", Kind: "execute", Status: status}})
			}
			refuse := func(id string) {
				turn.Sink(runtime.Update{Kind: runtime.UpdatePermission, Permission: &runtime.PermissionOutcome{Request: runtime.PermissionRequest{CallID: id, Kind: "execute", Title: "x"}}})
			}
			for _, id := range []string{"ran", "failed", "refused", "refused-quietly", "refused-and-run", "lost"} {
				call(id, "in_progress")
			}
			time.Sleep(1500 * time.Millisecond)
			call("ran", "completed")
			call("failed", "failed")
			refuse("refused")
			call("refused", "failed")
			refuse("refused-quietly")
			refuse("refused-and-run")
			call("refused-and-run", "completed")
			return runtime.TurnResult{Stop: "end_turn"}, nil
		}
		got := map[string]string{}
		last := ""
		for _, e := range b.flow(`<Prompt text="do it"/>`).events {
			if body, ok := e.Body.(*event.Tool); ok && e.Type == event.ToolEnded {
				got[body.ID] += body.Outcome
				if body.Milliseconds != 1500 {
					t.Errorf("%s took %d ms", body.ID, body.Milliseconds)
				}
			}
			if e.Type == event.PromptEnded {
				last = fmt.Sprint(len(got))
			}
		}
		want := map[string]string{"ran": "done", "failed": "failed", "refused": "not run", "refused-quietly": "not run", "refused-and-run": "done", "lost": "unknown"}
		if !maps.Equal(got, want) || last != "6" {
			t.Errorf("%v, %s before the end of the turn", got, last)
		}
	})
}
