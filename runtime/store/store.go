package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// FileName is the database's name in the state directory.
const FileName = "xmd.db"

// Options say where the store is and lend it what it must not find out for itself.
type Options struct {
	// Dir is the state directory, $XDG_STATE_HOME/xmd or what --state-dir says. It is created with mode 0700; its
	// parents too. Required.
	Dir string
	// UserDir is the person's own state directory, where the native-id locks are whatever Dir is. Empty: Dir.
	UserDir string
	// Now is the clock of recorded times. Nothing is ordered or expired by it. Nil: time.Now.
	Now func() time.Time
	// BootID tells one start of the machine from another; it goes into owner and lock records. May be empty.
	BootID string
	// ReadOnly opens a store that is there and writes nothing: no directory, no lock, no record; only SQLite's own -wal and -shm files
	// may be made beside it.
	ReadOnly bool
	// Pid is this process in owner and lock records. Zero: os.Getpid().
	Pid int
}

// Store is an open state directory. It is safe for concurrent use, in one process and in many. The zero Store is not
// usable: call Open.
type Store struct {
	opts  Options
	path  string
	db    *sql.DB
	conn  *sql.Conn     // the only connection
	turn  chan struct{} // holds one token: whoever has it uses conn
	stmts map[string]*sql.Stmt
	care  mode // of the transactions of conn
	locks lockSet

	version int // of the schema that was found, or made

	busySlices int    // how often begin waits for another process
	pause      func() // a moment of real time, for somebody who is about to finish

	closing sync.Once
	closed  chan struct{}
}

// Open opens the store in o.Dir, creating it if nothing is there. Errors are *Error.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, errors.New("store: no state directory was given")
	}
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	s := &Store{
		opts: o, path: filepath.Join(o.Dir, FileName),
		busySlices: busySlices, pause: pause, turn: make(chan struct{}, 1), stmts: map[string]*sql.Stmt{}, closed: make(chan struct{}),
	}
	s.turn <- struct{}{}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (o Options) complete() (Options, error) {
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return o, err
	}
	if o.UserDir == "" {
		o.UserDir = o.Dir
	}
	if o.UserDir, err = filepath.Abs(o.UserDir); err != nil {
		return o, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pid == 0 {
		o.Pid = os.Getpid()
	}
	return o, nil
}

// Dir returns the state directory, absolute.
func (s *Store) Dir() string { return s.opts.Dir }
