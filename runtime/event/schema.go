package event

import _ "embed"

// Schema is the JSON Schema of one event, the same text as specs/events.schema.json.
//
//go:embed events.schema.json
var Schema string

// bodies is what each type of event carries; nil: nothing beside the head. The schema is made from it.
var bodies = map[Type]any{
	RunStarted: Run{}, StepStarted: Step{}, Text: Delta{}, AgentStarted: Agent{}, SessionOpened: Session{}, SessionAttached: Session{},
	Warning: Warn{}, PromptSent: Sent{}, PromptAccepted: Accepted{}, Message: Delta{}, Thought: Delta{}, Notice: Delta{},
	ToolStarted: Tool{}, ToolEnded: Tool{}, Permission: Asked{}, UsageReported: Used{}, Todo: Todos{}, Compaction: nil, Handoff: HandedOver{},
	PromptEnded: Ended{}, ExecOutput: Delta{}, Question: Questioned{}, Answer: Answered{}, StepEnded: Step{}, RunEnded: End{},
	StepDiscarded: Discarded{}, PromptDiscarded: Discarded{}, BehaviourUsed: Behaviour{}, Launched: Launch{},
}
