package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Tx is one transaction. It is valid inside the function it was given to, on that goroutine, and nowhere else. Inside
// it only its own methods may be used: a call of the Store waits for the transaction to end, forever.
type Tx struct {
	s        *Store
	ctx      context.Context // never ends: a statement is not interrupted halfway
	writable bool
}

// Do runs fn in a write transaction and returns when its records are durable. When fn or the commit fails nothing of
// it is kept. It waits for other processes' writes up to 10 s (KindBusy), less when ctx ends. fn runs once.
func (s *Store) Do(ctx context.Context, fn func(tx *Tx) error) error {
	return s.transact(ctx, durable, fn)
}

// DoSoon is Do without the wait for the disk: what it writes outlives this process at once, and the machine when the next Do of
// this Store has returned.
func (s *Store) DoSoon(ctx context.Context, fn func(tx *Tx) error) error {
	return s.transact(ctx, soon, fn)
}

// View runs fn on one consistent state of the store. fn's Tx refuses to write.
func (s *Store) View(ctx context.Context, fn func(tx *Tx) error) error {
	return s.transact(ctx, reading, fn)
}

// mode is what a transaction is for. Those that write are also how SQLite calls the care that they take.
type mode string

const (
	reading mode = ""
	soon    mode = "NORMAL"
	durable mode = "FULL"
)

func (s *Store) transact(ctx context.Context, how mode, fn func(tx *Tx) error) (err error) {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	if err := s.careful(ctx, how); err != nil {
		return err
	}
	write := how != reading
	tx := &Tx{s: s, ctx: context.WithoutCancel(ctx), writable: write}
	if err := tx.begin(ctx); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done { // fn failed or panicked, or the commit failed
			_, _ = tx.exec("ROLLBACK")
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil && write {
		return context.Cause(ctx)
	}
	if _, err := tx.exec("COMMIT"); err != nil {
		return s.wrap("commit", err)
	}
	done = true
	return nil
}

// careful sets how the next transaction is written. The statement acts when it is prepared, so it is prepared each time.
func (s *Store) careful(ctx context.Context, how mode) error {
	if how == reading || how == s.care {
		return nil
	}
	if _, err := s.conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous="+string(how)); err != nil {
		return s.wrap("begin", err)
	}
	s.care = how
	return nil
}

// acquire takes the one connection.
func (s *Store) acquire(ctx context.Context) error {
	select {
	case <-s.closed:
		return ErrClosed
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-s.closed:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.turn:
	}
	select {
	case <-s.closed:
		s.release()
		return ErrClosed
	default:
		return nil
	}
}

func (s *Store) release() { s.turn <- struct{}{} }

// The busy limit is waited for in slices, so that a cancelled caller is heard between them. SQLite's own waiting grows
// from 1 to 100 ms in a slice and begins anew with the next, which also gives the one that waits longest more chances.
const (
	busySlice  = time.Second
	busySlices = 10
)

func (tx *Tx) begin(ctx context.Context) error {
	how := "BEGIN"
	if tx.writable {
		how = "BEGIN IMMEDIATE"
	}
	for i := 1; ; i++ {
		_, err := tx.exec(how)
		if err == nil {
			return nil
		}
		if err = tx.s.wrap("begin", err); KindOf(err) != KindBusy || i >= tx.s.busySlices {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// stmt returns the prepared statement of query, which is prepared once per store.
func (tx *Tx) stmt(query string) (*sql.Stmt, error) {
	if st := tx.s.stmts[query]; st != nil {
		return st, nil
	}
	st, err := tx.s.conn.PrepareContext(tx.ctx, query)
	if err != nil {
		return nil, err
	}
	tx.s.stmts[query] = st
	return st, nil
}

func (tx *Tx) exec(query string, args ...any) (sql.Result, error) {
	st, err := tx.stmt(query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(tx.ctx, args...)
}

// write is exec for the statements of records.
func (tx *Tx) write(op, query string, args ...any) error {
	if !tx.writable {
		return fmt.Errorf("%s: inside View nothing is written", op)
	}
	_, err := tx.exec(query, args...)
	return tx.s.wrap(op, err)
}

// row reads at most one row; found says whether there was one.
func (tx *Tx) row(op, query string, args []any, into ...any) (found bool, err error) {
	st, err := tx.stmt(query)
	if err != nil {
		return false, tx.s.wrap(op, err)
	}
	err = st.QueryRowContext(tx.ctx, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, tx.s.wrap(op, err)
	}
	return true, nil
}

// rows calls each for every row until it fails.
func (tx *Tx) rows(op, query string, args []any, each func(scan func(into ...any) error) error) error {
	st, err := tx.stmt(query)
	if err != nil {
		return tx.s.wrap(op, err)
	}
	rows, err := st.QueryContext(tx.ctx, args...)
	if err != nil {
		return tx.s.wrap(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		scan := func(into ...any) error { return tx.s.wrap(op, rows.Scan(into...)) }
		if err := each(scan); err != nil {
			return err
		}
	}
	return tx.s.wrap(op, rows.Err())
}

// now is the time of a record that has none.
func (tx *Tx) now(t time.Time) time.Time {
	if t.IsZero() {
		t = tx.s.opts.Now()
	}
	return t.UTC()
}

func toMillis(t time.Time) int64    { return t.UnixMilli() }
func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
