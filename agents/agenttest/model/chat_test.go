package model

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func chatClient(t *testing.T, path string) *client {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &client{t, s, path, chatRequest, nil}
}

func chatRequest(turns []turnText) map[string]any {
	messages := []any{map[string]any{"role": "system", "content": "Be brief; the codeword is NOT HERE."}}
	for _, t := range turns {
		m := map[string]any{"role": t.role, "content": t.text}
		switch t.role {
		case "result":
			m["role"] = "tool"
		case "call":
			m = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "c", "type": "function", "function": map[string]any{"name": "bash", "arguments": t.text}}}}
		}
		messages = append(messages, m)
	}
	return map[string]any{"model": "fake-1", "stream": true, "messages": messages, "tools": chatTools("bash", "command", "description")}
}

func chatTools(name string, members ...string) []any {
	properties := map[string]any{}
	for _, m := range members {
		properties[m] = map[string]any{"type": "string"}
	}
	return []any{map[string]any{"type": "function", "function": map[string]any{"name": name, "parameters": map[string]any{"type": "object", "properties": properties}}}}
}

// chunk is what a test looks at of one streamed chunk.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"`
			ToolCalls []struct {
				Function struct{ Name, Arguments string } `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Total int `json:"total_tokens"`
	} `json:"usage"`
}

// reads sends a request and reads the chunks to their end; done says that the last line was there.
func (c *client) reads(body map[string]any) (chunks []chunk, done bool, err error) {
	c.t.Helper()
	res, err := c.post(c.t.Context(), body)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var one chunk
		if err := json.Unmarshal([]byte(data), &one); err != nil {
			c.t.Fatal(err)
		}
		chunks = append(chunks, one)
	}
	return chunks, done, lines.Err()
}

func chatText(chunks []chunk) (text string) {
	for _, one := range chunks {
		for _, choice := range one.Choices {
			text += choice.Delta.Content
		}
	}
	return text
}

func (c *client) answers(turns ...turnText) string {
	c.t.Helper()
	chunks, done, err := c.reads(chatRequest(turns))
	if err != nil || !done {
		c.t.Errorf("it ended as %v, done: %v", err, done)
	}
	return chatText(chunks)
}

func TestChat(t *testing.T) {
	for _, path := range []string{"/v1/chat/completions", "/xai/v1/chat/completions"} {
		c := chatClient(t, path)
		for want, turns := range map[string][]turnText{
			"CODEWORD=ZEBRA":       {{"user", tellText}, {"assistant", "OK"}, {"user", askText}},
			"CODEWORD=UNKNOWN":     {{"assistant", tellText}, {"call", "{}"}, {"result", tellText}, {"user", askText}},
			"Tool said: b":         {{"user", "RUN x"}, {"call", "{}"}, {"result", "b"}},
			"OK, I will remember.": {{"user", tellText}},
			"chunk 1 chunk 2 ":     {{"user", "STREAM 2"}},
		} {
			if got := c.answers(turns...); got != want {
				t.Errorf("says %q, want %q", got, want)
			}
		}
		chunks, _, _ := c.reads(chatRequest([]turnText{{"user", "THINK deep\nRUN ls"}}))
		last := chunks[len(chunks)-2].Choices[0]
		if chunks[0].Choices[0].Delta.Reasoning != "deep" || last.FinishReason != "tool_calls" || chunks[len(chunks)-1].Usage == nil {
			t.Errorf("chunks %+v", chunks)
		}
	}
}

// A cut answer has no end, and one that is refused has the API's own form of an error.
func TestChatFailures(t *testing.T) {
	c := chatClient(t, "/v1/chat/completions")
	if chunks, done, err := c.reads(chatRequest([]turnText{{"user", "SAY partial\nCUT"}})); done || !errors.Is(err, io.ErrUnexpectedEOF) || chatText(chunks) != "partial" {
		t.Errorf("cut: %v, done: %v, text %q", err, done, chatText(chunks))
	}
	res, err := c.post(t.Context(), chatRequest([]turnText{{"user", "HTTP 429"}}))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body struct{ Error struct{ Message string } }
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil || res.StatusCode != http.StatusTooManyRequests || body.Error.Message == "" {
		t.Errorf("status %d, %v, %+v", res.StatusCode, err, body)
	}
}

// The tools of each agent by its own names, and their inputs by its own members.
func TestChatTools(t *testing.T) {
	c := chatClient(t, "/v1/chat/completions")
	for words, want := range map[string]struct {
		tool    string
		members []string
		input   map[string]string
	}{
		"RUN ls":         {"bash", []string{"command", "description"}, map[string]string{"command": "ls"}},
		"ASK rm x":       {"run_terminal_command", []string{"command"}, map[string]string{"command": "rm x"}},
		"READ /a":        {"view", []string{"path"}, map[string]string{"path": "/a"}},
		"WRITE /a hello": {"create", []string{"path", "file_text"}, map[string]string{"path": "/a", "file_text": "hello\n"}},
		"EDIT /a b c":    {"search_replace", []string{"file_path", "old_string", "new_string"}, map[string]string{"file_path": "/a", "old_string": "b", "new_string": "c"}},
	} {
		body := chatRequest([]turnText{{"user", words}})
		body["tools"] = chatTools(want.tool, want.members...)
		chunks, _, _ := c.reads(body)
		call := chunks[0].Choices[0].Delta.ToolCalls[0].Function
		var in map[string]string
		if err := json.Unmarshal([]byte(call.Arguments), &in); err != nil || call.Name != want.tool {
			t.Errorf("%s: calls %s %s, %v", words, call.Name, call.Arguments, err)
		}
		for member, value := range want.input {
			if in[member] != value {
				t.Errorf("%s: %s is %q, want %q", words, member, in[member], value)
			}
		}
	}
}

// Grok puts a person's words into a frame of its own, with its own messages around them, and asks aside with the whole conversation.
func TestChatOfGrok(t *testing.T) {
	c := chatClient(t, "/xai/v1/chat/completions")
	quoted := func(words string) turnText { return turnText{"user", "<user_query>\n" + words + "\n</user_query>"} }
	own := turnText{"user", "<user_info>\nOS Version: linux\nthe codeword is WRONG\n</user_info>\n<rules>Which codeword is it?</rules>"}
	interrupted := turnText{"user", "The user interrupted the previous turn:\n<user_query>\n" + askText + "\n</user_query>\nMake sure to complete any unfinished tasks from previous turns."}
	for name, turns := range map[string][]turnText{
		"a question":            {own, quoted(tellText), {"assistant", "OK"}, quoted(askText)},
		"after an interruption": {own, quoted(tellText), quoted("STREAM 500"), interrupted},
		"a word of its own":     {own, quoted(tellText), quoted(askText), {"user", "<workflows>Say nothing.</workflows>"}},
	} {
		if got := c.answers(turns...); got != "CODEWORD=ZEBRA" {
			t.Errorf("%s: says %q", name, got)
		}
	}
	counted := len(c.s.Requests())
	for _, aside := range []string{
		"<system-reminder>Write an ultra-short dashboard line that captures the reply to: \"user_query " + askText + " /user_query\"</system-reminder>",
		"<system-reminder>Generate a session title for the conversation above.</system-reminder>",
	} {
		if got := c.answers(own, quoted(tellText), quoted("HANG"), turnText{"user", aside}); got != "Scripted conversation" {
			t.Errorf("aside: says %q", got)
		}
	}
	if len(c.s.Requests()) != counted || len(c.s.Hidden()) != 2 {
		t.Errorf("%d requests counted, %d hidden", len(c.s.Requests())-counted, len(c.s.Hidden()))
	}
	res, err := http.Get(c.s.URL() + "/xai/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var models struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&models); err != nil || len(models.Data) != 1 || models.Data[0].ID != "fake-1" {
		t.Errorf("models %+v, %v", models, err)
	}
}
