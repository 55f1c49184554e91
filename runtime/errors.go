package runtime

import (
	"errors"
	"fmt"
)

// Kind says what a caller does about an error. It is printed in brackets at the end of a message and decides the exit code.
type Kind string

const (
	KindUsage        Kind = "usage"                // flags, unknown command
	KindInvalid      Kind = "invalid"              // document, props, unknown run, session or agent name
	KindFailed       Kind = "failed"               // a step failed
	KindTimeout      Kind = "timeout"              // an authored timeout
	KindDivergence   Kind = "divergence"           // a recorded step no longer fits
	KindStore        Kind = "store"                // the state folder cannot be used
	KindWaiting      Kind = "waiting"              // an answer of a person is missing
	KindUnavailable  Kind = "agent-unavailable"    // an agent is missing or cannot be launched
	KindNotSignedIn  Kind = "not-signed-in"        // the agent wants a sign-in
	KindMissing      Kind = "conversation-missing" // the provider says it has no such conversation
	KindEmpty        Kind = "conversation-empty"   // loaded, and nothing of ours is in it
	KindMismatch     Kind = "identity-mismatch"    // another id came back
	KindUnasserted   Kind = "identity-unasserted"  // nothing but an echo confirms the id
	KindUnconfirmed  Kind = "history-unconfirmed"  // with --require-confirmed
	KindCouldNot     Kind = "could-not-load"       // temporary; never "lost"
	KindBusy         Kind = "busy"                 // another owner
	KindRecovery     Kind = "recovery-required"    // an owner died in a turn
	KindUnsettled    Kind = "unsettled"            // what became of a step when its run died is not known
	KindInstructions Kind = "instructions-refused" // a conversation was begun with other instructions
	KindUnsupported  Kind = "unsupported"          // the agent offers no such operation
	KindRoute        Kind = "state-unaccountable"  // a record this build cannot read
	KindLimit        Kind = "limit"                // a limit of the run
	KindRefused      Kind = "refused"              // a permission was refused
	KindCancelled    Kind = "cancelled"            // signal, closed stdout
	KindInternal     Kind = "internal"             // a fault of xmd itself
)

// Kinds are all kinds, by exit code.
var Kinds = []Kind{
	KindFailed, KindTimeout, KindDivergence, KindStore, KindInternal, KindUsage, KindInvalid, KindWaiting, KindUnavailable, KindNotSignedIn,
	KindMissing, KindEmpty, KindMismatch, KindUnasserted, KindUnconfirmed, KindCouldNot, KindBusy, KindRecovery, KindUnsettled, KindUnsupported,
	KindInstructions, KindRoute, KindLimit, KindRefused, KindCancelled,
}

// ExitCode is the process exit code for an error of this kind; cancellations choose their own by signal.
func (k Kind) ExitCode() int {
	switch k {
	case KindUsage, KindInvalid:
		return 2
	case KindWaiting:
		return 3
	case KindUnavailable, KindNotSignedIn:
		return 4
	case KindMissing, KindEmpty, KindMismatch, KindUnasserted, KindUnconfirmed, KindCouldNot, KindBusy, KindRecovery, KindUnsettled,
		KindUnsupported, KindInstructions, KindRoute:
		return 5
	case KindLimit:
		return 6
	case KindRefused:
		return 7
	case KindCancelled:
		return 130
	}
	return 1
}

// Error is a run-time error, typed by what the caller does about it.
type Error struct {
	Kind      Kind
	Retryable bool   // trying the same again may work
	Message   string // what happened, in one or two lines, with advice; no position, no kind
	Position  string // "file.xmd:12:3"; "" when there is none
	Step      string // step as people spell it
	Agent     string
	Session   string
	Err       error // the cause; may be nil

	logged bool   // stands among the failures already
	undo   []Undo // the records that it comes from
}

// Error is the message with its position.
func (e *Error) Error() string {
	if e.Position != "" {
		return e.Position + ": " + e.Message
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error. A %w operand becomes its cause.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// KindOf is the kind of the first *Error in err's chain; KindFailed for any other error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindFailed
}
