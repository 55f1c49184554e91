package event

import "encoding/json"

// Run tells of the document that runs.
type Run struct {
	Document string         `json:"document"`
	Digest   string         `json:"digest"` // of the plan
	Dir      string         `json:"dir"`
	Props    map[string]any `json:"props,omitempty"`
	Resumed  bool           `json:"resumed,omitempty"` // the run goes on
	Edited   []Source       `json:"edited,omitempty"`  // the sources from here on, when they are not the first ones
}

// Source is one document as it was when the run used it.
type Source struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Delta is a piece of text: of the output (text), an answer (message), a thought, a notice, a child's output.
type Delta struct {
	Text   string `json:"text"`
	Stream string `json:"stream,omitempty"` // exec.output: stdout or stderr
}

// Step is the start or end of a step.
type Step struct {
	Kind     string `json:"kind"`
	Input    string `json:"input,omitempty"`   // digest of what the step was given
	Outcome  string `json:"outcome,omitempty"` // ended: done, failed, cancelled, refused, skipped
	ExitCode *int   `json:"exitCode,omitempty"`
	Value    any    `json:"value,omitempty"` // what was bound
	Error    *Error `json:"error,omitempty"`
}

// Entry is one entry of a REPL. All but the number belong to its start.
type Entry struct {
	Number int    `json:"number"`
	Name   string `json:"name,omitempty"`  // as positions name it
	Text   string `json:"text,omitempty"`  // as it was given
	Apart  bool   `json:"apart,omitempty"` // a document of its own, whose names end with it
	Agent  string `json:"agent,omitempty"` // of prompts that name none
}

// Discarded says that the end of a step (step.discarded) or one turn of a prompt (prompt.discarded) does not count any more: it is made
// again.
type Discarded struct {
	Reason string `json:"reason"` // resume, retry, resend
}

// Behaviour says that a run makes use of a behaviour that an earlier build of xmd did not have.
type Behaviour struct {
	Number int `json:"number"`
}

// Launch is a phase of a native interface: prepared (the conversation is known), detached (its window is about to open), exited.
type Launch struct {
	Phase        string `json:"phase"`
	NativeID     string `json:"nativeSessionId"`
	Instructions string `json:"instructions,omitempty"` // digest of the instruction layer
	ExitCode     *int   `json:"exitCode,omitempty"`     // exited
}

// Agent tells of a started agent process.
type Agent struct {
	Shown     string `json:"shown"`
	Transport string `json:"transport"`
}

// Session tells of a provider conversation that was opened or attached.
type Session struct {
	NativeID   string `json:"nativeSessionId"`
	Root       string `json:"root"`
	Transport  string `json:"transport"`
	Generation int    `json:"generation,omitempty"`
	Loaded     bool   `json:"loaded"`
	Identity   string `json:"identity,omitempty"` // asserted, listed, loaded, history, new
	History    string `json:"history,omitempty"`  // confirmed, unconfirmed, shortened, none
	Version    string `json:"version,omitempty"`  // observed
	// Instructions is the digest of the instruction layer a conversation was begun with; "": none.
	Instructions string `json:"instructions,omitempty"`
}

// Warn is a warning.
type Warn struct {
	Code string `json:"code"` // compat, history, permission, frontmatter …
	Text string `json:"text"`
}

// Sent is a prompt about to be sent.
type Sent struct {
	Turn     int    `json:"turn"` // number within the session
	Attempt  int    `json:"attempt"`
	Words    string `json:"words"`
	NativeID string `json:"nativeSessionId"`
	Scope    string `json:"scope,omitempty"`   // whose unnamed session it is
	Resend   bool   `json:"resend,omitempty"`  // the author wants it sent again when its fate is not known
	Restart  bool   `json:"restart,omitempty"` // a conversation that is lost is begun anew
}

// HandedOver says that a prompt does not simply go on in its agent's own conversation, and what is sent beside its words.
type HandedOver struct {
	Reason       string `json:"reason"`                 // joined, missed, tools-changed, instructions-changed, lost, no-load
	Conversation string `json:"conversation,omitempty"` // its name
	Block        string `json:"block,omitempty"`        // as sent
	Entries      int    `json:"entries,omitempty"`      // that the agent had not seen
	LeftOut      int    `json:"leftOut,omitempty"`      // of them, that the block does not hold
	Secrets      int    `json:"secrets,omitempty"`      // known secrets that were replaced in it
}

// Accepted says that the provider has the words.
type Accepted struct {
	Turn     int    `json:"turn"`
	NativeID string `json:"nativeSessionId"`
}

// Ended is the end of a prompt.
type Ended struct {
	Turn     int    `json:"turn"`
	Outcome  string `json:"outcome"` // done, failed, cancelled, refused, skipped
	Stop     string `json:"stop,omitempty"`
	Reply    string `json:"reply"`
	Adopted  bool   `json:"adopted,omitempty"` // the reply was taken from the provider's history
	Value    any    `json:"value,omitempty"`   // what was captured
	NativeID string `json:"nativeSessionId,omitempty"`
	Identity string `json:"identity,omitempty"`
	History  string `json:"history,omitempty"`
	Usage    any    `json:"usage,omitempty"`
	Error    *Error `json:"error,omitempty"`
}

// Tool is an agent's action.
type Tool struct {
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Kind    string          `json:"kind,omitempty"`
	Subject string          `json:"subject,omitempty"`
	Outcome string          `json:"outcome,omitempty"` // ended: done, failed, not run, unknown
	Input   json.RawMessage `json:"input,omitempty"`
	Output  string          `json:"output,omitempty"`
	Diffs   any             `json:"diffs,omitempty"`
	// Milliseconds is how long it took from its start to its end, as far as xmd saw them; of the end only.
	Milliseconds int64 `json:"milliseconds,omitempty"`
	Own          bool  `json:"own,omitempty"` // a tool of the workflow, as its call came in; else what the agent tells of
}

// Asked is a permission request and its answer.
type Asked struct {
	Kind    string `json:"kind,omitempty"`
	Title   string `json:"title"`
	Subject string `json:"subject,omitempty"`
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"`
}

// Questioned is a question to a person.
type Questioned struct {
	Name    string `json:"name"` // what --answer calls it
	Text    string `json:"text"`
	Choices []any  `json:"choices,omitempty"`
}

// Answered is the answer to a question.
type Answered struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	From  string `json:"from"` // person, given, default
}

// Todos is the agent's own list.
type Todos struct {
	Items any `json:"items"`
}

// Used is what the agent reported.
type Used struct {
	Usage any `json:"usage"`
}

// Error is one error as machines read it.
type Error struct {
	Code      int    `json:"code"` // the exit code of its kind
	Kind      string `json:"kind"`
	Retryable bool   `json:"retryable"`
	Message   string `json:"message"`
	Position  string `json:"position,omitempty"`
	Step      string `json:"step,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Session   string `json:"session,omitempty"`
}

// End is the end of a run.
type End struct {
	Outcome  string   `json:"outcome"` // done, failed, waiting, cancelled, invalid
	ExitCode int      `json:"exitCode"`
	Errors   []*Error `json:"errors,omitempty"`
	Value    any      `json:"value,omitempty"` // what a document with returns gave
	Resume   string   `json:"resume,omitempty"`
	Stopped  int      `json:"stopped,omitempty"` // which of the document's nodes found the run cancelled
	Output   *Digest  `json:"digest,omitempty"`
}

// Digest tells a rendered document from another without holding it.
type Digest struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}
