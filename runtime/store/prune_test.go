package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"xmd/runtime/store"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// clocked is a store whose clock the test sets.
func clocked(t *testing.T) (*store.Store, *time.Time) {
	t.Helper()
	now := noon
	s, err := store.Open(ctx, store.Options{Dir: filepath.Join(t.TempDir(), "xmd"), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, &now
}

// oldRun is a run with a record, an unnamed conversation with a turn and a mark, and a turn of the named session.
func oldRun(t *testing.T, s *store.Store, id string, turn int) {
	t.Helper()
	unnamed := store.SessionKey{Agent: "codex", Session: store.Unnamed(id, "run"), Root: "/a"}.Generation(1)
	named := at("/a").Generation(1)
	do(t, s, func(tx *store.Tx) error {
		if err := tx.BeginRun(store.Run{ID: id}); err != nil {
			return err
		}
		_, err := tx.Append(id, store.Record{Kind: "k"}, store.Record{Kind: "k"})
		return errors.Join(err,
			tx.PutOpened(store.Opened{Key: unnamed, NativeID: "u" + id, Run: id}),
			tx.PutTurn(store.Turn{Key: unnamed, Number: 1, Run: id, Accepted: store.AcceptedYes}),
			tx.PutMark(store.Mark{Key: unnamed, Name: "note"}),
			tx.PutTurn(store.Turn{Key: named, Number: turn, Run: id, Accepted: store.AcceptedYes}))
	})
}

func prune(t *testing.T, s *store.Store, before time.Time, dry bool) store.Pruned {
	t.Helper()
	p, err := s.Prune(ctx, before, dry)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func rowsOf(t *testing.T, s *store.Store) (runs string, turns, unnamed int) {
	t.Helper()
	do(t, s, func(tx *store.Tx) error {
		all, err := tx.Runs(0)
		for _, r := range all {
			runs = r.ID + " " + runs
			list, err := tx.LastTurns(store.SessionKey{Agent: "codex", Session: store.Unnamed(r.ID, "run"), Root: "/a"}.Generation(1), 0)
			if err != nil {
				return err
			}
			unnamed += len(list)
		}
		list, terr := tx.LastTurns(at("/a").Generation(1), 0)
		turns = len(list)
		return errors.Join(err, terr)
	})
	return strings.TrimSpace(runs), turns, unnamed
}

func TestPrune(t *testing.T) {
	s, now := clocked(t)
	r := route(1)
	r.Key = at("/a").Generation(1)
	do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(r); return err })
	for i, id := range []string{"ended", "interrupted", "going", "owner", "late end", "late record", "young"} {
		if id == "young" {
			*now = noon.Add(24 * time.Hour)
		}
		oldRun(t, s, id, i+1)
	}
	lock := take(t, s, store.LockRun, "going")
	*now = noon.Add(time.Minute)
	if err := errors.Join(s.EndRun(ctx, "ended", "done", 0), s.EndRun(ctx, "going", "done", 0)); err != nil {
		t.Fatal(err)
	}
	do(t, s, func(tx *store.Tx) error {
		return tx.SetOwner(store.Owner{Key: at("/a").Generation(1), Run: "owner", State: store.OwnerTurn})
	})
	*now = noon.Add(24 * time.Hour)
	if err := s.EndRun(ctx, "late end", "done", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(ctx, "late record", store.Record{Kind: "k"}); err != nil {
		t.Fatal(err)
	}
	before := noon.Add(12 * time.Hour)
	check := func(p store.Pruned, dry bool) {
		t.Helper()
		if !slices.Equal(p.Runs, []string{"ended", "interrupted"}) || p.Records != 4 ||
			!slices.Equal(p.Going, []string{"going"}) || !slices.Equal(p.Owners, []string{"owner"}) {
			t.Errorf("dry %v: %+v", dry, p)
		}
	}
	all := "ended interrupted going owner late end late record young"
	check(prune(t, s, before, true), true)
	if runs, turns, unnamed := rowsOf(t, s); runs != all || turns != 7 || unnamed != 7 {
		t.Errorf("dry changed something: %q %d %d", runs, turns, unnamed)
	}
	check(prune(t, s, before, false), false)
	runs, turns, unnamed := rowsOf(t, s)
	if runs != strings.TrimPrefix(all, "ended interrupted ") || turns != 7 || unnamed != 5 {
		t.Errorf("left are %q, %d turns of the named session, %d of unnamed ones", runs, turns, unnamed)
	}
	for _, table := range []string{"record", "run_session", "turn", "mark"} {
		if n := rows(t, s, table); n != map[string]int{"record": 11, "run_session": 5, "turn": 7 + 5, "mark": 5}[table] {
			t.Errorf("%s has %d rows", table, n)
		}
	}
	lock.Close()
	if p := prune(t, s, before, false); !slices.Equal(p.Runs, []string{"going"}) {
		t.Errorf("%+v", p)
	}
	if files, _ := filepath.Glob(filepath.Join(s.Dir(), "locks", "run-*")); len(files) != 1 { // the owner's, which was looked at
		t.Errorf("locks of runs that are gone: %v", files)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
	do(t, s, func(tx *store.Tx) error {
		if r, found, err := tx.Current(at("/a")); !found {
			t.Errorf("the route is gone: %+v %v", r, err)
		}
		return nil
	})
}

func rows(t *testing.T, s *store.Store, table string) int {
	t.Helper()
	n, err := s.Count(ctx, table)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A clock that went back makes runs of the future; they are young, whatever is asked.
func TestPruneAndAClockGoingBackwards(t *testing.T) {
	s, now := clocked(t)
	oldRun(t, s, "a", 1)
	*now = noon.Add(-48 * time.Hour)
	oldRun(t, s, "b", 2)
	if p := prune(t, s, now.Add(-time.Hour), false); len(p.Runs) != 0 {
		t.Errorf("%+v", p)
	}
	if p := prune(t, s, now.Add(time.Hour), false); !slices.Equal(p.Runs, []string{"b"}) {
		t.Errorf("%+v", p)
	}
}

func TestPruneGivesSpaceBack(t *testing.T) {
	s, now := clocked(t)
	if err := s.BeginRun(ctx, store.Run{ID: "big"}); err != nil {
		t.Fatal(err)
	}
	data := json.RawMessage(`"` + strings.Repeat("x", 4000) + `"`)
	for range 10 {
		var batch []store.Record
		for range 100 {
			batch = append(batch, store.Record{Kind: "k", Data: data})
		}
		if _, err := s.Append(ctx, "big", batch...); err != nil {
			t.Fatal(err)
		}
	}
	*now = noon.Add(time.Hour)
	p := prune(t, s, *now, false)
	info, err := os.Stat(filepath.Join(s.Dir(), store.FileName))
	if err != nil || p.Freed < 4<<20 || info.Size() > 1<<20 {
		t.Errorf("freed %d, the file has %d, %v", p.Freed, info.Size(), err)
	}
	if wal, err := os.Stat(filepath.Join(s.Dir(), store.FileName+"-wal")); err == nil && wal.Size() > 0 {
		t.Errorf("the -wal file has %d bytes", wal.Size())
	}
	if err := errors.Join(s.Check(ctx), s.BeginRun(ctx, store.Run{ID: "next"})); err != nil {
		t.Error(err)
	}
}

// Other processes go on while runs are deleted.
func TestPruneBesideAnother(t *testing.T) {
	s, now := clocked(t)
	other := open(t, s.Dir())
	for i := range 5 {
		oldRun(t, s, fmt.Sprint("r", i), i+1)
	}
	*now = noon.Add(time.Hour)
	do(t, other, func(*store.Tx) error { return nil })
	if err := other.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.Runs(0); err != nil {
			return err
		}
		if p := prune(t, s, *now, false); len(p.Runs) != 5 { // a reader is in the middle of something
			t.Errorf("%+v", p)
		}
		all, err := tx.Runs(0)
		if len(all) != 5 {
			t.Errorf("the reader's view changed: %d", len(all))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := other.BeginRun(ctx, store.Run{ID: "next"}); err != nil {
		t.Error(err)
	}
}
