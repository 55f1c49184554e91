package acp

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"xmd/agents/wire"
)

// commandLine is the command of a call's input as one line of shell; "" when the input has none. A program with arguments is joined by
// blanks; a shell that is handed a script is the script.
func commandLine(input json.RawMessage) string {
	v := wire.Field(input, "command")
	if v == nil {
		v = wire.Field(input, "cmd")
	}
	if s, ok := wire.String(v); ok {
		return s
	}
	var words []string
	for e := range wire.Elements(v) {
		s, ok := wire.String(e)
		if !ok {
			return ""
		}
		words = append(words, s)
	}
	if len(words) == 3 && slices.Contains([]string{"sh", "bash", "zsh"}, path.Base(words[0])) && (words[1] == "-c" || words[1] == "-lc") {
		return words[2]
	}
	return strings.Join(words, " ")
}

// pathMembers are the members of an input that hold a path or an address.
var pathMembers = []string{"file_path", "abs_path", "path", "notebook_path", "old_path", "new_path", "source", "destination", "url"}

// paths lists every path and address that a call names: in its input, its diffs, its locations. Each once, in that order.
func paths(k *tool) []string {
	var list []string
	add := func(s string) {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, member := range pathMembers {
		s, _ := wire.String(wire.Field(k.call.Input, member))
		add(s)
	}
	var changes map[string]json.RawMessage // Codex's own form of an edit: by path
	if json.Unmarshal(wire.Field(k.call.Input, "changes"), &changes) == nil {
		names := make([]string, 0, len(changes))
		for name := range changes {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			add(name)
		}
	}
	for _, d := range k.call.Diffs {
		add(d.Path)
	}
	for _, s := range k.places {
		add(s)
	}
	return list
}
