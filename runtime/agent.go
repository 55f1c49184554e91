package runtime

import (
	"context"
	"encoding/json"
	"os"
)

// Agents finds agents by the name used in a document. Package agents implements it. Safe for concurrent use.
type Agents interface {
	// Lookup says how name is reached on this machine. It contacts nobody and starts nothing. An *Error of kind
	// KindUnavailable says what is missing and how to install it; KindInvalid: no such agent, with a suggestion.
	Lookup(name string) (Agent, error)
	// Names lists the agents that could be looked up (built in and configured), sorted.
	Names() []string
}

// Agent is one agent as this machine reaches it. Immutable.
type Agent interface {
	Info() AgentInfo
	// Start launches the agent's process under its guardian, in opts.Root, and initializes the protocol. Errors are *Error
	// (KindUnavailable, KindNotSignedIn, KindCancelled). On error nothing is left running.
	Start(ctx context.Context, opts StartOptions) (Connection, error)
}

// AgentInfo is what the runtime, compat and people need to know of an agent; plain data.
type AgentInfo struct {
	Name      string // as in documents: "codex"
	Shown     string // as shown to people: "Codex"
	Transport string // "acp" or "app-server"
	Home      string // the provider home looked in, for messages; may be empty
	Command   []string

	VersionArgv []string // prints the version of the CLI that really changes; nil: the handshake tells it
	VersionEnv  []string // environment for VersionArgv; nil: the same as the agent's
	Executable  string   // the file whose digest tells builds apart; "": none
	RejectEnds  bool     // refusing a permission ends the agent's turn
	AskMode     string   // the mode in which the agent asks for permissions; "": it has no modes
	ConfirmList bool     // the provider's own session list may confirm identity
	ConfirmLoad bool     // a load that succeeded confirms identity (Gemini)
	ListOnly    bool     // nothing but that list, or an id that is stated, confirms identity
	Defaults    Settings // what prompts get that choose nothing
	Channel     Channel  // where it takes the workflow's instructions
	OwnTools    bool     // it can be told the workflow's tools directly, fixed when the conversation is made
}

// StartOptions are what a start needs from the runtime.
type StartOptions struct {
	Root   string     // real path; the agent works here
	Locks  []*os.File // locks the guardian holds until no process of the agent is left
	Env    []string   // the environment as KEY=value; the profile adds to it
	Notice func(string)
	Trace  func(direction string, frame []byte) // raw frames; nil: none
	Stderr func([]byte)                         // the agent's stderr as it comes (-v); nil: kept only
}

// Connection is one live agent process serving one provider conversation. Not safe for concurrent calls, except Close.
// Abilities beyond these three methods are small interfaces below, asked for by assertion.
type Connection interface {
	// Open makes a new provider conversation (id == "") or loads exactly id, and reports what the provider showed of it.
	// Errors are *Error: KindMissing only for the exact shapes of the profile, KindNotSignedIn, KindBusy, KindUnsupported,
	// KindCouldNotLoad (retryable) for everything else. It never makes a replacement.
	Open(ctx context.Context, id string) (Opened, error)
	// Prompt sends one turn and returns when it has ended. When ctx ends the turn is cancelled by protocol (pending
	// permissions answered first) and its real end waited for, bounded. A turn that the agent ended badly is a TurnResult with
	// Failure set; an error (*Error) means that the turn has no end: process died, protocol error before anything was accepted.
	Prompt(ctx context.Context, turn Turn) (TurnResult, error)
	// Close ends the process by the teardown ladder and returns when no process of the agent is left, or ctx ends. Idempotent.
	Close(ctx context.Context) error
}

// Holder is a Connection that can hand a further lock to its guardian; it returns after the guardian has acknowledged it.
type Holder interface {
	Hold(ctx context.Context, lock *os.File) error
}

// Ender is a Connection that tells when it has ended by itself.
type Ender interface {
	// Done is closed when nothing can be sent any more. What the agent has started may still run: Close waits for it.
	Done() <-chan struct{}
}

// Loader is a Connection that tells whether the agent can load a conversation at all. One that does not is taken to be able.
type Loader interface {
	CanLoad() bool
}

// Configurer is a Connection on which model, effort and mode of the conversation can be chosen.
type Configurer interface {
	// Configure makes the conversation that was opened work with s from its next turn on. An empty member means what the
	// conversation had when it was opened; for the mode, the one in which the agent asks. An *Error of KindUnsupported says that
	// the agent offers no such choice, one of KindFailed that it offers other values, with their names.
	Configure(ctx context.Context, s Settings) error
}

// Beginner is a Connection that can make a conversation which the provider keeps before it has a turn. For agents whose own interface can
// open a conversation but not begin one.
type Beginner interface {
	// NewDurable makes a conversation with these instructions in the agent's own channel for them ("": none), and returns its id when the
	// provider keeps it. No prompt is sent and no model asked; the connection serves that conversation from then on. Errors are as of
	// Connection.Open; KindUnsupported says that the provider does not keep it.
	NewDurable(ctx context.Context, instructions string) (id string, err error)
}

// Informer is a Connection that can tell the model something of the workflow's own, apart from the words.
type Informer interface {
	// Inform has text go with the next turn that the agent takes, once, in the agent's own channel for it. It stays in the conversation. A
	// second call before that turn replaces the text; "" takes it back.
	Inform(text string)
}

// Settings are what an author may choose of how an agent works. Empty members are left to the agent.
type Settings struct{ Model, Effort, Mode string }

// HandshakeVersioner is a Connection whose handshake named the CLI's version ("" when it did not).
type HandshakeVersioner interface {
	HandshakeVersion() string
}

// Opened is what the provider showed of a conversation that was made or loaded.
type Opened struct {
	ID       string  // the native id: of session/new, or the one asked for
	Asserted string  // an id that the provider stated by itself (never an echo of the request); "": none
	Listed   Listed  // after a load: whether the provider's own list names the id for this root
	History  History // after a load
}

// Listed is the answer of a provider's own session list.
type Listed uint8

const (
	ListNotOffered Listed = iota // no list, or it failed
	ListNames                    // read to its end, names the id
	ListOmits                    // read to its end, does not name the id
)

// History is what is in a loaded provider conversation, as far as the provider shows it.
type History struct {
	Known     bool       // false: the form could not be read; then history is unconfirmed
	UserTurns int        // user turns seen, synthetic ones not counted
	Compacted bool       // an earlier part was replaced by a summary
	Newest    []PastTurn // the newest 64 user turns, oldest first

	// LastReply is the text that follows the newest user turn, filtered as a live reply is, whether or not that turn is Completed;
	// nil when there is no turn, its text is not known or it is longer than MaxAdopted.
	LastReply *string
	// Unread says that something could not be read that may hold turns newer than the newest one.
	Unread bool
}

// MaxAdopted bounds, in bytes, the reply that can be taken over from a provider's history.
const MaxAdopted = 16 << 20

// PastTurn is one user turn of a history with the reply that followed it (zero: none seen).
type PastTurn struct {
	Words Fingerprint
	Reply Fingerprint
	// Completed says that the provider itself recorded a normal end of the turn. Text that looks like an answer is none.
	Completed bool
}

// Turn is one request to an agent.
type Turn struct {
	Words string
	// Schema is the JSON Schema that the answer should fit, for a driver that can hold the model to it; the words ask for it too, and the
	// caller judges the answer. nil: none.
	Schema json.RawMessage
	// Sink receives what the agent does, on the connection's reader, in wire order; the pipe is the flow control. It must not
	// call the connection. Strings in an Update are valid after the call.
	Sink func(Update)
	// Ask decides one permission request; called from a goroutine of its own, while updates may go on. It returns when its ctx
	// ends, for Prompt waits for it. A nil Ask refuses.
	Ask func(ctx context.Context, req PermissionRequest) bool
}

// UpdateKind tells what an Update carries.
type UpdateKind uint8

const (
	UpdateOther      UpdateKind = iota // counted, never shown: commands, modes, titles, unknown kinds
	UpdateMessage                      // Text: a delta of the answer
	UpdateThought                      // Text: a delta of a thought
	UpdateNotice                       // Text: what the adapter said, not the model
	UpdateTool                         // Tool: a call started, changed or ended
	UpdateTodo                         // Todo: the agent's own list
	UpdateUsage                        // Usage
	UpdateCompaction                   // the agent shortened its history
	UpdatePermission                   // Permission: a request and how it was answered
)

// Update is one thing an agent did in a turn. Only the field its kind names is set.
type Update struct {
	Kind       UpdateKind
	Accepts    bool   // proves that the provider has the words in its conversation
	Text       string // UpdateMessage, UpdateThought, UpdateNotice
	Tool       *ToolCall
	Todo       []TodoItem
	Usage      *Usage
	Permission *PermissionOutcome
}

// ToolCall is one action of an agent. Later updates of the same ID carry what changed; empty fields mean "as before".
type ToolCall struct {
	ID      string          `json:"id"`
	Name    string          `json:"name,omitempty"`    // uniform: Read Edit Bash Fetch Search, else the agent's own title
	Kind    string          `json:"kind,omitempty"`    // the protocol's kind: read edit delete move search execute think fetch other
	Subject string          `json:"subject,omitempty"` // path, command, pattern
	Status  string          `json:"status,omitempty"`  // pending in_progress completed failed declined
	Input   json.RawMessage `json:"input,omitempty"`
	Output  string          `json:"output,omitempty"`
	Diffs   []Diff          `json:"diffs,omitempty"`
	Door    string          `json:"door,omitempty"` // by structured identity the workflow's own tool of this name, called through the door
}

// Diff is one edit of a tool call. Old is nil for a new file.
type Diff struct {
	Path string  `json:"path"`
	Old  *string `json:"old,omitempty"`
	New  string  `json:"new"`
}

// TodoItem is one entry of an agent's own list.
type TodoItem struct {
	Text   string `json:"text"`
	Status string `json:"status"`
}

// Usage is what an agent reported; nil figures were not reported, which is not zero.
type Usage struct {
	InputTokens  *int64   `json:"inputTokens,omitempty"`
	OutputTokens *int64   `json:"outputTokens,omitempty"`
	CachedTokens *int64   `json:"cachedTokens,omitempty"`
	TotalTokens  *int64   `json:"totalTokens,omitempty"`
	Cost         *float64 `json:"cost,omitempty"`
	Currency     string   `json:"currency,omitempty"`
}

// PermissionRequest is one question of an agent. The driver picks the option by its kind, never by id or position, and only
// a *_once kind.
type PermissionRequest struct {
	CallID  string
	Kind    string   // tool kind; "" when missing
	Title   string   // as the agent words it; for people only, never matched
	Subject string   // command or path of the call's input, else what stands for it; for people only
	Command string   // of the call's input, as one line of shell; "": none
	Paths   []string // every path or address the call names: of its input, its diffs, its locations
	Input   json.RawMessage
	Diffs   []Diff
	Door    string `json:",omitempty"` // by structured identity a call of the workflow's own tool of this name; "": anything else
}

// PermissionOutcome is one answered question.
type PermissionOutcome struct {
	Request PermissionRequest
	Allowed bool
	Reason  string // why it was refused: policy, nobody to ask, no matching option, no running turn
}

// TurnResult is how a turn ended.
type TurnResult struct {
	Stop    string // the protocol's stop reason: end_turn, cancelled, max_tokens, refusal …
	Failure string // the agent's own message when the turn failed though it ended; "" otherwise
	// Retryable says that the agent told of a Failure that it may pass.
	Retryable bool
	Refused   int // permission requests that were refused in this turn
	Usage     *Usage
	Late      bool // the end came only after the bounded wait of a cancel: process must be closed
	// SessionID is an id the provider stated in this turn (Claude's raw session_id); "" when none.
	SessionID string
}
