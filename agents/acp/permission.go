package acp

import (
	"xmd/agents/asking"
	"xmd/agents/wire"
	"xmd/runtime"
)

var requestMembers = []string{"toolCall", "options"}

// parseQuestion reads a request and joins it with what the turn knows of the call. The turn is locked.
func (t *turn) parseQuestion(params []byte, reply wire.Reply) *asking.Question {
	var of [2][]byte
	wire.Pick(params, requestMembers, of[:])
	toolCall, options := of[0], of[1]
	var m [toolMemberCount][]byte
	wire.Pick(toolCall, toolMembers, m[:])
	id, _ := wire.String(m[toolID])
	known := t.tool(id)
	t.merge(known, &m)
	known.identify(&t.p.DoorCall, t.door, toolCall, true)
	door := ""
	if t.p.DoorCall.asks(t.door, known.call.Door, params) {
		door = known.call.Door
	}
	allow, reject := onceOptions(options)
	return &asking.Question{
		Request: runtime.PermissionRequest{
			CallID: id, Kind: known.kind, Title: known.title, Subject: known.call.Subject,
			Command: commandLine(known.call.Input), Paths: paths(known),
			Input: known.call.Input, Diffs: known.call.Diffs, Door: door,
		},
		NoAllow: allow == "",
		Answer: func(allowed bool) {
			if allowed {
				answer(allow, reply)
			} else {
				answer(reject, reply)
			}
		},
		Drop: func() { answer("", reply) },
	}
}

// onceOptions finds the options by their kind. Ids and positions mean nothing, and what would hold for ever is not chosen.
func onceOptions(options []byte) (allow, reject string) {
	for o := range wire.Elements(options) {
		var m [2][]byte
		wire.Pick(o, []string{"kind", "optionId"}, m[:])
		switch id, _ := wire.String(m[1]); {
		case wire.Is(m[0], "allow_once") && allow == "":
			allow = id
		case wire.Is(m[0], "reject_once") && reject == "":
			reject = id
		}
	}
	return allow, reject
}

// asked takes a permission request on the reader.
func (t *turn) asked(r *wire.Message, reply wire.Reply) {
	t.mu.Lock()
	q := t.parseQuestion(r.Params, reply)
	q.ID = r.ID
	t.content()
	t.emit(runtime.Update{Accepts: true}) // the words are there, whatever the answer and however long it takes
	t.mu.Unlock()
	t.questions.Add(asking.Asker{Ask: t.ask, Told: t.told}, q)
}

// told takes the decision about a question, before it is sent.
func (t *turn) told(out runtime.PermissionOutcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !out.Allowed {
		t.refused++
	}
	t.emit(runtime.Update{Kind: runtime.UpdatePermission, Permission: &out})
}

type selected struct {
	Outcome  string `json:"outcome"`
	OptionID string `json:"optionId,omitempty"`
}

type outcome struct {
	Outcome selected `json:"outcome"`
}

// answer chooses an option; "" is none: cancelled. A connection that has ended fails the turn itself.
func answer(option string, reply wire.Reply) {
	if option == "" {
		_ = reply(outcome{selected{Outcome: "cancelled"}}, nil)
		return
	}
	_ = reply(outcome{selected{"selected", option}}, nil)
}
