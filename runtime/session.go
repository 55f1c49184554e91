package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"xmd/runtime/event"
	"xmd/runtime/store"
)

// session is one logical session in this invocation, with its attachment while there is one. Its turn token makes prompts
// FIFO; whoever holds it may use the other members.
type session struct {
	key   store.SessionKey
	name  string // as the author wrote it; "" for the unnamed session
	agent Agent
	info  AgentInfo
	scope string        // the scope of an unnamed session
	conv  *conversation // that it is of; nil: of none
	turn  token

	lock   *store.Lock // session lock; nil for an unnamed session
	native *store.Lock
	conn   Connection

	found      bool // it was there when it was looked for
	generation int
	nativeID   string
	route      *store.Route // nil until the first accepted turn
	begun      *beginning   // its conversation was begun in, or for, the agent's own interface; nil: by a prompt
	loaded     bool
	identity   Identity
	history    HistoryState
	watch      Observation
	build      Build
	warned     bool
	nextTurn   int
	applied    Settings // of the attachment
	unsettled  bool     // what of them is in force is not known

	restart      bool       // of a Conversation: a conversation that is lost is begun anew
	why          Reason     // its generation is a new one in the place of another, not yet with an accepted turn; "": it is not
	told         store.Told // what its generation was told last
	instructions string     // of the workflow, that the prompt which is about to be made has
	retold       bool       // the door told the attached agent other instructions than before, which was not said yet
	bare         bool       // it is attached for no prompt, and is told nothing
	attachedBare bool       // the attachment was made so

	want, has outfit // what the next attachment is to be given, and what this one was
	equipped  bool   // it was given all of has
	pass      Pass   // its way through the door; nil: none
	relays    relays
	unheard   bool // it was said that the door was not contacted

	callMu  sync.Mutex
	running *turn // whose calls are answered; nil: none

	owed *store.Owner // what an earlier invocation of this run left open, until it is settled
}

// shown is the session's name for people.
func (s *session) shown() string {
	if s.name == "" {
		return "(unnamed)"
	}
	return s.name
}

// queue is the token of the session's turns: in a Conversation that of the whole Conversation.
func (s *session) queue() *token {
	if s.conv != nil {
		return &s.conv.turn
	}
	return &s.turn
}

// cannotLoad says whether the attached agent can load no conversation.
func (s *session) cannotLoad() bool {
	l, ok := s.conn.(Loader)
	return ok && !l.CanLoad()
}

func (s *session) key1() store.Key { return s.key.Generation(s.generation) }

// at is where events of this session happen.
func (s *session) at(at event.At) event.At {
	at.Agent, at.Session = s.info.Name, s.name
	return at
}

// fail adds the session to an error.
func (s *session) fail(err error) error {
	e := own(err)
	if e.Agent == "" {
		e.Agent, e.Session = s.info.Name, s.name
	}
	return e
}

// alive says whether the attachment still has an agent to talk to.
func (s *session) alive() bool {
	if s.conn == nil {
		return false
	}
	if e, ok := s.conn.(Ender); ok {
		select {
		case <-e.Done():
			return false
		default:
		}
	}
	return true
}

// release closes the attachment and gives up ownership, in the order that keeps "a free lock means nothing can write" true.
func (s *session) release(ctx context.Context) error {
	var err error
	if s.conn != nil {
		err = s.conn.Close(ctx)
		s.conn = nil
	}
	err = errors.Join(err, s.undress(ctx))
	for _, l := range []*store.Lock{s.native, s.lock} {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	s.native, s.lock = nil, nil
	return err
}

// locks are the open lock files that a guardian must hold.
func (s *session) locks(run *store.Lock) []*os.File {
	var files []*os.File
	held := []*store.Lock{s.lock, s.native, run}
	if s.conv != nil {
		held = append(held, s.conv.lock)
	}
	for _, l := range held {
		if l != nil && l.File() != nil {
			files = append(files, l.File())
		}
	}
	return files
}

// storeError turns an error of the store into one with a kind of ours.
func storeError(err error) *Error {
	var ours *Error
	var busy *store.BusyError
	var recovery *store.RecoveryError
	var taken *store.NativeTakenError
	var moved *store.MovedError
	switch {
	case errors.As(err, &ours): // a context's own reason
		return ours
	case errors.As(err, &busy):
		return &Error{Kind: KindBusy, Retryable: true, Message: busy.Error(), Err: err}
	case errors.As(err, &recovery):
		return &Error{Kind: KindRecovery, Message: recovery.Error(), Err: err}
	case errors.As(err, &taken):
		return &Error{Kind: KindRoute, Message: taken.Error(), Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Kind: KindCancelled, Message: "cancelled", Err: err}
	case errors.As(err, &moved):
		return &Error{Kind: KindCouldNot, Retryable: true, Message: moved.Error() + "; run again", Err: err}
	case errors.Is(err, store.ErrUnaccountable) && store.KindOf(err) != store.KindDamaged:
		return &Error{Kind: KindRoute, Message: err.Error(), Err: err}
	}
	return &Error{Kind: KindStore, Message: fmt.Sprintf("the store failed: %v", err), Err: err}
}
