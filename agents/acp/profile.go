package acp

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"xmd/agents/past"
	"xmd/agents/wire"
)

// Profile is what the driver must know of one agent. It is data: the zero value of every field is what an agent that
// keeps to the protocol needs. Read-only once an Agent has it.
type Profile struct {
	Mode string          // set after every new and load; "": the agent's own
	Meta json.RawMessage // "_meta" of every session/new and session/load; nil: none
	// Options are config options that would let it act without asking, with the value at which it asks.
	Options []Option

	StartLimit time.Duration // to the answer of initialize; 0: only the caller's context
	LoadLimit  time.Duration // of a load without any traffic; 0: DefaultLoadLimit
	NewLimit   time.Duration // to the answer of session/new, and of each change of a setting; 0: DefaultNewLimit
	EOFWait    time.Duration // between the end of stdin and TERM; 0: DefaultEOFWait

	HomeVar string // names the provider home in the agent's environment
	HomeDir string // below the person's home when HomeVar is not set; "": unknown
	HomeTop string // names the folder that HomeDir is in, in place of the person's home

	Evidence Evidence // where identity and history are read
	Asserts  bool     // an id in _meta.sessionId of a load is the provider's own, never an echo
	Fence    string   // update kind behind the last replayed one; "": 2 s of silence
	NoFence  bool     // the answer of a load is behind the whole replay
	// Trails says that a long message of the replay lets the fence pass: the rest comes behind it, with pauses shorter than this. 0: never.
	Trails     time.Duration
	past.Forms // how the history shows the words of the person, and the agent's own
	// CompletedMark is a member of _meta that is true in a replayed update when the turn it belongs to came to its normal end; "":
	// the replay says nothing of ends.
	CompletedMark string
	TurnEnd       TurnEnd      // the same, told by a notification of its own
	WholeTurns    bool         // every replayed piece of a user message is a message
	Trims         bool         // its history has answers without the blanks around them: none can be taken over as it was
	Unsaid        []past.Frame // messages of a replay that stand in one of these are not the model's
	// Rewritten is in an answer that a client is shown in other words than the history holds; only a replay has the words that were
	// shown. "": none.
	Rewritten string

	Missing []Shape // errors of a load that mean: no such conversation
	// Unlisted says that those mean so only if the agent's own list does not name the conversation, in whatever folder, or its files
	// hold nothing of it, where they are known.
	Unlisted bool
	Busy     []Shape // errors of a load that mean: open in another process
	// Files is how the files of a conversation are named below the home: a glob with {minute}, in which the file was made, and {id8}.
	Files       string
	MinuteLoses bool // a load in the minute of one of them loses the conversation
	// Twins says that the files are as Gemini's are: a load makes one for whose sake all are deleted.
	Twins bool
	// BusyWait is how long a load waits for the other process, saying so; 0: it is busy at once.
	BusyWait time.Duration

	SignIn     string // what the person does to sign in: "run `x login`"
	RejectEnds bool   // refusing a permission ends the turn

	NoticeWithoutID bool     // a message chunk without messageId is the adapter's, not the model's
	Harmless        []string // notices that begin so are no failure of the turn
	CostIsTotal     bool     // a reported cost is the sum of the process so far
	UsageIsTotal    bool     // so are the figures of a result
	OwnWords        []string // a message that begins so may be the agent's own word, not the model's
	Noise           []string // a message that begins so is the agent's word, not the model's
	CompactTitle    string   // title of the tool call that stands for a shortening of the history
	CompactNotice   string   // a notice that begins so says the same

	Instructions Instructions // where it takes the workflow's instructions
	NoCommands   bool         // MCP servers by command are dropped without a word
	// Ready is a notification that says that it is done with the MCP servers of a new or loaded conversation; "": none.
	Ready string
	// AwaitsDoor is how long a first prompt is held back at most until the door was asked for its tools: what comes before that is answered
	// without them, or without its instructions. 0: not at all.
	AwaitsDoor time.Duration
	DoorMissed string   // why the door may never be asked for them, where that is to be said
	DoorCall   DoorCall // how a call of a tool of the door is told from any other
	DoorFailed string   // a tool call whose id begins so, with {server}, says that the door was not started; "": none does
	ServerMark string   // a member of a call's _meta that is true for a tool of an MCP server, whatever its kind is said to be; "": none

	HandshakeVersion bool // initialize names the version of the CLI that changes
	DropsStdio       bool // a stdio tool server that a client names is left out without a word
}

// Evidence names where identity and history of a loaded conversation are read.
type Evidence uint8

const (
	EvidenceProtocol Evidence = iota // session/list where it is offered, and the replay
	EvidenceRollout                  // Codex's rollout file
)

const (
	// DefaultLoadLimit is how long a load may stay without traffic.
	DefaultLoadLimit = 60 * time.Second
	// DefaultNewLimit is how long an agent may take to make a conversation, or to change a setting of one.
	DefaultNewLimit = 60 * time.Second
	// fetchLimit bounds the start of an agent that npx downloads first.
	fetchLimit = 15 * time.Minute
	// DefaultEOFWait is how long an agent may take to leave after its stdin has ended.
	DefaultEOFWait = 3 * time.Second
	// quiet is the silence that stands for a fence that does not come.
	quiet = 2 * time.Second
	// busyPause lies between two loads of a busy conversation.
	busyPause = 2 * time.Second
	// cancelWait bounds the wait for the end of a cancelled turn.
	cancelWait = 10 * time.Second
)

// codeNotSignedIn is the protocol's "authentication required".
const codeNotSignedIn = -32000

// Shape recognises one error answer exactly.
type Shape struct {
	Code int
	// Member is a dotted path to a string of the error: "message", "data.details"; "": the code is enough.
	Member string
	// Prefix is what that string begins with.
	Prefix string
}

func (s Shape) fits(e *wire.Error) bool {
	if e.Code != s.Code {
		return false
	}
	switch head, rest, _ := strings.Cut(s.Member, "."); head {
	case "":
		return true
	case "message":
		return strings.HasPrefix(e.Message, s.Prefix)
	case "data":
		var path []string
		if rest != "" {
			path = strings.Split(rest, ".")
		}
		text, ok := wire.String(wire.Path(e.Data, path...))
		return ok && strings.HasPrefix(text, s.Prefix)
	}
	return false
}

func fitsAny(shapes []Shape, e *wire.Error) bool {
	for _, s := range shapes {
		if s.fits(e) {
			return true
		}
	}
	return false
}

// Home is the provider home in an environment of KEY=value; "" when the profile or the environment names none.
func (p Profile) Home(env []string) string {
	if p.HomeVar != "" {
		if dir := getenv(env, p.HomeVar); dir != "" {
			return dir
		}
	}
	home := getenv(env, "HOME")
	if p.HomeTop != "" && getenv(env, p.HomeTop) != "" {
		home = getenv(env, p.HomeTop)
	}
	if p.HomeDir == "" || home == "" {
		return ""
	}
	return filepath.Join(home, p.HomeDir)
}

func (p Profile) loadLimit() time.Duration {
	if p.LoadLimit > 0 {
		return p.LoadLimit
	}
	return DefaultLoadLimit
}

func (p Profile) newLimit() time.Duration {
	if p.NewLimit > 0 {
		return p.NewLimit
	}
	return DefaultNewLimit
}

func (p Profile) eofWait() time.Duration {
	if p.EOFWait > 0 {
		return p.EOFWait
	}
	return DefaultEOFWait
}

// getenv finds the last value of a name in KEY=value pairs, as a started process does.
func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}
