package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// LockKind is one of the three kinds of lock.
type LockKind string

const (
	// LockSession: one logical session, all generations. Name it with SessionKey.LockName.
	LockSession LockKind = "session"
	// LockNative: one provider conversation of an agent. Name it with NativeLockName. Its file is in the user's state
	// folder whatever the state directory is.
	LockNative LockKind = "native"
	// LockRun: one run. Its name is the run's id.
	LockRun LockKind = "run"

	// lockCreate is held while the database is made.
	lockCreate LockKind = "create"
)

// createLimit bounds the wait for another process that is making the database.
const createLimit = 10 * time.Second

// LockName is the name of the session lock of s.
func (s SessionKey) LockName() string { return s.Agent + "\x00" + s.Session + "\x00" + s.Root }

// NativeLockName is the name of the lock of one provider conversation.
func NativeLockName(agent, nativeID string) string { return agent + "\x00" + nativeID }

// LockOwner is what the holder of a lock leaves in its file for others to read. It says who took the lock last, also
// after that process is gone.
type LockOwner struct {
	Pid     int       `json:"pid"`
	BootID  string    `json:"bootId,omitempty"`
	Run     string    `json:"run,omitempty"`
	Command string    `json:"command,omitempty"` // "xmd run review.xmd"; never arguments that could hold a secret
	Since   time.Time `json:"since"`
}

// BusyError says that somebody else has the lock.
type BusyError struct {
	Kind  LockKind
	Owner LockOwner // zero when the holder could not be read
	// Gone: the process that took the lock has ended; what it started still holds a copy.
	Gone bool
}

// Error names the owner and what to do.
func (e *BusyError) Error() string { return e.Says() + ": wait with --wait, or try again" }

// Says is who has the lock, without advice.
func (e *BusyError) Says() string {
	what := map[LockKind]string{
		LockSession: "the session is in use", LockNative: "the provider conversation is in use", LockRun: "the run is going on",
	}[e.Kind]
	if e.Owner.Pid == 0 {
		return what + " elsewhere"
	}
	by := fmt.Sprintf("process %d", e.Owner.Pid)
	if e.Owner.Command != "" {
		by += " (" + e.Owner.Command + ")"
	}
	if e.Owner.Run != "" {
		by += ", run " + e.Owner.Run
	}
	if e.Gone {
		return fmt.Sprintf("%s: %s has ended, but what it started has not", what, by)
	}
	return fmt.Sprintf("%s by %s since %s", what, by, e.Owner.Since.Local().Format(time.DateTime))
}

// Lock is a kernel lock that this process holds. It is released when every copy of its file is closed, in this
// process and in those that inherited one; it is never unlocked explicitly, which would free it under them.
type Lock struct {
	kind LockKind
	name string
	set  *lockSet
	mu   sync.Mutex
	file *os.File
}

// File returns the open file that holds the lock, for a child to inherit (exec.Cmd.ExtraFiles) or to be passed over
// a socket. It stays the lock's: do not close it. It is nil after Close. The file is close-on-exec in this process.
func (l *Lock) File() *os.File {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file
}

// Kind returns the lock's kind.
func (l *Lock) Kind() LockKind { return l.kind }

// Close gives up this process's copy. It is idempotent. Its file stays where it is. A nil Lock has nothing to give up.
func (l *Lock) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	f := l.file
	l.file = nil
	l.mu.Unlock()
	if f == nil {
		return nil
	}
	l.set.remove(l)
	return f.Close()
}

// holds says whether the lock is held here and is the one named.
func (l *Lock) holds(kind LockKind, name string) bool {
	return l != nil && l.kind == kind && l.name == name && l.File() != nil
}

// lockSet keeps the locks of a store reachable: an *os.File that is forgotten would be closed by the collector, and the
// lock would be free while its owner works.
type lockSet struct {
	mu   sync.Mutex
	held map[*Lock]struct{}
}

func (s *lockSet) add(l *Lock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[*Lock]struct{}{}
	}
	s.held[l] = struct{}{}
}

func (s *lockSet) remove(l *Lock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, l)
}

// TryLock takes a lock or returns a *BusyError at once. owner is written into the lock's file; zero Pid, BootID and
// Since are filled in from the store's options. Two locks of one name contend inside one process too.
func (s *Store) TryLock(ctx context.Context, kind LockKind, name string, owner LockOwner) (*Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := s.lockPath(kind, name)
	if err != nil {
		return nil, err
	}
	f, err := s.flock(path)
	if errors.Is(err, errLocked) {
		return nil, s.busy(kind, path)
	}
	if err != nil {
		return nil, err
	}
	if err := writeLockOwner(f, s.complete(owner)); err != nil {
		f.Close()
		return nil, wrapOS("lock", path, err)
	}
	l := &Lock{kind: kind, name: name, set: &s.locks, file: f}
	s.locks.add(l)
	return l, nil
}

// Locked says who holds a lock, nil when nobody does. It takes nothing away from anybody: the lock is not taken, its record stays, and
// no file is made.
func (s *Store) Locked(kind LockKind, name string) (*BusyError, error) {
	path := filepath.Join(s.lockDir(kind), "locks", lockFileName(kind, name))
	f, err := openToProbe(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nobody ever took it
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = probeLock(f)
	if errors.Is(err, errLocked) {
		return s.busy(kind, path), nil
	}
	return nil, wrapOS("lock", path, err)
}

// discard deletes the file of a lock that is held here, and gives the lock up: what it locked is gone for good.
func (l *Lock) discard() error {
	if l == nil {
		return nil
	}
	f := l.File()
	if f == nil {
		return nil
	}
	return errors.Join(os.Remove(f.Name()), l.Close())
}

// Polling bounds of Wait. A lock is asked for often at first, since most holders are about to finish.
const (
	firstLockPoll = 10 * time.Millisecond
	lastLockPoll  = 200 * time.Millisecond
)

// Wait is TryLock that goes on asking for as long as d. When d is over it returns the last *BusyError; when ctx ends
// it returns ctx's error.
func (s *Store) Wait(ctx context.Context, d time.Duration, kind LockKind, name string, owner LockOwner) (*Lock, error) {
	end := time.NewTimer(d)
	defer end.Stop()
	poll := firstLockPoll
	for {
		l, err := s.TryLock(ctx, kind, name, owner)
		var busy *BusyError
		if !errors.As(err, &busy) || d <= 0 {
			return l, err
		}
		again := time.NewTimer(poll)
		select {
		case <-ctx.Done():
			again.Stop()
			return nil, context.Cause(ctx)
		case <-end.C:
			again.Stop()
			return nil, err
		case <-again.C:
			poll = min(2*poll, lastLockPoll)
		}
	}
}

func (s *Store) complete(o LockOwner) LockOwner {
	if o.Pid == 0 {
		o.Pid = s.opts.Pid
	}
	if o.BootID == "" {
		o.BootID = s.opts.BootID
	}
	if o.Since.IsZero() {
		o.Since = s.opts.Now().UTC()
	}
	return o
}

// errLocked is what the platform's flock returns on contention.
var errLocked = errors.New("locked")

// lockPath names the lock's file and makes its folder.
func (s *Store) lockPath(kind LockKind, name string) (string, error) {
	if name == "" {
		return "", fmt.Errorf("lock: an empty name of kind %s", kind)
	}
	switch kind {
	case LockNative, LockSession, LockRun, lockCreate:
	default:
		return "", fmt.Errorf("lock: unknown kind %q", kind)
	}
	dir := s.lockDir(kind)
	if err := secureDir(dir); err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "locks")
	if err := secureDir(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, lockFileName(kind, name)), nil
}

// lockDir is the folder above the locks of a kind.
func (s *Store) lockDir(kind LockKind) string {
	if kind == LockNative {
		return s.opts.UserDir
	}
	return s.opts.Dir
}

// lockFileName names a lock's file. Names of locks hold paths and ids: a hash keeps them out of file names and within their length.
func lockFileName(kind LockKind, name string) string {
	sum := sha256.Sum256([]byte(name))
	return string(kind) + "-" + hex.EncodeToString(sum[:16]) + ".lock"
}

// flock opens and locks path, and makes sure that the locked file is the one that still stands there: somebody may
// have deleted it, and a lock on a deleted file excludes nobody.
func (s *Store) flock(path string) (*os.File, error) {
	for range 10 {
		f, err := openSecure(path)
		if err != nil {
			return nil, err
		}
		if err := s.lockAgain(f); err != nil {
			f.Close()
			if errors.Is(err, errLocked) {
				return nil, err
			}
			return nil, wrapOS("lock", path, err)
		}
		if standsAt(f, path) {
			return f, nil
		}
		f.Close()
	}
	return nil, &Error{Kind: KindFailed, Op: "lock", Path: path, Detail: "the file is replaced again and again"}
}

// lockAgain is lockFile that gives way to somebody who only looks (Locked): that takes microseconds.
func (s *Store) lockAgain(f *os.File) error {
	err := lockFile(f)
	for range 3 {
		if !errors.Is(err, errLocked) {
			return err
		}
		s.pause()
		err = lockFile(f)
	}
	return err
}

func standsAt(f *os.File, path string) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(have, there)
}

// lockRecordSize is fixed so that one write replaces the last owner's record whole: a reader never finds it empty.
const lockRecordSize = 1024

func writeLockOwner(f *os.File, o LockOwner) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if len(data) >= lockRecordSize {
		o.Command = ""
		if data, err = json.Marshal(o); err != nil {
			return err
		}
	}
	buf := make([]byte, lockRecordSize)
	for i := range buf {
		buf[i] = ' '
	}
	copy(buf, data)
	buf[lockRecordSize-1] = '\n'
	_, err = f.WriteAt(buf, 0)
	return err
}

// busy reads who holds the lock. A holder that has not written yet is unknown, which is no failure.
func (s *Store) busy(kind LockKind, path string) *BusyError {
	e := &BusyError{Kind: kind}
	data, err := readLockRecord(path)
	if err == nil && json.Unmarshal(data, &e.Owner) == nil && e.Owner.Pid != 0 {
		e.Gone = gone(e.Owner, s.opts.BootID)
	}
	return e
}

func readLockRecord(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, lockRecordSize)
	n, err := f.ReadAt(buf, 0)
	if n == 0 && err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// gone says whether the process that wrote o has certainly ended.
func gone(o LockOwner, bootID string) bool {
	if o.BootID != "" && bootID != "" && o.BootID != bootID {
		return true
	}
	return !processExists(o.Pid)
}
