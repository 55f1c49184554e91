package acp

import (
	"slices"
	"strings"

	"xmd/agents/wire"
)

// DoorCall is how a call of a tool of the door is told from any other: by what the agent itself writes into a call, never by words that a
// model or another server can choose. {server} stands for the door's name and {tool} for the tool's. The zero value: no call is known to
// be the door's.
type DoorCall struct {
	// Member is where a call names its server and tool.
	Member []string
	// Form is what stands there. {rest} at its end stands for anything that follows the last occurrence of what is before it.
	Form string
	// Tool is where the tool is named, if not in Form.
	Tool []string
	// First says that it counts only in the first update of a call: a later one may be in the model's words.
	First bool
	// With must stand beside it, and Unless must, where its member is there at all.
	With, Unless []Sign
	// Asked must stand in the parameters of a permission request that is about it.
	Asked []Sign
	// NeverAsks says that the agent asks for no such call, so a request is never about one.
	NeverAsks bool
}

// Sign is a member and what it is: a string, or true for the value "true".
type Sign struct {
	Member []string
	Value  string
}

// acts are the kinds of actions that no tool of the door is.
var acts = []string{"execute", "edit", "delete", "move", "fetch"}

// tool is the tool of the door that a call is said to be of; "": none. named says whether the call names any at all.
func (d *DoorCall) tool(door string, call []byte) (tool string, named bool) {
	text, ok := wire.String(wire.Path(call, d.Member...))
	if !ok || door == "" || len(d.Member) == 0 {
		return "", false
	}
	form := strings.ReplaceAll(d.Form, "{server}", door)
	if d.Tool != nil {
		if tool, _ = wire.String(wire.Path(call, d.Tool...)); text != form {
			return "", true
		}
	} else {
		tool = between(text, form)
	}
	fill := strings.NewReplacer("{server}", door, "{tool}", tool)
	for _, s := range d.With {
		if !s.stands(call, fill) {
			return "", true
		}
	}
	for _, s := range d.Unless {
		if wire.Path(call, s.Member...) != nil && !s.stands(call, fill) {
			return "", true
		}
	}
	return tool, true
}

// between is what stands in the place of {tool}; "": the text is of another form.
func between(text, form string) string {
	before, after, _ := strings.Cut(form, "{tool}")
	name, ok := strings.CutPrefix(text, before)
	if !ok {
		return ""
	}
	if end, open := strings.CutSuffix(after, "{rest}"); open {
		i := strings.LastIndex(name, end)
		return name[:max(i, 0)]
	}
	if name, closed := strings.CutSuffix(name, after); closed {
		return name
	}
	return ""
}

func (s Sign) stands(in []byte, fill *strings.Replacer) bool {
	v := wire.Path(in, s.Member...)
	return s.Value == "true" && string(v) == "true" || wire.Is(v, fill.Replace(s.Value))
}

// identify notes whether a call is the door's, by an update or, when asked is set, by the permission request about it. What was once known
// to be no call of the door's, or names two tools, never is one.
func (k *tool) identify(d *DoorCall, door string, call []byte, asked bool) {
	first := !k.seen
	k.seen = true
	if !d.First || first && !asked {
		switch tool, named := d.tool(door, call); {
		case !named:
		case tool == "", k.call.Door != "" && k.call.Door != tool:
			k.foreign = true
		default:
			k.call.Door = tool
		}
	}
	if k.foreign = k.foreign || slices.Contains(acts, k.kind); k.foreign {
		k.call.Door = ""
	}
}

// asks says whether a permission request has the form of one about a call of the door's.
func (d *DoorCall) asks(door, tool string, params []byte) bool {
	if tool == "" || d.NeverAsks {
		return false
	}
	fill := strings.NewReplacer("{server}", door, "{tool}", tool)
	for _, s := range d.Asked {
		if !s.stands(params, fill) {
			return false
		}
	}
	return true
}

// doorLost takes the word of an agent that the door was not started, where a server of the person's own has its name: then no call is the
// door's.
func (c *conn) doorLost(update []byte) {
	if c.p.DoorFailed == "" || c.equipment.door == "" {
		return
	}
	id, _ := wire.String(wire.Field(update, "toolCallId"))
	if !strings.HasPrefix(id, strings.ReplaceAll(c.p.DoorFailed, "{server}", c.equipment.door)) {
		return
	}
	c.mu.Lock()
	told, t := c.noDoor, c.turn
	c.noDoor = true
	c.mu.Unlock()
	if t != nil {
		t.mu.Lock()
		t.door = ""
		t.mu.Unlock()
	}
	if !told && c.notice != nil {
		c.notice(c.Info.Shown + " did not start the workflow's tools: " + c.failedWords(update))
	}
}

// failedWords are the agent's own about why.
func (c *conn) failedWords(update []byte) string {
	if text := contentTexts(wire.Field(update, "content")); text != "" {
		return text
	}
	return "it does not say why"
}
