package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// responses is the OpenAI Responses API, as Codex uses it.
type responses struct{}

// titleModel is what Codex names conversations with, whatever model is set.
const titleModel = "gpt-5.6-luna"

type responsesBody struct {
	Model        string            `json:"model"`
	Instructions string            `json:"instructions"`
	Input        []json.RawMessage `json:"input"`
	Tools        []json.RawMessage `json:"tools"`
	Stream       bool              `json:"stream"`
	Text         struct {
		Format *struct {
			Name string `json:"name"`
		} `json:"format"`
	} `json:"text"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
}

func (responses) parse(body []byte) (Request, error) {
	var in responsesBody
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{API: "responses", Model: in.Model, Stream: in.Stream}
	if in.Text.Format != nil {
		req.schema = in.Text.Format.Name
	}
	req.Hidden = in.Model == titleModel
	if in.Instructions != "" {
		req.Instructions = append(req.Instructions, in.Instructions)
	}
	for _, raw := range in.Input {
		var item responsesItem
		if err := json.Unmarshal(raw, &item); err != nil {
			return Request{}, err
		}
		item.into(&req)
	}
	for _, raw := range in.Tools {
		req.Tools = append(req.Tools, toolNames(raw)...)
	}
	req.Hidden = req.Hidden || req.aside()
	return req, nil
}

func (item responsesItem) into(req *Request) {
	switch item.Type {
	case "message", "":
		for _, text := range texts(item.Content) {
			if item.Role == "user" || item.Role == "assistant" {
				req.Turns = append(req.Turns, Turn{item.Role, text})
			} else {
				req.Instructions = append(req.Instructions, text)
			}
		}
	case "function_call", "custom_tool_call":
		req.Turns = append(req.Turns, Turn{"call", item.Name + " " + item.Arguments + item.Input})
	case "function_call_output", "custom_tool_call_output":
		req.Turns = append(req.Turns, Turn{"result", strings.Join(texts(item.Output), "\n")})
	}
}

// toolNames are a tool's name, and those inside it if it is a namespace.
func toolNames(raw json.RawMessage) []string {
	var t struct {
		Type  string            `json:"type"`
		Name  string            `json:"name"`
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(raw, &t) != nil {
		return nil
	}
	if t.Name == "" {
		t.Name = t.Type
	}
	names := []string{t.Name}
	for _, inner := range t.Tools {
		for _, n := range toolNames(inner) {
			names = append(names, t.Name+"."+n)
		}
	}
	return names
}

// texts are the text blocks of a content member: a string, or a list of parts.
func texts(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var parts []struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	var out []string
	for _, p := range parts {
		if p.Text != nil {
			out = append(out, *p.Text)
		}
	}
	return out
}

func (responses) refuse(w http.ResponseWriter, status int, message string) {
	refuseJSON(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": "scripted_error", "code": fmt.Sprint(status),
	}})
}

func (responses) write(out *stream, req Request, p reply) error {
	r := responseWriter{out: out, id: "resp_" + token(req), req: req}
	items, err := r.items(p)
	if err != nil {
		return err
	}
	if err := out.end(p); err != nil {
		return err
	}
	done := map[string]any{
		"id": r.id, "object": "response", "created_at": 1, "status": "completed", "model": req.Model,
		"output": items, "usage": responsesUsage(req, p),
	}
	if !out.live {
		return out.whole(done)
	}
	return r.send("response.completed", map[string]any{"response": done})
}

// responseWriter streams the items of one response.
type responseWriter struct {
	out  *stream
	id   string
	req  Request
	sent int // events so far
	n    int
}

func (r *responseWriter) items(p reply) ([]any, error) {
	if err := r.send("response.created", map[string]any{
		"response": map[string]any{"id": r.id, "object": "response", "created_at": 1, "status": "in_progress", "model": r.req.Model, "output": []any{}},
	}); err != nil {
		return nil, err
	}
	var items []any
	for _, run := range runs(p.pieces) {
		item, err := r.item(run, p)
		if err != nil {
			return nil, err
		}
		if item != nil {
			items = append(items, item)
		}
	}
	return items, nil
}

// item streams one item; the text of a reply that is to end early is left open.
func (r *responseWriter) item(run []piece, p reply) (map[string]any, error) {
	r.n++
	item, part := r.shape(run[0])
	item["status"] = "in_progress"
	if err := r.send("response.output_item.added", map[string]any{"item": item}); err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, pc := range run {
		if err := r.out.pause(p.delay); err != nil {
			return nil, err
		}
		if pc.kind == use {
			continue
		}
		text.WriteString(pc.text)
		if err := r.delta(pc, item); err != nil {
			return nil, err
		}
	}
	if p.end != complete && run[0].kind != use {
		return nil, nil
	}
	if part != nil {
		part["text"] = text.String()
	}
	item["status"] = "completed"
	return item, r.send("response.output_item.done", map[string]any{"item": item})
}

// shape is an item to be filled, and the part of it that takes its text.
func (r *responseWriter) shape(first piece) (item, part map[string]any) {
	id := fmt.Sprintf("%s_%d", r.id, r.n)
	switch first.kind {
	case think:
		part = map[string]any{"type": "summary_text", "text": ""}
		return map[string]any{"type": "reasoning", "id": "rs_" + id, "summary": []any{part}}, part
	case use:
		space, name, args := responsesTool(r.req, first)
		call := map[string]any{
			"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": name, "arguments": args,
		}
		if space != "" {
			call["namespace"] = space
		}
		return call, nil
	default:
		part = map[string]any{"type": "output_text", "text": "", "annotations": []any{}}
		return map[string]any{
			"type": "message", "id": "msg_" + id, "role": "assistant", "content": []any{part},
		}, part
	}
}

func (r *responseWriter) delta(pc piece, item map[string]any) error {
	name, index := "response.output_text.delta", "content_index"
	if pc.kind == think {
		name, index = "response.reasoning_summary_text.delta", "summary_index"
	}
	return r.send(name, map[string]any{"item_id": item["id"], "delta": pc.text, index: 0})
}

func (r *responseWriter) send(name string, v map[string]any) error {
	if !r.out.live {
		return nil
	}
	v["type"] = name
	v["output_index"] = max(0, r.n-1)
	v["sequence_number"] = r.sent
	r.sent++
	return r.out.event(name, v)
}

// responsesTool names the tool that does what the script says, among those
// offered, with its arguments as JSON text; space is the namespace it is in.
func responsesTool(req Request, p piece) (space, name, args string) {
	switch p.verb {
	case "call":
		return "", p.args[0], p.args[1]
	case "served":
		space, name, input := req.served(p)
		return space, name, jsonText(input)
	}
	command := shellFor(p)
	switch {
	case slices.Contains(req.Tools, "exec_command"):
		in := map[string]any{"cmd": command}
		if p.verb == "ask" { // a sandboxed command is not asked about; leaving the sandbox is
			in["sandbox_permissions"], in["justification"] = "require_escalated", "a scripted command"
		}
		return "", "exec_command", jsonText(in)
	case slices.Contains(req.Tools, "shell_command"):
		return "", "shell_command", jsonText(map[string]any{"command": command})
	default:
		return "", "shell", jsonText(map[string]any{"command": []string{"bash", "-lc", command}})
	}
}

// shellFor is the shell command of a scripted tool. Codex recognises a
// here-document for apply_patch and treats it as an edit.
func shellFor(p piece) string {
	patch := func(body string) string {
		return "apply_patch <<'EOF'\n*** Begin Patch\n" + body + "\n*** End Patch\nEOF\n"
	}
	switch p.verb {
	case "read":
		return "cat " + p.args[0]
	case "write":
		return patch("*** Add File: " + p.args[0] + "\n+" + p.args[1])
	case "edit":
		return patch("*** Update File: " + p.args[0] + "\n@@\n-" + p.args[1] + "\n+" + p.args[2])
	default:
		return p.args[0]
	}
}

func responsesUsage(req Request, p reply) map[string]any {
	in, out := usage(req, p)
	return map[string]any{
		"input_tokens": in, "input_tokens_details": map[string]any{"cached_tokens": 0},
		"output_tokens": out, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		"total_tokens": in + out,
	}
}
