package model

import (
	"encoding/json"
	"slices"
)

// offered is what a request says of a tool that the model may call: the members its input may have.
type offered map[string][]string

// offer notes a tool with the JSON schema of its input.
func (req *Request) offer(name string, schema json.RawMessage) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // a tool without a schema takes anything
	members := make([]string, 0, len(s.Properties))
	for member := range s.Properties {
		members = append(members, member)
	}
	if req.offers == nil {
		req.offers = offered{}
	}
	req.offers[name] = members
	req.Tools = append(req.Tools, name)
}

// toolNamed lists, for what a script does, what agents call the tool that does it.
var toolNamed = map[string][]string{
	"run":   {"bash", "run_shell_command", "run_terminal_command"},
	"ask":   {"bash", "run_shell_command", "run_terminal_command"},
	"read":  {"read", "read_file", "view"},
	"write": {"write", "write_file", "create"},
	"edit":  {"edit", "replace", "search_replace"},
}

// memberNamed lists what agents call a member of a tool's input, the name that is used when none is offered first.
var memberNamed = map[string][]string{
	"command": {"command"},
	"why":     {"description", "instruction"},
	"file":    {"file_path", "filePath", "path", "target_file"},
	"text":    {"content", "file_text", "contents"},
	"old":     {"old_string", "oldString", "old_str"},
	"new":     {"new_string", "newString", "new_str"},
}

// pick names the tool that does what the script says, among those offered, and its input.
func (req Request) pick(p piece) (name string, input any) {
	o := req.offers
	if p.verb == "served" {
		_, name, input = req.served(p)
		return name, input
	}
	if p.verb == "call" {
		return p.args[0], json.RawMessage(p.args[1])
	}
	names := toolNamed[p.verb]
	name = names[0]
	for _, n := range names {
		if _, ok := o[n]; ok {
			name = n
			break
		}
	}
	in := map[string]any{}
	put := func(member, value string) {
		for _, m := range memberNamed[member] {
			if slices.Contains(o[name], m) {
				in[m] = value
				return
			}
		}
		if member != "why" {
			in[memberNamed[member][0]] = value
		}
	}
	put("why", "a scripted call")
	switch p.verb {
	case "run", "ask":
		put("command", p.args[0])
	case "read":
		put("file", p.args[0])
	case "write":
		put("file", p.args[0])
		put("text", p.args[1]+"\n")
	case "edit":
		put("file", p.args[0])
		put("old", p.args[1])
		put("new", p.args[2])
	}
	return name, in
}
