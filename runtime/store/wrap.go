package store

import (
	"context"
	"errors"
	"io/fs"

	"modernc.org/sqlite" // registers the driver "sqlite"
)

// Primary result codes of SQLite (https://sqlite.org/rescode.html); the driver's constants would pull its library in here.
const (
	sqliteBusy, sqliteLocked, sqliteReadOnly, sqliteIO, sqliteCorrupt = 5, 6, 8, 10, 11
	sqliteFull, sqliteCantOpen, sqliteNotADB                          = 13, 14, 26
)

// wrap gives an error of SQLite its kind. Errors that have one, and nil, come back as they are.
func (s *Store) wrap(op string, err error) error {
	var own *Error
	if err == nil || errors.As(err, &own) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &Error{Kind: KindFailed, Op: op, Path: s.path, Err: err}
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return e
	}
	switch se.Code() & 0xff {
	case sqliteBusy, sqliteLocked:
		e.Kind, e.Detail = KindBusy, "another process keeps writing: try again"
	case sqliteReadOnly, sqliteCantOpen:
		e.Kind, e.Detail = KindReadOnly, "make it writable, or name another --state-dir"
	case sqliteFull:
		e.Kind, e.Detail = KindFull, "no space is left: free some and try again"
	case sqliteIO:
		if noSpace(s.opts.Dir) {
			e.Kind, e.Detail = KindFull, "no space is left: free some and try again"
		}
	case sqliteCorrupt, sqliteNotADB:
		e.Kind, e.Detail = KindDamaged, damagedHint
	}
	return e
}

// wrapOS gives an error of the file system its kind.
func wrapOS(op, path string, err error) error {
	var own *Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	e := &Error{Kind: KindFailed, Op: op, Path: path, Err: err}
	switch {
	case errors.Is(err, fs.ErrPermission) || isReadOnly(err):
		e.Kind, e.Detail = KindReadOnly, "make it writable, or name another --state-dir"
	case isFull(err):
		e.Kind, e.Detail = KindFull, "no space is left: free some and try again"
	}
	return e
}
