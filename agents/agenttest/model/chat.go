package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// chat is the OpenAI Chat Completions API, which many agents use for any provider.
type chat struct{}

type chatBody struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Stream         bool `json:"stream"`
	ResponseFormat *struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

type chatMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (chat) parse(body []byte) (Request, error) {
	var in chatBody
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{API: "chat", Model: in.Model, Stream: in.Stream}
	if in.ResponseFormat != nil && in.ResponseFormat.Type != "text" {
		req.schema = in.ResponseFormat.Type
	}
	for _, t := range in.Tools {
		req.offer(t.Function.Name, t.Function.Parameters)
	}
	for _, m := range in.Messages {
		m.into(&req)
	}
	req.Hidden = len(req.Tools) == 0 || req.aside() // a turn always offers tools; a title never does
	return req, nil
}

func (m chatMessage) into(req *Request) {
	all := texts(m.Content)
	switch m.Role {
	case "tool":
		req.Turns = append(req.Turns, Turn{"result", strings.Join(all, "\n")})
	case "user", "assistant":
		for _, text := range all {
			req.Turns = append(req.Turns, Turn{m.Role, text})
		}
	default:
		req.Instructions = append(req.Instructions, all...)
	}
	for _, c := range m.ToolCalls {
		req.Turns = append(req.Turns, Turn{"call", c.Function.Name + " " + c.Function.Arguments})
	}
}

func (chat) refuse(w http.ResponseWriter, status int, message string) {
	refuseJSON(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": "scripted_error", "code": fmt.Sprint(status),
	}})
}

func (chat) write(out *stream, req Request, p reply) error {
	c := chatWriter{out: out, id: "chatcmpl-" + token(req), req: req}
	for _, pc := range p.pieces {
		if err := out.pause(p.delay); err != nil {
			return err
		}
		if err := c.piece(pc); err != nil {
			return err
		}
	}
	if err := out.end(p); err != nil {
		return err
	}
	return c.finish(p)
}

// chatWriter streams the one choice of a completion.
type chatWriter struct {
	out   *stream
	id    string
	req   Request
	text  strings.Builder
	calls []any
}

func (c *chatWriter) piece(pc piece) error {
	switch pc.kind {
	case use:
		name, input := c.req.pick(pc)
		call := map[string]any{
			"id": fmt.Sprintf("call_%s_%d", strings.TrimPrefix(c.id, "chatcmpl-"), len(c.calls)), "type": "function",
			"function": map[string]any{"name": name, "arguments": jsonText(input)},
		}
		part := map[string]any{"index": len(c.calls)}
		for k, v := range call {
			part[k] = v
		}
		c.calls = append(c.calls, call)
		return c.send(map[string]any{"tool_calls": []any{part}}, nil)
	case think:
		return c.send(map[string]any{"reasoning_content": pc.text}, nil)
	default:
		c.text.WriteString(pc.text)
		return c.send(map[string]any{"content": pc.text}, nil)
	}
}

func (c *chatWriter) finish(p reply) error {
	reason := "stop"
	if len(c.calls) > 0 {
		reason = "tool_calls"
	}
	in, produced := usage(c.req, p)
	used := map[string]any{"prompt_tokens": in, "completion_tokens": produced, "total_tokens": in + produced}
	if !c.out.live {
		message := map[string]any{"role": "assistant", "content": c.text.String()}
		if len(c.calls) > 0 {
			message["tool_calls"] = c.calls
		}
		whole := c.frame("chat.completion", map[string]any{"index": 0, "message": message, "finish_reason": reason})
		whole["usage"] = used
		return c.out.whole(whole)
	}
	if err := c.send(map[string]any{}, reason); err != nil {
		return err
	}
	last := c.frame("chat.completion.chunk")
	last["usage"] = used
	if err := c.out.data(last); err != nil {
		return err
	}
	return c.out.line("data: [DONE]\n\n")
}

// send streams one chunk.
func (c *chatWriter) send(delta map[string]any, reason any) error {
	if !c.out.live {
		return nil
	}
	delta["role"] = "assistant"
	return c.out.data(c.frame("chat.completion.chunk", map[string]any{"index": 0, "delta": delta, "finish_reason": reason}))
}

func (c *chatWriter) frame(object string, choices ...any) map[string]any {
	if choices == nil {
		choices = []any{}
	}
	return map[string]any{"id": c.id, "object": object, "created": 1, "model": c.req.Model, "choices": choices}
}

// listModels offers one model.
func listModels(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintln(w, `{"object":"list","data":[{"id":"fake-1","object":"model","created":1,"owned_by":"scripted"}]}`)
}
