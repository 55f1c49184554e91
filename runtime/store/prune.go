package store

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"
)

// Pruned says what Prune deleted, or with dry what it would have.
type Pruned struct {
	Runs    []string // ids, the one begun first first
	Records int64    // of their journals
	Going   []string // old enough, and kept: somebody holds the run's lock
	Owners  []string // old enough, and kept: a session needs them for its recovery
	Freed   int64    // bytes given back to the file system; what is free inside the database is used again first
}

// Prune deletes the runs of which nothing was recorded since before, ended or not, with their journals and unnamed conversations.
// Named sessions, their turns, marks and owner records are never touched. A run whose lock is held stays, and so does one that an
// owner record names which is not idle. Each run goes in a transaction of its own, with the run's lock held. It is the only thing that
// goes by the clock: what was recorded at a later time than before, in the future too, is young. With dry nothing is changed.
func (s *Store) Prune(ctx context.Context, before time.Time, dry bool) (Pruned, error) {
	var p Pruned
	var old []string
	err := s.View(ctx, func(tx *Tx) (err error) {
		old, err = tx.runsBefore(before)
		return err
	})
	size := s.size()
	for _, id := range old {
		if err == nil {
			err = s.pruneRun(ctx, id, before, dry, &p)
		}
	}
	if err == nil && len(p.Runs) > 0 && !dry {
		err = s.compact(ctx)
		p.Freed = max(0, size-s.size())
	}
	return p, err
}

// runsBefore lists the runs of which nothing was recorded since.
func (tx *Tx) runsBefore(before time.Time) ([]string, error) {
	var ids []string
	err := tx.rows("list runs", `SELECT id FROM run WHERE `+lastOfRun+` < ? ORDER BY number`, []any{toMillis(before)},
		func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	return ids, err
}

// lastOfRun is the time of the latest thing that is recorded of a run.
const lastOfRun = `MAX(started, COALESCE(ended, started),
	COALESCE((SELECT time FROM record WHERE record.run = run.id ORDER BY seq DESC LIMIT 1), started))`

// pruneRun deletes one run, with its lock held, and says in p what became of it.
func (s *Store) pruneRun(ctx context.Context, id string, before time.Time, dry bool, p *Pruned) error {
	lock, busy, err := s.lockToPrune(ctx, id, dry)
	if err != nil {
		return err
	}
	defer lock.Close()
	if busy {
		p.Going = append(p.Going, id)
		return nil
	}
	do := s.Do
	if dry {
		do = s.View
	}
	var found runToPrune
	err = do(ctx, func(tx *Tx) (err error) {
		if found, err = tx.runToPrune(id, before); err != nil || dry || !found.due || found.owned {
			return err
		}
		return tx.deleteRun(id)
	})
	switch {
	case err != nil || !found.due:
		return err
	case found.owned:
		p.Owners = append(p.Owners, id)
		return nil
	}
	p.Runs, p.Records = append(p.Runs, id), p.Records+found.records
	_ = lock.discard() // a file that stays is a few bytes
	return nil
}

// lockToPrune takes a run's lock, or with dry only looks at it. lock is nil when it was not taken.
func (s *Store) lockToPrune(ctx context.Context, id string, dry bool) (lock *Lock, busy bool, err error) {
	if dry {
		holder, err := s.Locked(LockRun, id)
		return nil, holder != nil, err
	}
	lock, err = s.TryLock(ctx, LockRun, id, LockOwner{Run: id, Command: "xmd runs prune"})
	var holder *BusyError
	if errors.As(err, &holder) {
		return nil, true, nil
	}
	return lock, false, err
}

type runToPrune struct {
	due     bool // it is still there and old: since it was chosen it may have been resumed
	owned   bool // a session needs it
	records int64
}

func (tx *Tx) runToPrune(id string, before time.Time) (r runToPrune, err error) {
	r.due, err = tx.row("prune run",
		`SELECT (SELECT COUNT(*) FROM record WHERE run = ?1), EXISTS (SELECT 1 FROM owner WHERE run = ?1 AND state <> 'idle')
		FROM run WHERE id = ?1 AND `+lastOfRun+` < ?2`, []any{id, toMillis(before)}, &r.records, &r.owned)
	return r, err
}

func (tx *Tx) deleteRun(id string) error {
	// The names of the run's unnamed sessions, which it opened, begin with from and stand before to.
	from := Unnamed(id, "")
	to := strings.TrimSuffix(from, unnamedMark) + string(unnamedMark[0]+1)
	const ofRun = ` WHERE agent IN (SELECT agent FROM run_session WHERE run = ?1) AND session >= ?2 AND session < ?3`
	return errors.Join(
		tx.write("prune run", `DELETE FROM turn`+ofRun, id, from, to),
		tx.write("prune run", `DELETE FROM mark`+ofRun, id, from, to),
		tx.pruneConversations(from, to),
		tx.write("prune run", `DELETE FROM run_session WHERE run = ?`, id),
		tx.write("prune run", `DELETE FROM record WHERE run = ?`, id),
		tx.write("prune run", `DELETE FROM run WHERE id = ?`, id))
}

// A database that is mostly free pages is written anew, so that the space is the file system's again.
const (
	compactFrom  = 1 << 20 // bytes free
	compactShare = 4       // and one in so many pages
)

// compact gives space back as far as that can be done without waiting for anybody.
func (s *Store) compact(ctx context.Context) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	var free, pages, size int64
	for pragma, n := range map[string]*int64{"freelist_count": &free, "page_count": &pages, "page_size": &size} {
		if err := s.conn.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(n); err != nil {
			return s.wrap("compact", err)
		}
	}
	if free*size >= compactFrom && free*compactShare >= pages {
		_, err := s.conn.ExecContext(ctx, "VACUUM")
		if err = s.wrap("compact", err); err != nil && KindOf(err) != KindBusy && KindOf(err) != KindFull {
			return err
		}
	}
	var busy, log, done int64
	err := s.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &done)
	return s.wrap("compact", err)
}

// Scrub makes sure that what was deleted is not in the files any more, as far as that can be done without waiting for anybody who reads.
func (s *Store) Scrub(ctx context.Context) error { return s.compact(ctx) }

// size is what the database takes on disk.
func (s *Store) size() (bytes int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(s.path + suffix); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
