package runtime

import "context"

// Launcher is an Agent with an interface of its own, in which a person can go on with a conversation.
type Launcher interface {
	// Native tells what the interface can do.
	Native() NativeInfo
	// Window says how the interface is started: argv, environment, folder, and what is to be removed when nothing of it is left. It
	// starts nothing. Errors are *Error.
	Window(w WindowRequest) (Program, error)
	// Released waits, saying so once through notice, until no program of the provider has the conversation open, as far as that can be
	// seen from outside; it changes nothing. An *Error of KindBusy: it is still open; else the cause of ctx.
	Released(ctx context.Context, id string, notice func(string)) error
}

// NativeInfo is what an agent's own interface can do; plain data, but for Begins.
type NativeInfo struct {
	// NewID chooses the id of a conversation that is begun in the interface; nil: the provider chooses ids, and none can be begun there.
	NewID func() string
	// Begins is the same agent as it is reached where NewID is nil and conversations for the interface are made beforehand: its connections
	// are Beginners. nil: none can be made.
	Begins      Agent
	Instructs   bool     // a conversation can be begun with an instruction layer
	VersionArgv []string // prints the version of an agent whose handshake tells it otherwise; nil: AgentInfo.VersionArgv does
	Env         []string // what the interface, and VersionArgv, get beside the person's environment
}

// WindowRequest is the conversation that an interface is to be opened on.
type WindowRequest struct {
	ID           string
	New          bool   // ID was chosen by NativeInfo.NewID, and the conversation does not exist yet
	Instructions string // the instruction layer that it begins, or was begun, with; "": none is given
	Root         string
	Env          []string // the person's environment as KEY=value
}

// Terminal is the person's terminal. Package agents/native implements it over proc.
type Terminal interface {
	// Run runs a program in the foreground of the terminal and returns when no process of it is left and the terminal is as it was. What
	// is typed is the program's, and so are the terminal's signals. When ctx ends the program is ended; the error is ctx's cause. An
	// *Error of KindUnavailable says that it could not be started.
	Run(ctx context.Context, p Program) (ProgramExit, error)
	Close() error
}
