package acp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"xmd/agents/wire"
	"xmd/runtime"
)

// maxOutput bounds what is kept of a tool call's output, in bytes: its newest part.
const maxOutput = 64 << 10

// maxPlaces bounds the places kept of one call.
const maxPlaces = 1000

// tool is what is known so far of one tool call of the running turn. A permission request may name only its id.
type tool struct {
	kind, title string
	call        runtime.ToolCall // as last reported, merged
	output      []byte           // streamed by the adapter beside the updates
	texts       string           // its newest content while it ran
	places      []string         // the paths it named beside its input
	compaction  bool
	told        bool // an update of it was shown
	seen        bool // anything of it came
	served      bool // it is of an MCP server's tool, by the agent's own mark
	foreign     bool // it is known to be no call of the door's
}

var toolMembers = []string{"toolCallId", "title", "kind", "status", "content", "rawInput", "rawOutput", "locations", "_meta"}

// The places of toolMembers.
const (
	toolID = iota
	toolTitle
	toolKind
	toolStatus
	toolContent
	toolInput
	toolOutput
	toolLocations
	toolMeta
	toolMemberCount
)

// action takes a tool call or what changed of one.
func (t *turn) action(u *update) {
	var m [toolMemberCount][]byte
	wire.Pick(u.raw, toolMembers, m[:])
	id, ok := wire.String(m[toolID])
	if !ok {
		t.emit(runtime.Update{})
		return
	}
	known := t.tool(id)
	before := known.call
	if !known.told {
		before = runtime.ToolCall{ID: id} // a question may have told of it, but nobody was shown that
	}
	known.told = true
	t.merge(known, &m)
	known.identify(&t.p.DoorCall, t.door, u.raw, false)
	if known.compaction {
		t.compactionCall(before, known)
		return
	}
	t.content()
	changed := difference(before, known.call)
	if nothing(changed) {
		t.emit(runtime.Update{Accepts: true})
		return
	}
	t.emit(runtime.Update{Kind: runtime.UpdateTool, Accepts: true, Tool: &changed})
}

// compactionCall shows the call that stands for a shortening of the history as what it is, once.
func (t *turn) compactionCall(before runtime.ToolCall, now *tool) {
	if now.call.Status == "completed" && before.Status != "completed" {
		t.emit(runtime.Update{Kind: runtime.UpdateCompaction})
		return
	}
	t.emit(runtime.Update{})
}

func (t *turn) tool(id string) *tool {
	known := t.tools[id]
	if known == nil {
		known = &tool{call: runtime.ToolCall{ID: id}}
		if t.tools == nil {
			t.tools = map[string]*tool{}
		}
		t.tools[id] = known
	}
	return known
}

// merge adds what an update or a permission request says of a call.
func (t *turn) merge(k *tool, m *[toolMemberCount][]byte) {
	if s, ok := wire.String(m[toolTitle]); ok && s != "" {
		k.title = s
		k.compaction = k.compaction || t.p.CompactTitle != "" && s == t.p.CompactTitle
	}
	k.served = k.served || t.p.ServerMark != "" && string(wire.Field(m[toolMeta], t.p.ServerMark)) == "true"
	if s, ok := wire.String(m[toolKind]); ok && s != "" {
		if k.served {
			s = "other"
		}
		k.kind, k.call.Kind = s, s
	}
	if s, ok := wire.String(m[toolStatus]); ok && s != "" {
		k.call.Status = s
	}
	if in := m[toolInput]; len(in) > 0 && string(in) != "null" && string(in) != "{}" {
		k.call.Input = wire.Raw(in)
	}
	if diffs := diffsOf(m[toolContent]); diffs != nil {
		k.call.Diffs = diffs
	}
	for place := range wire.Elements(m[toolLocations]) {
		k.addPlace(place)
	}
	k.call.Name = uniformName(k.kind, k.title)
	if s := subject(k, m); s != "" {
		k.call.Subject = s
	}
	k.streamed(m[toolMeta])
	if s := k.outputText(m); s != "" {
		k.call.Output = s
	}
}

func (k *tool) addPlace(place []byte) {
	s, _ := wire.String(wire.Field(place, "path"))
	switch {
	case s == "" || slices.Contains(k.places, s):
	case len(k.places) < maxPlaces:
		k.places = append(k.places, s)
	case len(k.places) == maxPlaces:
		k.places = append(k.places, "\x00") // there are more: no pattern is known to cover them all
	}
}

// uniformName is one word for the same action of every agent.
func uniformName(kind, title string) string {
	switch kind {
	case "read":
		return "Read"
	case "edit":
		return "Edit"
	case "execute":
		return "Bash"
	case "fetch":
		return "Fetch"
	case "search":
		return "Search"
	}
	return title
}

// subjects are the members of an input that say what a call is about, the most telling first.
var subjects = []string{"command", "cmd", "file_path", "abs_path", "path", "pattern", "query", "url"}

// subject is the path, command or pattern of a call: of its input, else of its places, else its title where the name does
// not hold it. An input that is there but empty will be filled in later; the title is a mere word then.
func subject(k *tool, u *[toolMemberCount][]byte) string {
	var m [8][]byte
	wire.Pick(k.call.Input, subjects, m[:])
	for _, v := range m {
		if s := phrase(v); s != "" {
			return s
		}
	}
	for place := range wire.Elements(u[toolLocations]) {
		if s, _ := wire.String(wire.Field(place, "path")); s != "" {
			return s
		}
	}
	if len(k.call.Diffs) > 0 {
		return k.call.Diffs[0].Path
	}
	if k.call.Subject == "" && k.call.Name != k.title && string(u[toolInput]) != "{}" {
		return k.title
	}
	return ""
}

// phrase is a string, or an array of strings as one line.
func phrase(v []byte) string {
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
	return strings.Join(words, " ")
}

// diffsOf lists the edits among a call's content, nil when there is none.
func diffsOf(content []byte) []runtime.Diff {
	var diffs []runtime.Diff
	for item := range wire.Elements(content) {
		if !wire.Is(wire.Field(item, "type"), "diff") {
			continue
		}
		var d struct {
			Path    string  `json:"path"`
			OldText *string `json:"oldText"`
			NewText string  `json:"newText"`
			Meta    struct {
				Kind string `json:"kind"`
			} `json:"_meta"`
		}
		if json.Unmarshal(item, &d) == nil {
			if d.Meta.Kind == "add" {
				d.OldText = nil // Gemini says so and gives an empty text
			}
			diffs = append(diffs, runtime.Diff{Path: d.Path, Old: d.OldText, New: d.NewText})
		}
	}
	return diffs
}

// streamed keeps what Codex's adapter sends of a running command beside the protocol's own content.
func (k *tool) streamed(meta []byte) {
	delta := wire.Field(meta, "terminal_output_delta")
	if delta == nil {
		delta = wire.Field(meta, "terminal_output")
	}
	text, ok := wire.String(wire.Field(delta, "data"))
	if !ok {
		if text, ok = wire.String(delta); !ok {
			return
		}
	}
	k.output = append(k.output, text...)
	if over := len(k.output) - maxOutput; over > 0 {
		k.output = append(k.output[:0], k.output[over:]...)
	}
}

// outputText is the output, told once at the end: what was streamed, else the raw output as a text, else the content.
// Content before that says what is going to be done.
func (k *tool) outputText(m *[toolMemberCount][]byte) string {
	if texts := contentTexts(m[toolContent]); texts != "" && k.call.Status != "pending" {
		k.texts = texts
	}
	if k.call.Status != "completed" && k.call.Status != "failed" {
		return ""
	}
	if len(k.output) > 0 {
		return strings.ToValidUTF8(string(k.output), "\uFFFD")
	}
	if raw := rawOutput(m[toolOutput]); raw != "" {
		return newest(raw)
	}
	return newest(k.texts)
}

func contentTexts(content []byte) string {
	var texts []string
	for item := range wire.Elements(content) {
		if !wire.Is(wire.Field(item, "type"), "content") {
			continue
		}
		if s, _ := contentText(wire.Field(item, "content")); s != "" {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}

// rawOutput is the text in an agent's own form of an output.
func rawOutput(v []byte) string {
	if s, ok := wire.String(v); ok {
		return s
	}
	for _, key := range []string{"formatted_output", "output", "stdout", "text"} {
		if s, ok := wire.String(wire.Field(v, key)); ok && s != "" {
			return s
		}
	}
	if s, ok := wire.String(wire.Path(v, "output", "OkayOutput")); ok { // Grok's, of a server's tool
		return s
	}
	s, _ := contentText(wire.Path(v, "result", "content")) // Codex's adapter's, of the same
	return s
}

func newest(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxOutput:], "")
}

// difference is what changed of a call, with its id.
func difference(before, now runtime.ToolCall) runtime.ToolCall {
	d := now
	if before.Name == now.Name {
		d.Name = ""
	}
	if before.Kind == now.Kind {
		d.Kind = ""
	}
	if before.Subject == now.Subject {
		d.Subject = ""
	}
	if before.Status == now.Status {
		d.Status = ""
	}
	if bytes.Equal(before.Input, now.Input) {
		d.Input = nil
	}
	if before.Output == now.Output {
		d.Output = ""
	}
	if sameDiffs(before.Diffs, now.Diffs) {
		d.Diffs = nil
	}
	if before.Door == now.Door {
		d.Door = ""
	}
	return d
}

func nothing(c runtime.ToolCall) bool {
	return c.Name == "" && c.Kind == "" && c.Subject == "" && c.Status == "" && c.Input == nil && c.Output == "" && c.Diffs == nil && c.Door == ""
}

func sameDiffs(a, b []runtime.Diff) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		old := (a[i].Old == nil) == (b[i].Old == nil) && (a[i].Old == nil || *a[i].Old == *b[i].Old)
		if !old || a[i].Path != b[i].Path || a[i].New != b[i].New {
			return false
		}
	}
	return true
}
