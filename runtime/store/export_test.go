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

// StandsAt is how a lock knows that its file was not replaced.
func StandsAt(f *os.File, path string) bool { return standsAt(f, path) }
