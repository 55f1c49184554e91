package store

import (
	"context"
	"os"
)

// Raw runs SQL that no method of the package would.
func (s *Store) Raw(ctx context.Context, query string, args ...any) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	_, err := s.conn.ExecContext(ctx, query, args...)
	return err
}

// EncodeRoute is what CreateRoute stores.
func EncodeRoute(r Route) (record, sum string, err error) { return r.encode() }

// SumOf is the sum that guards a record.
func SumOf(record string) string { return digestOf([]byte(record)) }

// SetBusySlices shortens the busy limit to n seconds.
func (s *Store) SetBusySlices(n int) { s.busySlices = n }

// SetPause replaces the moment that a lock waits for somebody who only looks at it.
func (s *Store) SetPause(fn func()) { s.pause = fn }

// Look is Locked that goes on looking until done is called.
func (s *Store) Look(kind LockKind, name string) (done func() error, err error) {
	path, err := s.lockPath(kind, name)
	if err != nil {
		return nil, err
	}
	f, err := openToProbe(path)
	if err != nil {
		return nil, err
	}
	return f.Close, probeLock(f)
}

// StandsAt is how a lock knows that its file was not replaced.
func StandsAt(f *os.File, path string) bool { return standsAt(f, path) }

// Count says how many rows a table has.
func (s *Store) Count(ctx context.Context, table string) (n int, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		_, err := tx.row("count", `SELECT COUNT(*) FROM `+table, nil, &n)
		return err
	})
	return n, err
}

// Synchronous is how SQLite will write the transaction: 2 waits for the disk.
func (tx *Tx) Synchronous() (level int, err error) {
	_, err = tx.row("pragma", `PRAGMA synchronous`, nil, &level)
	return level, err
}

// DecodeRoute is how a stored record is read.
func DecodeRoute(key Key, record, sum string) (Route, error) { return decodeRoute(key, record, sum) }

// MovedTo reads the data of MarkMoved.
func MovedTo(data string) (string, error) { return movedTo(data) }
