package store

import (
	"errors"
	"fmt"
)

// Kind says what is the matter with the store, and so what a person can do about it.
type Kind string

const (
	// KindReadOnly: the state directory or its files cannot be written.
	KindReadOnly Kind = "store-read-only"
	// KindFull: no space is left. Nothing of the failed transaction was kept; everything acknowledged was.
	KindFull Kind = "store-full"
	// KindDamaged: the file is not a whole database.
	KindDamaged Kind = "store-damaged"
	// KindNewer: a later xmd wrote it.
	KindNewer Kind = "store-newer"
	// KindUnaccountable: a record or the schema is not one that this build wrote or knows.
	KindUnaccountable Kind = "store-unaccountable"
	// KindUnsafe: a symlink, another person's file, or something that is no plain file or directory.
	KindUnsafe Kind = "store-unsafe"
	// KindBusy: another process held the write lock for longer than the busy limit. Retryable.
	KindBusy Kind = "store-busy"
	// KindFailed: any other failure of the file system or of SQLite.
	KindFailed Kind = "store-failed"
)

// Sentinels for errors.Is. They say nothing about the place: the *Error around them does.
var (
	// ErrUnaccountable is state that this build cannot account for: damaged, written by a later build, or of an
	// unknown form. It never means that a session or run does not exist. Every *Error of KindDamaged, KindNewer and
	// KindUnaccountable matches it.
	ErrUnaccountable = errors.New("state this build cannot account for")
	// ErrClosed is returned by every operation after Store.Close.
	ErrClosed = errors.New("the store is closed")
	// ErrNoRun is returned when no run, or no single one, matches.
	ErrNoRun = errors.New("no such run")
)

// Error is a failure of the store itself. It is safe to show: it holds the path of the state directory and never
// the contents of a record.
type Error struct {
	Kind   Kind
	Op     string // what was being done: "open", "commit", "read route"
	Path   string // the file or directory concerned
	Detail string // what is wrong and what to do; may be empty
	Err    error  // the cause; may be nil
}

// Error says what, where and what to do.
func (e *Error) Error() string {
	msg := fmt.Sprintf("store: %s: %s", e.Op, e.Path)
	if e.Detail != "" {
		msg += ": " + e.Detail
	}
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes the three kinds of state that cannot be read match ErrUnaccountable.
func (e *Error) Is(target error) bool {
	if target != ErrUnaccountable {
		return false
	}
	return e.Kind == KindDamaged || e.Kind == KindNewer || e.Kind == KindUnaccountable
}

// Retryable says whether the same operation may succeed later without anybody doing anything.
func (e *Error) Retryable() bool { return e.Kind == KindBusy }

// KindOf returns the kind of the *Error in err's chain, or "" when there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}
