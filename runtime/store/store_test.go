package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xmd/runtime/store"
)

var ctx = context.Background()

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(ctx, store.Options{Dir: dir, BootID: "boot"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func fresh(t *testing.T) *store.Store { return open(t, filepath.Join(t.TempDir(), "state", "xmd")) }

func do(t *testing.T, s *store.Store, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := s.Do(ctx, fn); err != nil {
		t.Fatal(err)
	}
}

// Each transaction is written with the care that it asked for, whatever came before it.
func TestCare(t *testing.T) {
	s := fresh(t)
	for i, c := range []struct {
		do   func(context.Context, func(*store.Tx) error) error
		want int
	}{{s.Do, 2}, {s.DoSoon, 1}, {s.DoSoon, 1}, {s.View, 1}, {s.Do, 2}, {s.DoSoon, 1}, {s.Do, 2}} {
		err := c.do(ctx, func(tx *store.Tx) error {
			level, err := tx.Synchronous()
			if level != c.want {
				t.Errorf("transaction %d: %d, want %d", i, level, c.want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DoSoon(ctx, func(tx *store.Tx) error { return tx.BeginRun(store.Run{ID: "r"}) }); err != nil {
		t.Fatal(err)
	}
	other := open(t, s.Dir())
	if _, err := other.FindRun(ctx, "r"); err != nil {
		t.Errorf("another process does not see it: %v", err)
	}
}

func TestOpenAnyPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a?b#c%41 d&e=ä", "xmd")
	s := open(t, dir)
	if err := s.BeginRun(ctx, store.Run{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, store.FileName)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir).FindRun(ctx, "r"); err != nil {
		t.Fatal(err)
	}
}

func TestOpenDamaged(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T, path string)
		kind  store.Kind
	}{
		{"empty file", func(t *testing.T, path string) { write(t, path, nil) }, store.KindDamaged},
		{"truncated", func(t *testing.T, path string) { truncate(t, path, 5000) }, store.KindDamaged},
		{"cut inside the header", func(t *testing.T, path string) { truncate(t, path, 50) }, store.KindDamaged},
		{"garbage", func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("garbage\n", 5000))) }, store.KindDamaged},
		{"gone beside its wal", func(t *testing.T, path string) {
			if err := os.Rename(path, path+"-wal"); err != nil {
				t.Fatal(err)
			}
		}, store.KindDamaged},
		{"newer schema", raw("UPDATE store SET version = version + 1"), store.KindNewer},
		{"unknown schema", raw("PRAGMA ignore_check_constraints=1; UPDATE store SET version = -1"), store.KindUnaccountable},
		{"no version", raw("DELETE FROM store"), store.KindUnaccountable},
		{"another program's", raw("DROP TABLE store"), store.KindUnaccountable},
		{"no routes", raw("DROP TABLE route"), store.KindUnaccountable},
		{"no trigger", raw("DROP TRIGGER route_created_once"), store.KindUnaccountable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := fresh(t)
			do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(route(1)); return err })
			s.Close()
			path := filepath.Join(s.Dir(), store.FileName)
			tt.spoil(t, path)
			before, _ := os.ReadFile(path)
			_, err := store.Open(ctx, store.Options{Dir: s.Dir()})
			if store.KindOf(err) != tt.kind || !errors.Is(err, store.ErrUnaccountable) {
				t.Fatalf("kind %q, want %q: %v", store.KindOf(err), tt.kind, err)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

// Damage inside a table must be an error of whoever reads it, never a session that does not exist.
func TestDamagedPagesAreNoAbsence(t *testing.T) {
	s := fresh(t)
	do(t, s, func(tx *store.Tx) error {
		for i := range 200 {
			r := route(i + 1)
			r.NativeSessionID += r.Key.String()
			if _, _, err := tx.CreateRoute(r); err != nil {
				return err
			}
		}
		return nil
	})
	s.Close()
	path := filepath.Join(s.Dir(), store.FileName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	wrong := 0
	for at := page; at+page <= len(data); at += page {
		bad := []byte(string(data))
		clear(bad[at : at+page])
		write(t, path, bad)
		s, err := store.Open(ctx, store.Options{Dir: s.Dir()})
		if err == nil {
			err = s.View(ctx, func(tx *store.Tx) error {
				_, found, err := tx.Current(key)
				if err == nil && !found {
					t.Errorf("page %d: no session", at/page+1)
				}
				if _, err := tx.Routes(store.Filter{All: true}); err != nil {
					return err
				}
				return err
			})
			s.Close()
		}
		if err != nil {
			wrong++
			if !errors.Is(err, store.ErrUnaccountable) {
				t.Errorf("page %d: %v", at/page+1, err)
			}
		}
	}
	if wrong < 5 {
		t.Errorf("only %d damaged pages were noticed: the test does not reach the table", wrong)
	}
}

// Nor must a page that went back in time: a whole one, from before the route was written.
func TestStalePagesAreNoAbsence(t *testing.T) {
	s := fresh(t)
	s.Close()
	path := filepath.Join(s.Dir(), store.FileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, s.Dir())
	do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(route(1)); return err })
	s.Close()
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	noticed := 0
	for at := page; at+page <= min(len(before), len(after)); at += page {
		if string(before[at:at+page]) == string(after[at:at+page]) {
			continue
		}
		stale := []byte(string(after))
		copy(stale[at:], before[at:at+page])
		write(t, path, stale)
		s := open(t, s.Dir())
		var currentErr error
		for name, read := range map[string]func(tx *store.Tx) (bool, error){
			"current": func(tx *store.Tx) (bool, error) {
				_, found, err := tx.Current(key)
				currentErr = err
				return found, err
			},
			"create": func(tx *store.Tx) (bool, error) { _, created, err := tx.CreateRoute(route(1)); return !created, err },
		} {
			err := s.Do(ctx, func(tx *store.Tx) error {
				found, err := read(tx)
				if err == nil && !found {
					t.Errorf("page %d: %s: the route never was", at/page+1, name)
				}
				return err
			})
			if err != nil {
				noticed++
				if !errors.Is(err, store.ErrUnaccountable) {
					t.Errorf("page %d: %s: %v", at/page+1, name, err)
				}
			}
		}
		if _, err := s.FindRoot(ctx, s.Dir(), key.Agent, key.Session); (err == nil) != (currentErr == nil) {
			t.Errorf("page %d: find root: %v, current: %v", at/page+1, err, currentErr)
		}
		s.Close()
	}
	if noticed == 0 {
		t.Error("no page of the route was among them")
	}
}

func TestCheck(t *testing.T) {
	s := fresh(t)
	if err := s.Check(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Raw(ctx, "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'turn'; PRAGMA writable_schema=RESET"); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(ctx); store.KindOf(err) != store.KindDamaged {
		t.Fatalf("got %v", err)
	}
}

func TestFull(t *testing.T) {
	s := fresh(t)
	if err := s.Raw(ctx, "PRAGMA max_page_count=60"); err != nil {
		t.Fatal(err)
	}
	if err := s.BeginRun(ctx, store.Run{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	fill(t, s, "r")
}

// fill appends until the store is full, and then finds every acknowledged record.
func fill(t *testing.T, s *store.Store, run string) {
	t.Helper()
	big := []byte(`"` + strings.Repeat("x", 9000) + `"`)
	acknowledged := int64(0)
	for {
		seq, err := s.Append(ctx, run, store.Record{Kind: "k", Data: big})
		if err != nil {
			if store.KindOf(err) != store.KindFull {
				t.Fatalf("kind %q: %v", store.KindOf(err), err)
			}
			break
		}
		if acknowledged = seq; seq > 10000 {
			t.Fatal("it never became full")
		}
	}
	if n := count(t, s, run); n != acknowledged {
		t.Errorf("%d records, %d were acknowledged", n, acknowledged)
	}
}

func count(t *testing.T, s *store.Store, run string) (n int64) {
	t.Helper()
	for r, err := range s.Records(ctx, run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; r.Seq != n {
			t.Fatalf("record %d has number %d", n, r.Seq)
		}
	}
	return n
}

func TestClosed(t *testing.T) {
	s := fresh(t)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := s.BeginRun(ctx, store.Run{ID: "r"}); !errors.Is(err, store.ErrClosed) {
		t.Fatal(err)
	}
}

func TestDoKeepsNothingOfAFailure(t *testing.T) {
	s := fresh(t)
	boom := errors.New("boom")
	begin := func(tx *store.Tx) {
		if err := tx.BeginRun(store.Run{ID: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Do(ctx, func(tx *store.Tx) error { begin(tx); return boom }); !errors.Is(err, boom) {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancelCause(ctx)
	if err := s.Do(cancelled, func(tx *store.Tx) error { begin(tx); cancel(boom); return nil }); !errors.Is(err, boom) {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.Do(ctx, func(tx *store.Tx) error { begin(tx); panic("boom") })
	}()
	if _, err := s.FindRun(ctx, "r"); !errors.Is(err, store.ErrNoRun) {
		t.Fatal(err)
	}
	if err := s.View(ctx, func(tx *store.Tx) error { return tx.BeginRun(store.Run{ID: "r"}) }); err == nil {
		t.Fatal("View wrote")
	}
	do(t, s, func(tx *store.Tx) error { begin(tx); return nil })
}

// Another process that keeps writing is waited for, up to the limit, and a caller who gives up is heard.
func TestBusyStore(t *testing.T) {
	a := fresh(t)
	b := open(t, a.Dir())
	why := errors.New("enough")
	b.SetBusySlices(1)
	do(t, a, func(*store.Tx) error {
		if err := b.BeginRun(ctx, store.Run{ID: "r"}); store.KindOf(err) != store.KindBusy || !err.(*store.Error).Retryable() {
			t.Errorf("got %v", err)
		}
		b.SetBusySlices(1000)
		giving, up := context.WithCancelCause(ctx)
		time.AfterFunc(10*time.Millisecond, func() { up(why) })
		if err := b.BeginRun(giving, store.Run{ID: "r"}); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		return b.View(ctx, func(tx *store.Tx) error { _, err := tx.Runs(0); return err }) // readers wait for nobody
	})
	if err := b.BeginRun(ctx, store.Run{ID: "r"}); err != nil {
		t.Error(err)
	}
}

func raw(query string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		s := open(t, filepath.Dir(path))
		if err := s.Raw(ctx, query); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, path string, n int64) {
	t.Helper()
	if err := os.Truncate(path, n); err != nil {
		t.Fatal(err)
	}
}

func modes(t *testing.T, dir string, each func(path string, mode fs.FileMode)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			each(path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
