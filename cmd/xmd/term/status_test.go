package term_test

import (
	"testing"
	"time"

	"xmd/cmd/xmd/term"
	"xmd/runtime/event"
)

// The line says at each moment what is awaited.
func TestStatusSaysWhatIsAwaited(t *testing.T) {
	now := time.Unix(0, 0)
	changes := 0
	s := term.NewStatus(func() time.Time { return now }, func() { changes++ })
	at := event.At{Step: "Prompt1", Position: "a.xmd:1:1"}
	on := event.At{Step: "Prompt1", Position: "a.xmd:1:1", Agent: "codex", Session: "main"}
	five := map[string]any{"totalTokens": 12345}
	for _, c := range []struct {
		t    event.Type
		at   event.At
		body any
		took time.Duration
		want string
	}{
		{event.RunStarted, event.At{}, &event.Run{}, 0, ""},
		{event.StepStarted, event.At{Step: "If1"}, &event.Step{Kind: "elicit"}, 0, ""},
		{event.StepStarted, at, &event.Step{Kind: "prompt"}, 0, "a.xmd:1:1 · 0s · waiting for the session and its agent"},
		{event.AgentStarted, on, &event.Agent{Shown: "Codex"}, 2 * time.Second, "a.xmd:1:1 · codex/main · 2s · waiting for Codex to open the conversation"},
		{event.PromptSent, on, &event.Sent{}, time.Second, "a.xmd:1:1 · codex/main · 3s · waiting for Codex to begin"},
		{event.PromptAccepted, on, &event.Accepted{}, time.Minute, "a.xmd:1:1 · codex/main · 1m03s · at work"},
		{event.ToolStarted, on, &event.Tool{ID: "1", Name: "Bash", Subject: "go\ttest\x1b[2J\n./..."}, 0, "a.xmd:1:1 · codex/main · 1m03s · Bash go test[2J ./..."},
		{event.ToolStarted, on, &event.Tool{ID: "2", Name: "Read", Subject: "x.go"}, 0, "a.xmd:1:1 · codex/main · 1m03s · Read x.go"},
		{event.ToolEnded, on, &event.Tool{ID: "2"}, 0, "a.xmd:1:1 · codex/main · 1m03s · Bash go test[2J ./..."},
		{event.ToolEnded, on, &event.Tool{ID: "1"}, time.Hour, "a.xmd:1:1 · codex/main · 1h01m · at work"},
		{event.UsageReported, on, &event.Used{Usage: five}, 0, "a.xmd:1:1 · codex/main · 1h01m · at work · 12k tokens"},
		{event.UsageReported, on, &event.Used{Usage: map[string]any{"inputTokens": 1}}, 0, "a.xmd:1:1 · codex/main · 1h01m · at work · 12k tokens"},
		{event.StepStarted, event.At{Step: "x", Position: "a.xmd:9:1"}, &event.Step{Kind: "exec"}, 0, "a.xmd:1:1 · codex/main · 1h01m · at work · 12k tokens · and 1 more"},
		{event.PromptEnded, on, &event.Ended{}, 0, "a.xmd:1:1 · codex/main · 1h01m · closing the turn · 12k tokens · and 1 more"},
		{event.StepEnded, at, &event.Step{Kind: "prompt"}, 0, "a.xmd:9:1 · 0s · waiting for the program to end"},
		{event.RunEnded, event.At{}, &event.End{}, 0, ""},
	} {
		now = now.Add(c.took)
		s.Event(&event.Event{Type: c.t, At: c.at, Body: c.body})
		if got := s.Line(); got != c.want {
			t.Errorf("after %s: %q, want %q", c.t, got, c.want)
		}
	}
	before := changes
	s.Event(&event.Event{Type: event.Text, Body: &event.Delta{Text: "x"}})
	if changes != before {
		t.Error("text changes no line")
	}
}
