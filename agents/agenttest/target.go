package agenttest

import (
	"testing"

	"xmd/runtime"
)

// Target is an agent under test. It is read-only while the suite runs.
type Target struct {
	// Name tells targets apart in test names and in the evidence, for example "codex 0.162.1 over acp".
	Name string
	// Row is the row of the table that the target belongs to, and Release the version of the agent there; zero: it is no real program.
	Row
	Release string
	// Version is what the handshake must name; "": it is not looked at.
	Version string
	// At says how the agent is reached in a place. It is called once for each process that the suite starts, so it must
	// be ready to find what an earlier process left in the place.
	At func(t testing.TB, p Place) Reach
	// Model starts what the agent talks to and returns its address; nil: the agent needs none.
	Model  func(t testing.TB) string
	Script Script
	Store  Store
}

// Place is where one conversation lives: it outlives the processes that serve it.
type Place struct {
	Home  string // the person's home, absolute; nothing outside it is written but in Root
	Root  string // where the agent works, a real path
	Model string // the address of the model; "" when the target needs none
}

// Reach is an agent in a place and the whole environment it is started with.
type Reach struct {
	Agent runtime.Agent
	Env   []string
}

// Script is what to say to an agent to make it do something. A case whose prompt is missing is skipped, and says so.
type Script struct {
	Tell  string // tells the codeword ZEBRA; at least 20 letters
	Told  string // the whole answer to Tell
	Ask   string // asks for the codeword
	Knows string // is in the answer to Ask when the agent still has the conversation, and never otherwise

	Stream   string // is answered in several pieces
	Streamed string // joined, they are this
	Think    string // is answered after a thought
	Thought  string // which is this
	Steps    string // is answered by several messages with a tool between them
	Tool     string // uses a tool that asks nothing
	ToolAsks bool   // but this agent asks for everything that it tells of
	ToolSays string // is in its output, or in the answer; "": not looked at

	// Permit uses a tool that asks first and, if it may, makes the file.
	Permit func(file string) string
	// Makes says that Permit really makes its file; otherwise Allowed is in the answer.
	Makes   bool
	Allowed string

	// Call uses the tool submit of an MCP server with that value, and answers with what it returned. nil: it cannot be made to.
	Call func(server, value string) string

	Slow   string // answers with a first piece soon and goes on for a long time
	Fail   string // the model fails, and the agent says so
	Failed string // is in what it says
	// Stay makes the agent start a process that would stay, and keep its turn open. The prompts are sent one after
	// another, the last one in a turn that does not end; it or the one before has made the file when the process runs.
	// Files is false when the agent makes none.
	Stay      func(file string) []string
	StayFiles bool
}

// Store is the target's own storage and what is expected when it is damaged. A nil function: it cannot be done.
type Store struct {
	// Locks says that a conversation that is open in one process cannot be opened in another.
	Locks bool
	// Durable says that a conversation without a turn can be loaded.
	Durable bool
	// Unknown is the id of a conversation that never was, in the form the provider uses.
	Unknown string
	// Remove deletes the conversation.
	Remove func(t testing.TB, p Place, id string)
	// Empty leaves a conversation that loads and of which the model knows nothing. It may return a replacement for the
	// reach of the next process, or nil.
	Empty func(t testing.TB, p Place, id string) *Reach
	// Swap makes the store hold another id where this one was.
	Swap func(t testing.TB, p Place, id string) *Reach
	// Swapped is what must come of it.
	Swapped Swapped
	// File is where the provider keeps the conversation; "" while there is none.
	File func(p Place, id string) string
	// Ended stands in the file once for each turn that came to its normal end, and Ends says that a load tells of it too.
	Ended string
	Ends  bool
	// Trims says that the history has answers without the blanks around them, so that none can be taken over.
	Trims bool
	// Late says that the file may get the words of a prompt a moment after they count as accepted.
	Late bool
}

// Swapped is what a swapped id must lead to.
type Swapped uint8

const (
	// SwapRefused: Open fails, and not as conversation-missing, or it reports an asserted id that is the other one.
	SwapRefused Swapped = iota
	// SwapListed: the store goes by the name alone; Open succeeds and the list names the id. Claude's is of this kind.
	SwapListed
	// SwapOmitted: the load succeeds, and the list names only the other id. Grok's is of this kind.
	SwapOmitted
)
