package codex

import (
	"encoding/json"

	"xmd/agents/asking"
	"xmd/agents/wire"
	"xmd/runtime"
)

// decision is an answer to a question of Codex's.
type decision uint8

const (
	no    decision = iota // the action does not happen, the turn goes on
	yes                   // this once
	never                 // the turn ends
)

// approval is one kind of question.
type approval struct {
	// request reads it; false: nobody can answer it here. The turn is locked.
	request func(t *turn, params []byte) (runtime.PermissionRequest, bool)
	answer  func(params []byte, reply wire.Reply, d decision)
}

// approvals are the questions that Codex asks, by their methods. Every other request is refused as unknown.
var approvals = map[string]approval{
	"item/commandExecution/requestApproval": {(*turn).commandQuestion, decide},
	"item/fileChange/requestApproval":       {(*turn).fileQuestion, decide},
	"item/permissions/requestApproval":      {(*turn).permissionsQuestion, grant},
	"mcpServer/elicitation/request":         {(*turn).toolQuestion, elicit},
}

// asked takes a question on the reader.
func (t *turn) asked(kind approval, m *wire.Message, reply wire.Reply) {
	t.mu.Lock()
	req, ok := kind.request(t, m.Params)
	t.emit(runtime.Update{Accepts: true}) // the words are there, whatever the answer and however long it takes
	if !ok {
		t.emit(runtime.Update{Kind: runtime.UpdateNotice, Text: "refused, as nobody can answer it here: " + req.Title})
	}
	t.mu.Unlock()
	if !ok {
		kind.answer(m.Params, reply, no)
		return
	}
	answer := func(allowed bool) {
		if allowed {
			kind.answer(m.Params, reply, yes)
		} else {
			kind.answer(m.Params, reply, no)
		}
	}
	t.questions.Add(asking.Asker{Ask: t.ask, Told: t.decided}, &asking.Question{
		ID: m.ID, Request: req, Answer: answer, Drop: func() { kind.answer(m.Params, reply, never) },
	})
}

// decided takes the decision about a question, before it is sent.
func (t *turn) decided(out runtime.PermissionOutcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !out.Allowed {
		t.refused++
		if it := t.items[out.Request.CallID]; it != nil {
			it.declined = true
		}
	}
	t.emit(runtime.Update{Kind: runtime.UpdatePermission, Permission: &out})
}

type commandParams struct {
	Kind    string          `json:"kind"` // command, or writeStdin: input for one that runs
	ItemID  string          `json:"itemId"`
	Command string          `json:"command"`
	Cwd     string          `json:"cwd"`
	Reason  string          `json:"reason"`
	Network json.RawMessage `json:"networkApprovalContext"`
	More    json.RawMessage `json:"additionalPermissions"`
}

// commandQuestion asks whether a command may run. Codex runs what is allowed outside of its sandbox.
func (t *turn) commandQuestion(params []byte) (runtime.PermissionRequest, bool) {
	var p commandParams
	_ = json.Unmarshal(params, &p) // what does not fit stays empty
	r := runtime.PermissionRequest{CallID: p.ItemID, Kind: "execute", Title: p.Reason, Subject: script(p.Command)}
	if it := t.items[p.ItemID]; it != nil {
		it.asked = true
		if call, ok := it.call(); ok {
			r.Input = call.Input
		}
		if p.Command == "" {
			p.Command, p.Cwd = it.Command, it.Cwd
			r.Subject = script(it.Command)
		}
	}
	if r.Title == "" {
		r.Title = r.Subject
	}
	plain := (p.Kind == "" || p.Kind == "command") && absent(p.Network)
	if plain {
		r.Command = r.Subject
	}
	if kind, files := reading(r.Subject, p.Cwd); plain && absent(p.More) && kind != "" {
		r.Kind, r.Paths = kind, files
	}
	return r, true
}

func absent(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

// fileQuestion asks whether files may be changed. What and how is only in the item that was told before.
func (t *turn) fileQuestion(params []byte) (runtime.PermissionRequest, bool) {
	var p struct {
		ItemID    string `json:"itemId"`
		Reason    string `json:"reason"`
		GrantRoot string `json:"grantRoot"`
	}
	_ = json.Unmarshal(params, &p) // what does not fit stays empty
	r := runtime.PermissionRequest{CallID: p.ItemID, Kind: "edit", Title: p.Reason}
	if it := t.items[p.ItemID]; it != nil {
		it.asked = true
		r.Paths = it.paths()
		if call, ok := it.call(); ok {
			r.Kind, r.Subject, r.Diffs = call.Kind, call.Subject, call.Diffs
		}
	}
	if p.GrantRoot != "" {
		r.Paths = append(r.Paths, p.GrantRoot)
	}
	if r.Title == "" {
		r.Title = "Edit files"
	}
	return r, true
}

// permissionsQuestion asks for more than the sandbox lets the model do.
func (t *turn) permissionsQuestion(params []byte) (runtime.PermissionRequest, bool) {
	id, _ := wire.String(wire.Field(params, "itemId"))
	title, _ := wire.String(wire.Field(params, "reason"))
	if title == "" {
		title = "More permissions"
	}
	return runtime.PermissionRequest{CallID: id, Kind: "other", Title: title, Input: wire.Raw(wire.Field(params, "permissions"))}, true
}

// toolQuestion asks whether a tool of an MCP server may be used. A form of the server's own is none that anybody here can fill in.
func (t *turn) toolQuestion(params []byte) (runtime.PermissionRequest, bool) {
	var p struct {
		Server  string `json:"serverName"`
		Message string `json:"message"`
		Title   string `json:"title"`
		Meta    struct {
			Kind   string          `json:"codex_approval_kind"`
			Tool   string          `json:"tool_name"`
			Params json.RawMessage `json:"tool_params"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p) // what does not fit stays empty
	r := runtime.PermissionRequest{Kind: "other", Title: p.Message, Subject: p.Server, Input: p.Meta.Params}
	if r.Title == "" {
		r.Title = p.Title
	}
	if p.Meta.Kind != "mcp_tool_call" {
		return r, false
	}
	for _, id := range t.order { // the question does not say which call it is about: the first one that none was about
		it := t.items[id]
		if it.Type != "mcpToolCall" || it.asked || it.Server != p.Server || p.Meta.Tool != "" && it.Tool != p.Meta.Tool || it.Status != "inProgress" {
			continue
		}
		it.asked = true
		r.CallID, r.Subject, r.Input, r.Door = id, it.toolName(), it.Arguments, t.doorTool(it)
		break
	}
	return r, true
}

// decide answers a question about a command or files. "acceptForSession" and lasting rules are never chosen.
func decide(_ []byte, reply wire.Reply, d decision) {
	words := map[decision]string{yes: "accept", no: "decline", never: "cancel"}
	_ = reply(struct { // a connection that has ended fails the turn itself
		Decision string `json:"decision"`
	}{words[d]}, nil)
}

// elicit answers a question of an MCP server.
func elicit(_ []byte, reply wire.Reply, d decision) {
	words := map[decision]string{yes: "accept", no: "decline", never: "cancel"}
	out := struct {
		Action  string    `json:"action"`
		Content *struct{} `json:"content"`
	}{Action: words[d]}
	if d == yes {
		out.Content = &struct{}{}
	}
	_ = reply(out, nil) // as above
}

// grant answers a question about permissions: with those that were asked for, for this turn, or with none.
func grant(params []byte, reply wire.Reply, d decision) {
	granted := map[string]json.RawMessage{}
	if d == yes {
		for _, member := range []string{"network", "fileSystem"} {
			if v := wire.Path(params, "permissions", member); v != nil && string(v) != "null" {
				granted[member] = v
			}
		}
	}
	_ = reply(struct { // as above
		Permissions map[string]json.RawMessage `json:"permissions"`
		Scope       string                     `json:"scope"`
	}{granted, "turn"}, nil)
}
