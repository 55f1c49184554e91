package runtime

import (
	"context"
	"os"
	"time"

	"xmd/runtime/event"
	"xmd/runtime/store"
)

// Options are what a Runner needs. Everything that is not deterministic comes in here.
type Options struct {
	RunID  string
	Dir    string // the run's directory, a real path
	Stream *event.Stream
	Store  *store.Store
	Agents Agents

	Observer Observer
	Programs Programs // runs exec blocks
	Policy   Policy   // of a flag; "": none was given, and the document decides alone
	Ask      Asker    // nil: nobody is present

	Answers Answers           // asks the person; nil: nobody is present
	Given   map[string]Answer // answers given with the run, by name: "ship", "ship[2]" for the second asking

	DefaultAgent string // for prompts that name none; "" when there is none
	Children     []string
	Props        map[string]any
	Env          map[string]any // the names under env:
	Meta         map[string]any
	LookupEnv    func(name string) (string, bool) // for the env: of component files; nil: Children are searched

	Wait             time.Duration // for a busy session; 0: refuse at once
	RequireConfirmed bool
	WholeReplies     bool // prompt.ended must carry the whole reply, whatever its size
	Notice           func(string)
	AgentStderr      func([]byte)
	TraceFrames      func(direction string, frame []byte)
	Command          string // for lock owners: "xmd run review.xmd"
}

// Programs runs the child of an exec block. Package agents implements it over proc.
type Programs interface {
	// Run starts argv, feeds its output to the two functions as it comes (never at once), and returns when no process of it is
	// left. When ctx ends the whole group is ended. An error means that it could not be started, or ctx's cause.
	Run(ctx context.Context, p Program) (ProgramExit, error)
}

// Program is one child to run. Its stdin is empty.
type Program struct {
	Argv           []string
	Env            []string
	Dir            string
	Locks          []*os.File // held by its guardian until no process of it is left
	Stdout, Stderr func([]byte)
}

// ProgramExit is how a child ended.
type ProgramExit struct {
	Code   int    // 128+n when a signal ended it
	Signal string // its name, "" otherwise
}
