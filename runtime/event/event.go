// Package event is what happened in a run, as one ordered stream.
//
//	executor ──Emit/Commit──▶ Stream ──▶ text on stdout      (Text)
//	                            │  ├───▶ NDJSON on stdout    (JSON)
//	                            │  ├───▶ lines on stderr     (Notes)
//	                            │  └───▶ store               (records durable, deltas batched)
//	                            └ seq, time, run
//
// Renderers read events and nothing else. A record is an event that is durable before anything built on it happens; a delta
// is one that is only batched. The JSON of both is specs/events.schema.json.
package event

import (
	"encoding/json"
	"time"
)

// Version is the number of the event form, the member v of every event.
const Version = 1

// Type names what happened.
type Type string

// The types of events.
const (
	RunStarted      Type = "run.started"
	StepStarted     Type = "step.started"
	Text            Type = "text"
	AgentStarted    Type = "agent.started"
	SessionOpened   Type = "session.opened"
	SessionAttached Type = "session.attached"
	Warning         Type = "warning"
	PromptSent      Type = "prompt.sent"
	PromptAccepted  Type = "prompt.accepted"
	Message         Type = "message"
	Thought         Type = "thought"
	Notice          Type = "notice"
	ToolStarted     Type = "tool.started"
	ToolEnded       Type = "tool.ended"
	Permission      Type = "permission"
	UsageReported   Type = "usage"
	Todo            Type = "todo"
	Compaction      Type = "compaction"
	Handoff         Type = "handoff"
	PromptEnded     Type = "prompt.ended"
	ExecOutput      Type = "exec.output"
	Question        Type = "question"
	Answer          Type = "answer"
	StepEnded       Type = "step.ended"
	StepDiscarded   Type = "step.discarded"
	PromptDiscarded Type = "prompt.discarded"
	BehaviourUsed   Type = "behaviour"
	Launched        Type = "launch"
	RunEnded        Type = "run.ended"
)

// Event is one thing that happened. Body is one of this package's body types, or nil.
type Event struct {
	Seq  uint64
	Time time.Time
	Run  string // "" is written as null: nothing ran
	Type Type
	At   At
	Body any
	// Replayed says that it happened in an earlier invocation of the run and is only told again.
	Replayed bool
}

// At says where in the document and on which session something happened. All members may be empty.
type At struct {
	Step     string `json:"step,omitempty"`     // step identity
	Position string `json:"position,omitempty"` // file.xmd:12:3
	Agent    string `json:"agent,omitempty"`
	Session  string `json:"session,omitempty"`
}

// head is the part that every event has.
type head struct {
	V    int     `json:"v"`
	Seq  uint64  `json:"seq"`
	Time string  `json:"time"`
	Run  *string `json:"run"`
	Type Type    `json:"type"`
	At
	Replayed bool `json:"replayed,omitempty"`
}

// AppendJSON appends the event as one JSON object, without a line end. Body members stand beside the head's.
func (e *Event) AppendJSON(buf []byte) ([]byte, error) {
	h := head{V: Version, Seq: e.Seq, Time: e.Time.UTC().Format(time.RFC3339Nano), Type: e.Type, At: e.At, Replayed: e.Replayed}
	if e.Run != "" {
		h.Run = &e.Run
	}
	raw, err := json.Marshal(h)
	if err != nil {
		return buf, err
	}
	if e.Body == nil {
		return append(buf, raw...), nil
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return buf, err
	}
	buf = append(buf, raw[:len(raw)-1]...)
	if len(body) > 2 {
		buf = append(buf, ',')
		buf = append(buf, body[1:]...)
		return buf, nil
	}
	return append(buf, '}'), nil
}
