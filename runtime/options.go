package runtime

import (
	"context"
	"os"
	"time"

	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/secret"
	"xmd/runtime/store"
)

// Options are what a Runner needs. Everything that is not deterministic comes in here.
type Options struct {
	RunID  string
	Dir    string // the run's directory, a real path
	Stream *event.Stream
	Store  *store.Store
	Agents Agents
	Door   Door  // offers the tools of documents; nil: no document that runs has any. The caller closes it after the Runner
	Relay  Relay // reaches MCP servers for agents that do not take them; nil: nothing does

	Observer Observer
	Programs Programs // runs exec blocks
	// Terminal takes the person's terminal for an agent's own interface: what the document said so far stands there, and nobody else reads
	// it until it is closed. An *Error of KindUsage: there is none. nil: there is none.
	Terminal func(ctx context.Context) (Terminal, error)
	Policy   Policy // of a flag; "": none was given, and the document decides alone
	Ask      Asker  // nil: nobody is present

	Answers Answers           // asks the person; nil: nobody is present
	Given   map[string]Answer // answers given with the run, by name: "ship", "ship[2]" for the second asking

	Handoff Handoff // renders what agents have missed; nil: a Conversation with several agents fails
	// Tree says in a few lines what state the working tree in dir is in; "": not known, or there is none. nil: never known.
	Tree func(ctx context.Context, dir string) string
	Hide *secret.Hider // of what must not be handed over from one agent to another; nil: nothing

	Testing Testing // for test documents; nil: what runs is none

	Past    *journal.Past // what an earlier invocation of this run has on record; nil: nothing
	Offline bool          // only tell what is on record: run nothing, contact nobody
	Replay  bool          // the run has ended: it is told to where it ended; with Offline
	// Retry says that a recorded step is run again because the person asked for it: what was made of its result may be another now.
	Retry  bool
	Settle map[string]Settling // what becomes of prompts whose fate is not known, by step identity (with #k)

	DefaultAgent string // for prompts that name none; "" when there is none
	Children     []string
	Secrets      *secret.Set // declared secrets; nil: none
	Props        map[string]any
	Env          map[string]any // the names under env:
	Meta         map[string]any
	LookupEnv    func(name string) (string, bool) // for the env: of component files; nil: Children are searched

	Idle             time.Duration // how long an agent may show nothing in a turn; 0: for ever
	PromptLimit      time.Duration // how long a prompt may take, all its turns together; 0: for ever
	ExecLimit        time.Duration // how long an exec block may take; 0: for ever
	Budget           Budget        // what the run may use
	Wait             time.Duration // for a busy session; 0: refuse at once
	RequireConfirmed bool
	WholeReplies     bool // prompt.ended must carry the whole reply, whatever its size
	Notice           func(string)
	AgentStderr      func([]byte)
	TraceFrames      func(direction string, frame []byte)
	Command          string // for lock owners: "xmd run review.xmd"
}

// Settling is a person's word on a prompt in flight whose fate is not known, or on a step that is to be run again.
type Settling string

// The three words.
const (
	SettleResend Settling = "resend" // send it again
	SettleAdopt  Settling = "adopt"  // take what stands in the conversation as the reply
	SettleSkip   Settling = "skip"   // go on without it
)

// Programs runs the child of an exec block. Package agents implements it over proc.
type Programs interface {
	// Run starts argv, feeds its output to the two functions as it comes (never at once), and returns when no process of it is
	// left. When ctx ends the whole group is ended. An error means that it could not be started, or ctx's cause.
	Run(ctx context.Context, p Program) (ProgramExit, error)
}

// Program is one child to run. Its stdin is empty, unless a Terminal runs it.
type Program struct {
	Argv           []string
	Env            []string
	Dir            string
	Locks          []*os.File // held by its guardian until no process of it is left
	Remove         string     // a folder that goes when no process of it is left, also if this process was killed; "": none
	Stdout, Stderr func([]byte)
}

// ProgramExit is how a child ended.
type ProgramExit struct {
	Code   int    // 128+n when a signal ended it
	Signal string // its name, "" otherwise
}
