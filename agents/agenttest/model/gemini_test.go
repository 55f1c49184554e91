package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// geminiTurns is a request of Gemini CLI: its context leads, and what tools returned is the user's.
func geminiTurns(turns ...turnText) map[string]any {
	contents := []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "<session_context>\nthe codeword is NOT\n</session_context>"}}}}
	for _, t := range turns {
		role, part := "user", map[string]any{"text": t.text}
		switch t.role {
		case "assistant":
			role = "model"
		case "call":
			role, part = "model", map[string]any{"functionCall": map[string]any{"name": "run_shell_command", "args": map[string]any{}}}
		case "result":
			part = map[string]any{"functionResponse": map[string]any{"name": "run_shell_command", "response": map[string]any{"output": t.text}}}
		}
		contents = append(contents, map[string]any{"role": role, "parts": []any{part}})
	}
	tool := func(name string, members ...string) map[string]any {
		properties := map[string]any{}
		for _, m := range members {
			properties[m] = map[string]any{"type": "string"}
		}
		return map[string]any{"name": name, "parametersJsonSchema": map[string]any{"type": "object", "properties": properties}}
	}
	return map[string]any{
		"contents":          contents,
		"systemInstruction": map[string]any{"parts": []any{map[string]any{"text": "the codeword is NOT HERE"}}},
		"tools": []any{map[string]any{"functionDeclarations": []any{
			tool("run_shell_command", "command", "description"), tool("read_file", "file_path"),
			tool("write_file", "file_path", "content"), tool("replace", "file_path", "instruction", "old_string", "new_string"),
		}}},
	}
}

type geminiAnswer struct {
	text, thought, call, finish string
	status                      int
}

// asksGemini posts to a method of the model and joins what it says.
func asksGemini(t *testing.T, s *Server, method string, body map[string]any) (a geminiAnswer, err error) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(s.URL()+"/v1beta/models/fake-1:"+method, "application/json", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if a.status = res.StatusCode; a.status != http.StatusOK {
		return a, nil
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		frame, ok := strings.CutPrefix(lines.Text(), "data: ")
		if method == "generateContent" {
			frame, ok = lines.Text(), true
		}
		if ok {
			a.take(t, frame)
		}
	}
	return a, lines.Err()
}

func (a *geminiAnswer) take(t *testing.T, frame string) {
	t.Helper()
	var f struct {
		Candidates []struct {
			FinishReason string
			Content      struct {
				Parts []struct {
					Text         string
					Thought      bool
					FunctionCall *struct {
						Name string
						Args json.RawMessage
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(frame), &f); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Candidates {
		a.finish += c.FinishReason
		for _, p := range c.Content.Parts {
			switch {
			case p.FunctionCall != nil:
				a.call = p.FunctionCall.Name + " " + string(p.FunctionCall.Args)
			case p.Thought:
				a.thought += p.Text
			default:
				a.text += p.Text
			}
		}
	}
}

func TestGeminiDialect(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, c := range map[string]struct {
		turns []turnText
		want  geminiAnswer
	}{
		"told before":             {[]turnText{{"user", tellText}, {"assistant", "OK"}, {"user", askText}}, geminiAnswer{text: "CODEWORD=ZEBRA"}},
		"told by a tool":          {[]turnText{{"call", ""}, {"result", tellText}, {"user", askText}}, geminiAnswer{text: "CODEWORD=UNKNOWN"}},
		"in the context only":     {[]turnText{{"user", askText}}, geminiAnswer{text: "CODEWORD=UNKNOWN"}},
		"several pieces":          {[]turnText{{"user", "STREAM 2"}}, geminiAnswer{text: "chunk 1 chunk 2 "}},
		"a thought":               {[]turnText{{"user", "THINK hm\nSAY yes"}}, geminiAnswer{text: "yes", thought: "hm"}},
		"a command":               {[]turnText{{"user", "RUN ls -l"}}, geminiAnswer{call: `run_shell_command {"command":"ls -l","description":"a scripted call"}`}},
		"a file":                  {[]turnText{{"user", "WRITE a.txt one two"}}, geminiAnswer{call: `write_file {"content":"one two\n","file_path":"a.txt"}`}},
		"an edit":                 {[]turnText{{"user", "EDIT a.txt b c"}}, geminiAnswer{call: `replace {"file_path":"a.txt","instruction":"a scripted call","new_string":"c","old_string":"b"}`}},
		"what a command returned": {[]turnText{{"user", "RUN ls"}, {"call", ""}, {"result", "a.txt"}}, geminiAnswer{text: "Tool said: a.txt"}},
	} {
		for _, method := range []string{"streamGenerateContent", "generateContent"} {
			got, err := asksGemini(t, s, method, geminiTurns(c.turns...))
			want := c.want
			want.status, want.finish = http.StatusOK, "STOP"
			if err != nil || got != want {
				t.Errorf("%s, %s: %+v, %v, want %+v", name, method, got, err, want)
			}
		}
	}
	if n := len(s.Requests()); n != 18 || len(s.Hidden()) != 0 {
		t.Errorf("%d counted, %d hidden", n, len(s.Hidden()))
	}
}

func TestGeminiRefusals(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, _ := asksGemini(t, s, "streamGenerateContent", geminiTurns(turnText{"user", "HTTP 429"})); got.status != http.StatusTooManyRequests {
		t.Errorf("%+v", got)
	}
	if got, err := asksGemini(t, s, "streamGenerateContent", geminiTurns(turnText{"user", "SAY partial\nCUT"})); err == nil || got.text != "partial" {
		t.Errorf("cut: %+v, %v", got, err)
	}
	if got, _ := asksGemini(t, s, "noSuchMethod", nil); got.status != http.StatusNotFound || len(s.Strays()) != 1 {
		t.Errorf("%+v, strays %q", got, s.Strays())
	}
	res, err := http.Post(s.URL()+"/v1beta/models/fake-1:countTokens", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if data, _ := io.ReadAll(res.Body); !bytes.Contains(data, []byte("totalTokens")) {
		t.Errorf("tokens: %s", data)
	}
}

// With the model "auto" Gemini first asks a small model how hard the question is. It is answered and not counted.
func TestGeminiClassifier(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	body := geminiTurns(turnText{"user", askText})
	delete(body, "tools")
	body["generationConfig"] = map[string]any{
		"responseMimeType":   "application/json",
		"responseJsonSchema": map[string]any{"properties": map[string]any{"complexity_score": map[string]any{"type": "integer"}}},
	}
	got, err := asksGemini(t, s, "generateContent", body)
	var choice struct {
		Score int `json:"complexity_score"`
	}
	if err != nil || json.Unmarshal([]byte(got.text), &choice) != nil || choice.Score != 10 {
		t.Errorf("%+v, %v", got, err)
	}
	if len(s.Requests()) != 0 || len(s.Hidden()) != 1 {
		t.Errorf("%d counted, %d hidden", len(s.Requests()), len(s.Hidden()))
	}
}
