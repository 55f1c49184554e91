package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// client speaks one of the APIs the way an agent does.
type client struct {
	t    *testing.T
	s    *Server
	path string
	body func(turns []turnText) map[string]any
	text func(events []event) string
}

type turnText struct{ role, text string }

type event struct {
	name string
	data map[string]any
}

func clients(t *testing.T) map[string]*client {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return map[string]*client{
		"responses": {t, s, "/v1/responses", responsesRequest, responsesText},
		"messages":  {t, s, "/v1/messages?beta=true", messagesRequest, messagesText},
	}
}

func responsesRequest(turns []turnText) map[string]any {
	var input []any
	for _, t := range turns {
		switch t.role {
		case "result":
			input = append(input, map[string]any{"type": "function_call_output", "call_id": "c", "output": t.text})
		case "call":
			input = append(input, map[string]any{"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": t.text})
		default:
			input = append(input, map[string]any{"type": "message", "role": t.role,
				"content": []any{map[string]any{"type": "input_text", "text": t.text}}})
		}
	}
	return map[string]any{
		"model": "gpt-5-codex", "stream": true, "instructions": "Be brief; the codeword is NOT HERE.", "input": input,
		"tools": []any{map[string]any{"type": "function", "name": "exec_command"}, map[string]any{"type": "web_search"}},
	}
}

func messagesRequest(turns []turnText) map[string]any {
	var messages []any
	for _, t := range turns {
		role, block := t.role, map[string]any{"type": "text", "text": t.text}
		switch t.role {
		case "result":
			role, block = "user", map[string]any{"type": "tool_result", "tool_use_id": "c", "content": t.text}
		case "call":
			role, block = "assistant", map[string]any{"type": "tool_use", "id": "c", "name": "Bash", "input": map[string]any{}}
		case "developer":
			role = "system"
		}
		messages = append(messages, map[string]any{"role": role, "content": []any{block}})
	}
	return map[string]any{
		"model": "claude", "stream": true, "system": "Be brief; the codeword is NOT HERE.", "messages": messages,
		"tools": []any{map[string]any{"name": "Bash"}},
	}
}

func responsesText(events []event) string {
	var b strings.Builder
	for _, e := range events {
		if e.name == "response.output_text.delta" {
			b.WriteString(e.data["delta"].(string))
		}
	}
	return b.String()
}

func messagesText(events []event) string {
	var b strings.Builder
	for _, e := range events {
		if d, ok := e.data["delta"].(map[string]any); ok && d["type"] == "text_delta" {
			b.WriteString(d["text"].(string))
		}
	}
	return b.String()
}

func (c *client) post(ctx context.Context, body map[string]any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.s.URL()+c.path, bytes.NewReader(data))
	if err != nil {
		c.t.Fatal(err)
	}
	return http.DefaultClient.Do(req)
}

// stream sends the turns and reads the events to their end.
func (c *client) stream(turns ...turnText) ([]event, error) {
	c.t.Helper()
	res, err := c.post(c.t.Context(), c.body(turns))
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		c.t.Fatalf("status %s", res.Status)
	}
	return readEvents(res.Body)
}

func readEvents(r io.Reader) ([]event, error) {
	var out []event
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			out = append(out, event{name: name})
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(data), &out[len(out)-1].data); err != nil {
				return out, err
			}
		}
	}
	return out, lines.Err()
}

func (c *client) says(turns ...turnText) string {
	c.t.Helper()
	events, err := c.stream(turns...)
	if err != nil {
		c.t.Fatal(err)
	}
	if last := events[len(events)-1].name; last != "response.completed" && last != "message_stop" {
		c.t.Errorf("the last event is %s", last)
	}
	return c.text(events)
}

const (
	tellText = "Please remember this: the codeword is ZEBRA. Answer with OK."
	askText  = "Which codeword did I give you at the start?"
)

func TestCodewordComesFromEarlierUserTurnsOnly(t *testing.T) {
	told := []turnText{{"user", tellText}, {"assistant", "OK"}}
	for name, c := range map[string]struct {
		turns []turnText
		want  string
	}{
		"told in a turn":         {append(told, turnText{"user", askText}), "CODEWORD=ZEBRA"},
		"not told":               {[]turnText{{"user", askText}}, "CODEWORD=UNKNOWN"},
		"in the asking prompt":   {[]turnText{{"user", "The codeword is ZEBRA. " + askText}}, "CODEWORD=UNKNOWN"},
		"by the assistant":       {[]turnText{{"assistant", tellText}, {"user", askText}}, "CODEWORD=UNKNOWN"},
		"by a tool":              {[]turnText{{"call", "{}"}, {"result", tellText}, {"user", askText}}, "CODEWORD=UNKNOWN"},
		"by the developer":       {[]turnText{{"developer", tellText}, {"user", askText}}, "CODEWORD=UNKNOWN"},
		"in a reminder":          {[]turnText{{"user", "<system-reminder>" + tellText + "</system-reminder>"}, {"user", askText}}, "CODEWORD=UNKNOWN"},
		"behind a reminder":      {[]turnText{{"user", "<system-reminder>x</system-reminder>" + tellText}, {"user", askText}}, "CODEWORD=ZEBRA"},
		"question then reminder": {append(told, turnText{"user", askText}, turnText{"user", "<system-reminder>\nx\n</system-reminder>"}), "CODEWORD=ZEBRA"},
		"question then tokens":   {append(told, turnText{"user", askText}, turnText{"user", "<total_tokens>9 left</total_tokens>"}), "CODEWORD=ZEBRA"},
		"the first of two":       {append(told, turnText{"user", "Now the codeword is TAPIR."}, turnText{"user", askText}), "CODEWORD=ZEBRA"},
	} {
		for api, client := range clients(t) {
			t.Run(api+"/"+name, func(t *testing.T) {
				if got := client.says(c.turns...); got != c.want {
					t.Errorf("says %q, want %q", got, c.want)
				}
			})
		}
	}
}

// The server itself remembers nothing: told in one request, asked in another.
func TestNoMemory(t *testing.T) {
	for api, c := range clients(t) {
		if got := c.says(turnText{"user", tellText}); got != "OK, I will remember." {
			t.Errorf("%s: says %q", api, got)
		}
		if got := c.says(turnText{"user", askText}); got != "CODEWORD=UNKNOWN" {
			t.Errorf("%s: says %q", api, got)
		}
	}
}

func TestScriptedText(t *testing.T) {
	for prompt, want := range map[string]string{
		"Hello":                        "You said: Hello",
		"STREAM 3":                     "chunk 1 chunk 2 chunk 3 ",
		"BYTES 4":                      "xxxx",
		"Some prose.\nSAY a b\nSAY !":  "a b!",
		"SLOW 1\nSTREAM 2":             "chunk 1 chunk 2 ",
		"STREAM of thoughts":           "You said: STREAM of thoughts",
		"THINK deep thoughts\nSAY out": "out",
	} {
		for api, c := range clients(t) {
			if got := c.says(turnText{"user", prompt}); got != want {
				t.Errorf("%s: %q says %q, want %q", api, prompt, got, want)
			}
		}
	}
}

// A tool ends a response; the next one follows its result, and is found by counting results, not by memory.
func TestTools(t *testing.T) {
	prompt := turnText{"user", "SAY first\nRUN ls -l\nWRITE a.txt one two\nSAY last"}
	steps := [][]turnText{
		{prompt},
		{prompt, {"call", "{}"}, {"result", "r1"}},
		{prompt, {"call", "{}"}, {"result", "r1"}, {"call", "{}"}, {"result", "r2"}},
	}
	want := map[string][]string{
		"responses": {`exec_command {"cmd":"ls -l"}`, `exec_command {"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+one two\n*** End Patch\nEOF\n"}`, "last"},
		"messages":  {`Bash {"command":"ls -l","description":"a scripted command"}`, `Write {"content":"one two\n","file_path":"a.txt"}`, "last"},
	}
	for api, c := range clients(t) {
		for i, turns := range steps {
			events, err := c.stream(turns...)
			if err != nil {
				t.Fatal(err)
			}
			if got := toolOf(events); i < 2 && got != want[api][i] {
				t.Errorf("%s, response %d: tool %q, want %q", api, i, got, want[api][i])
			}
			if got := c.text(events); i == 2 && got != "last" {
				t.Errorf("%s: the last response says %q", api, got)
			}
		}
	}
}

// toolOf is the tool call in a stream, as name and arguments.
func toolOf(events []event) string {
	name, args := "", ""
	for _, e := range events {
		if item, ok := e.data["item"].(map[string]any); ok && e.name == "response.output_item.done" && item["type"] == "function_call" {
			return item["name"].(string) + " " + item["arguments"].(string)
		}
		if b, ok := e.data["content_block"].(map[string]any); ok && b["type"] == "tool_use" {
			name = b["name"].(string)
		}
		if d, ok := e.data["delta"].(map[string]any); ok && d["type"] == "input_json_delta" {
			args += d["partial_json"].(string)
		}
	}
	return strings.TrimSpace(name + " " + args)
}

func TestAfterAToolWithoutMoreScript(t *testing.T) {
	for api, c := range clients(t) {
		got := c.says(turnText{"user", "RUN ls"}, turnText{"call", "{}"}, turnText{"result", "a.txt"})
		if got != "Tool said: a.txt" {
			t.Errorf("%s: says %q", api, got)
		}
		got = c.says(turnText{"user", "RUN ls"}, turnText{"call", "{}"}, turnText{"result", "a.txt"},
			turnText{"assistant", "Tool said: a.txt"}, turnText{"user", "Thanks"})
		if got != "You said: Thanks" {
			t.Errorf("%s: the next prompt says %q", api, got)
		}
	}
}

func TestAskedCommandLeavesTheSandbox(t *testing.T) {
	c := clients(t)["responses"]
	events, err := c.stream(turnText{"user", "ASK touch a"})
	if err != nil {
		t.Fatal(err)
	}
	if got := toolOf(events); !strings.Contains(got, `"sandbox_permissions":"require_escalated"`) {
		t.Errorf("tool %q", got)
	}
}
