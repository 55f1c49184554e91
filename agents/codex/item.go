package codex

import (
	"bytes"
	"encoding/json"
	"strings"

	"xmd/agents/wire"
	"xmd/runtime"
)

// item is one thing of a turn, as far as it is looked at: message, thought or action. Codex tells it whole at its start and at its end.
type item struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Status string `json:"status"` // inProgress completed failed declined; "": the kind has none

	Text    string   `json:"text"`    // agentMessage
	Summary []string `json:"summary"` // reasoning
	Content []string `json:"content"` // reasoning

	Command string  `json:"command"` // commandExecution: a whole command line, mostly of a shell
	Cwd     string  `json:"cwd"`
	Output  *string `json:"aggregatedOutput"`

	Changes []change `json:"changes"` // fileChange

	Server    string          `json:"server"` // mcpToolCall
	Namespace string          `json:"namespace"`
	Tool      string          `json:"tool"` // also dynamicToolCall, collabAgentToolCall
	Arguments json.RawMessage `json:"arguments"`
	Result    struct {
		Content []textInput `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	ContentItems []textInput `json:"contentItems"`
	Prompt       string      `json:"prompt"`

	Query  string `json:"query"` // webSearch
	Action struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	} `json:"action"`
	Path string `json:"path"` // imageView

	declined bool // xmd refused it
	asked    bool // a question about it has come
}

// change is one file of a fileChange.
type change struct {
	Path string `json:"path"`
	Kind struct {
		Type     string `json:"type"` // add delete update
		MovePath string `json:"move_path"`
	} `json:"kind"`
	Diff string `json:"diff"` // the text of a file that is added or deleted, hunks of one that is updated
}

// item takes the start or the end of an item. The rollout has the person's words when their own item comes; a compaction may come before
// that, and proves nothing.
func (t *turn) item(params []byte, done bool) {
	it := parseItem(wire.Field(params, "item"))
	switch it.Type {
	case "agentMessage":
		if done {
			t.rest(runtime.UpdateMessage, it.ID, it.Text)
			return
		}
	case "reasoning":
		if done {
			t.rest(runtime.UpdateThought, it.ID, it.thought())
			return
		}
	case "contextCompaction":
		if done {
			t.emit(runtime.Update{Kind: runtime.UpdateCompaction})
			return
		}
		t.emit(runtime.Update{})
		return
	case "hookPrompt":
		t.emit(runtime.Update{})
		return
	default:
		if call, ok := t.action(&it, done); ok {
			t.emit(runtime.Update{Kind: runtime.UpdateTool, Accepts: true, Tool: call})
			return
		}
	}
	t.emit(runtime.Update{Accepts: true})
}

// parseItem reads what is known of an item; a member of another form than it was is left out.
func parseItem(raw []byte) item {
	var it item
	_ = json.Unmarshal(raw, &it) // what does not fit stays empty
	return it
}

// thought is the text of a thought that was not streamed.
func (it *item) thought() string {
	if len(it.Summary) > 0 {
		return strings.Join(it.Summary, "\n\n")
	}
	return strings.Join(it.Content, "\n\n")
}

// action takes an item that is an action of the model's; false: it is none.
func (t *turn) action(it *item, done bool) (*runtime.ToolCall, bool) {
	call, ok := it.call()
	if !ok || it.ID == "" {
		return nil, false
	}
	if t.items == nil {
		t.items = map[string]*item{}
	}
	if before := t.items[it.ID]; before != nil {
		it.declined, it.asked = before.declined, before.asked
	} else {
		t.order = append(t.order, it.ID)
	}
	call.Status, call.Door = it.callStatus(done), t.doorTool(it)
	t.items[it.ID] = it
	return call, true
}

// doorTool is the workflow's own tool that an action is a call of, by the server or the list that Codex took it from; "": it is none.
func (t *turn) doorTool(it *item) string {
	byServer := it.Type == "mcpToolCall" && t.door != "" && it.Server == t.door
	if byServer || it.Type == "dynamicToolCall" && t.own.has(it.Namespace, it.Tool) {
		return it.Tool
	}
	return ""
}

// callStatus is the status of an action as the runtime has it.
func (it *item) callStatus(done bool) string {
	switch {
	case done && it.declined && it.Status != "completed", it.Status == "declined":
		return "declined"
	case it.Status == "failed":
		return "failed"
	case done:
		return "completed"
	}
	return "in_progress"
}

// call tells an action in the runtime's words; false: the item is none.
func (it *item) call() (*runtime.ToolCall, bool) {
	c := &runtime.ToolCall{ID: it.ID}
	switch it.Type {
	case "commandExecution":
		it.command(c)
	case "fileChange":
		it.edit(c)
	case "mcpToolCall":
		c.Kind, c.Name, c.Input = "other", it.toolName(), it.Arguments
		c.Output = newest(it.texts(it.Result.Content))
	case "dynamicToolCall":
		c.Kind, c.Name, c.Input = "other", it.toolName(), it.Arguments
		c.Output = newest(it.texts(it.ContentItems))
	case "collabAgentToolCall":
		c.Kind, c.Name, c.Subject = "other", it.Tool, it.Prompt
	case "webSearch":
		c.Kind, c.Name, c.Subject = "search", "Search", it.Query
		if it.Action.URL != "" {
			c.Kind, c.Name, c.Subject = "fetch", "Fetch", it.Action.URL
		}
	case "imageView":
		c.Kind, c.Name, c.Subject = "read", "Read", it.Path
	default:
		return nil, false
	}
	return c, true
}

// toolName is how a tool of a server or of the client is called.
func (it *item) toolName() string {
	for _, of := range []string{it.Server, it.Namespace} {
		if of != "" {
			return of + "." + it.Tool
		}
	}
	return it.Tool
}

func (it *item) texts(content []textInput) string {
	texts := []string{}
	for _, part := range content {
		if part.Text != "" {
			texts = append(texts, part.Text)
		}
	}
	if it.Error.Message != "" {
		texts = append(texts, it.Error.Message)
	}
	return strings.Join(texts, "\n")
}

// uniform is one word for the same kind of action of every agent.
var uniform = map[string]string{"read": "Read", "search": "Search", "execute": "Bash"}

// command tells a command line.
func (it *item) command(c *runtime.ToolCall) {
	c.Subject = script(it.Command)
	c.Kind, _ = reading(c.Subject, it.Cwd)
	if c.Kind == "" {
		c.Kind = "execute"
	}
	c.Name = uniform[c.Kind]
	c.Input = encode(struct {
		Command string `json:"command"`
		Cwd     string `json:"cwd,omitempty"`
	}{c.Subject, it.Cwd})
	if it.Output != nil {
		c.Output = newest(*it.Output)
	}
}

// edit tells a change of files. One that only deletes is a deletion.
func (it *item) edit(c *runtime.ToolCall) {
	c.Kind, c.Name = "delete", "Edit"
	for _, ch := range it.Changes {
		if ch.Kind.Type != "delete" {
			c.Kind = "edit"
		}
		if c.Subject == "" {
			c.Subject = ch.Path
		}
		c.Diffs = append(c.Diffs, ch.diffs()...)
	}
	if len(it.Changes) == 0 {
		c.Kind = "edit"
	}
}

// paths are all that a change of files touches.
func (it *item) paths() []string {
	var list []string
	for _, ch := range it.Changes {
		list = append(list, ch.Path)
		if ch.Kind.MovePath != "" {
			list = append(list, ch.Kind.MovePath)
		}
	}
	return list
}

// diffs are the edits of one file: the whole text of one that comes or goes, and each hunk of one that changes.
func (ch change) diffs() []runtime.Diff {
	switch ch.Kind.Type {
	case "add":
		return []runtime.Diff{{Path: ch.Path, New: ch.Diff}}
	case "delete":
		return []runtime.Diff{{Path: ch.Path, Old: &ch.Diff}}
	}
	var list []runtime.Diff
	var before, after strings.Builder
	flush := func() {
		if old := before.String(); old != "" || after.Len() > 0 {
			list = append(list, runtime.Diff{Path: ch.Path, Old: &old, New: after.String()})
		}
		before.Reset()
		after.Reset()
	}
	for line := range strings.Lines(ch.Diff) {
		switch line[0] {
		case '@':
			flush()
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		case ' ':
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		}
	}
	flush()
	return list
}

// encode makes JSON of what always can be, as people read it.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

// maxOutput bounds what is kept of an action's output, in bytes: its newest part.
const maxOutput = 64 << 10

func newest(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxOutput:], "")
}
