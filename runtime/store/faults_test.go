package store_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"xmd/runtime/store"
)

// spoiled opens a copy of the files with the database replaced, and asks for the session in every way. It must be there, whole, or
// something must be an error that says so; it is never "no such session".
func spoiled(t *testing.T, what string, db []byte) (noticed bool) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "xmd")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, store.FileName), db)
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		if store.KindOf(err) == "" {
			t.Errorf("%s: opening it: %v", what, err)
		}
		return true
	}
	defer s.Close()
	want := route(1)
	asks := map[string]func(tx *store.Tx) (store.Route, bool, error){
		"current": func(tx *store.Tx) (store.Route, bool, error) { return tx.Current(key) },
		"create": func(tx *store.Tx) (store.Route, bool, error) {
			r := want
			r.NativeSessionID = "another"
			winner, created, err := tx.CreateRoute(r)
			return winner, !created, err
		},
	}
	for name, ask := range asks {
		err := s.Do(ctx, func(tx *store.Tx) error {
			r, found, err := ask(tx)
			if err == nil && (!found || r.NativeSessionID != want.NativeSessionID || r.Key != want.Key) {
				t.Errorf("%s: %s: found %v, %+v", what, name, found, r.Key)
			}
			return err
		})
		noticed = noticed || err != nil
	}
	place, err := s.FindRoot(ctx, t.TempDir(), key.Agent, key.Session)
	if err == nil && place.Found {
		t.Errorf("%s: found in %s", what, place.Root)
	}
	return noticed || err != nil
}

// oneRoute is a database with one route.
func oneRoute(t *testing.T) []byte {
	t.Helper()
	s := fresh(t)
	do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(route(1)); return err })
	s.Close()
	db, err := os.ReadFile(filepath.Join(s.Dir(), store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// One bit is wrong, in every byte of the pages that hold the route, its index and what the schema says of them.
func TestFlippedBits(t *testing.T) {
	db := oneRoute(t)
	if spoiled(t, "control", db) {
		t.Fatal("the good database was refused")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const page = 4096
	tried, noticed := 0, 0
	for at := range len(db) {
		if db[at] == 0 && rng.IntN(100) > 0 || !strings.Contains(string(db[at/page*page:at/page*page+page]), "codex") && rng.IntN(40) > 0 {
			continue // what is empty, or has nothing of the route, is looked at here and there
		}
		if testing.Short() && rng.IntN(8) > 0 {
			continue
		}
		bad := []byte(string(db))
		bad[at] ^= 1 << rng.IntN(8)
		tried++
		if spoiled(t, "byte "+strconv.Itoa(at), bad) {
			noticed++
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d of %d flips were noticed", noticed, tried)
	if noticed < 300 && !testing.Short() {
		t.Errorf("only %d of %d flips were noticed: the test does not reach the route", noticed, tried)
	}
}

func TestTruncatedAnywhere(t *testing.T) {
	db := oneRoute(t)
	noticed := 0
	sizes := []int{1, 15, 16, 99, 100, 512, 4095}
	for n := 4096; n < len(db); n += 1024 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		if spoiled(t, strconv.Itoa(n)+" bytes", db[:n]) {
			noticed++
		}
	}
	if noticed < len(sizes)/2 {
		t.Errorf("%d of %d were noticed", noticed, len(sizes))
	}
}

// A key has no sum of its own. A route whose key is damaged must not make its session look as if it never was.
func TestRouteUnderAnotherKey(t *testing.T) {
	for column, value := range map[string]any{"agent": "codey", "session": "reviex", "root": "/home/ada/plbce", "generation": 3} {
		s := fresh(t)
		do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(route(1)); return err })
		for _, q := range []string{
			`DROP TRIGGER route_never_changes`, `DROP TRIGGER route_created_once`,
			`CREATE TRIGGER route_created_once AFTER INSERT ON route BEGIN SELECT 1; END`, `UPDATE route SET ` + column + ` = ?`,
			`CREATE TRIGGER route_never_changes AFTER UPDATE ON route BEGIN SELECT 1; END`,
		} {
			args := []any{value}
			if !strings.Contains(q, "?") {
				args = nil
			}
			if err := s.Raw(ctx, q, args...); err != nil {
				t.Fatal(err)
			}
		}
		for name, ask := range map[string]func(tx *store.Tx) error{
			"current": func(tx *store.Tx) error { _, _, err := tx.Current(key); return err },
			"create":  func(tx *store.Tx) error { _, _, err := tx.CreateRoute(route(1)); return err },
		} {
			if err := s.Do(ctx, ask); !errors.Is(err, store.ErrUnaccountable) {
				t.Errorf("%s is %v: %s: %v", column, value, name, err)
			}
		}
	}
}

// killed is a store as kill -9 leaves it: what was committed last stands in the -wal file.
func killed(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "xmd")
	live := open(t, dir)
	do(t, live, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(route(1)); return err })
	if err := live.BeginRun(ctx, store.Run{ID: "r", Document: strings.Repeat("long ", 4000)}); err != nil {
		t.Fatal(err)
	}
	copyTo := filepath.Join(t.TempDir(), "xmd")
	if err := os.CopyFS(copyTo, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(copyTo, store.FileName+"-wal")); err != nil || info.Size() == 0 {
		t.Fatalf("there is no log: %v", err)
	}
	return copyTo
}

func TestMissingWAL(t *testing.T) {
	dir := killed(t)
	path := filepath.Join(dir, store.FileName)
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(ctx, store.Options{Dir: dir})
	if store.KindOf(err) != store.KindDamaged || !strings.Contains(err.Error(), "-wal") || !strings.Contains(err.Error(), "-shm") {
		t.Fatal(err)
	}
	if err := os.Remove(path + "-shm"); err != nil { // the way on that the message names
		t.Fatal(err)
	}
	open(t, dir)
}

func TestForeignWAL(t *testing.T) {
	ours, theirs := killed(t), killed(t)
	name := store.FileName + "-wal"
	log, err := os.ReadFile(filepath.Join(theirs, name))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(ours, name))
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(ours, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(ours, name), log)
	if err := os.Remove(filepath.Join(ours, store.FileName+"-shm")); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(ctx, store.Options{Dir: ours}); store.KindOf(err) != store.KindDamaged || !strings.Contains(err.Error(), "another database") {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(filepath.Join(ours, store.FileName)); string(after) != string(before) {
		t.Error("the database was changed")
	}
	write(t, filepath.Join(ours, name), own)
	s := open(t, ours)
	do(t, s, func(tx *store.Tx) error {
		if _, found, err := tx.Current(key); !found {
			t.Errorf("its own log was not taken: %v", err)
		}
		return nil
	})
}

// A log that is torn, or no log at all, costs at most what was not acknowledged.
func TestSpoiledWAL(t *testing.T) {
	for name, spoil := range map[string]func(log []byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"a header":  func(log []byte) []byte { return log[:20] },
		"garbage":   func(log []byte) []byte { return []byte(strings.Repeat("garbage!", len(log)/8)) },
		"torn":      func(log []byte) []byte { return log[:len(log)-1000] },
		"untouched": func(log []byte) []byte { return log },
	} {
		dir := killed(t)
		path := filepath.Join(dir, store.FileName+"-wal")
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, spoil(log))
		if err := os.Remove(filepath.Join(dir, store.FileName+"-shm")); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(ctx, store.Options{Dir: dir})
		if err != nil {
			if !errors.Is(err, store.ErrUnaccountable) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err := s.Check(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

// Whoever looks whether a lock is held takes it from nobody, and leaves no trace.
func TestLocked(t *testing.T) {
	s := fresh(t)
	if b, err := s.Locked(store.LockRun, "r1"); b != nil || err != nil {
		t.Errorf("%v %v", b, err)
	}
	if made, err := filepath.Glob(filepath.Join(s.Dir(), "locks", "run-*")); len(made) > 0 || err != nil {
		t.Errorf("looking made %v %v", made, err)
	}
	l := take(t, s, store.LockRun, "r1")
	b, err := s.Locked(store.LockRun, "r1")
	if err != nil || b == nil || b.Owner.Run != "r1" || b.Owner.Pid != os.Getpid() {
		t.Fatalf("%+v %v", b, err)
	}
	l.Close()
	if b, err := s.Locked(store.LockRun, "r1"); b != nil || err != nil {
		t.Errorf("%v %v", b, err)
	}
	// Whoever takes it while somebody looks waits that moment, and not for ever.
	looked := 0
	done, err := s.Look(store.LockRun, "r1")
	if err != nil {
		t.Fatal(err)
	}
	s.SetPause(func() {
		if looked++; looked == 2 {
			done()
		}
	})
	take(t, s, store.LockRun, "r1").Close()
	done, err = s.Look(store.LockRun, "r1")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	looked = 2
	if _, err := s.TryLock(ctx, store.LockRun, "r1", store.LockOwner{}); busyOf(t, err) == nil || looked > 9 {
		t.Errorf("%v after %d looks", err, looked)
	}
}
