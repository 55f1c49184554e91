package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime/store"
)

func busyOf(t *testing.T, err error) *store.BusyError {
	t.Helper()
	var busy *store.BusyError
	if !errors.As(err, &busy) {
		t.Fatalf("got %v", err)
	}
	return busy
}

func TestLockContendsInOneProcess(t *testing.T) {
	s := fresh(t)
	name := key.LockName()
	l, err := s.TryLock(ctx, store.LockSession, name, store.LockOwner{Run: "r1", Command: "xmd run a.xmd"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.TryLock(ctx, store.LockSession, name, store.LockOwner{Run: "r2"})
	busy := busyOf(t, err)
	if o := busy.Owner; o.Pid != os.Getpid() || o.Run != "r1" || o.Command != "xmd run a.xmd" || o.BootID != "boot" || o.Since.IsZero() || busy.Gone {
		t.Errorf("%+v", busy)
	}
	if !strings.Contains(busy.Error(), "xmd run a.xmd") || !strings.Contains(busy.Error(), "run r1") {
		t.Error(busy)
	}
	take(t, s, store.LockSession, "another name")
	take(t, s, store.LockRun, name) // another kind
	if l.File() == nil || l.Kind() != store.LockSession {
		t.Error("File or Kind")
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if l.File() != nil {
		t.Error("File after Close")
	}
	take(t, s, store.LockSession, name)
}

// What the last owner wrote stays readable, and is replaced whole by a shorter record.
func TestLockRecord(t *testing.T) {
	s := fresh(t)
	long := store.LockOwner{Run: "r1", Command: strings.Repeat("very long ", 500)}
	l, err := s.TryLock(ctx, store.LockRun, "r1", long)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.TryLock(ctx, store.LockRun, "r1", long); busyOf(t, err).Owner.Run != "r1" {
		t.Error(err)
	}
	l.Close()
	take(t, s, store.LockRun, "r1")
	if _, err = s.TryLock(ctx, store.LockRun, "r1", long); busyOf(t, err).Owner.Command != "" {
		t.Error(err)
	}
}

func TestNativeLockIsTheUsers(t *testing.T) {
	user := filepath.Join(t.TempDir(), "user")
	var stores []*store.Store
	for range 2 {
		s, err := store.Open(ctx, store.Options{Dir: filepath.Join(t.TempDir(), "xmd"), UserDir: user})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores = append(stores, s)
	}
	name := store.NativeLockName("codex", "0199")
	take(t, stores[0], store.LockNative, name)
	_, err := stores[1].TryLock(ctx, store.LockNative, name, store.LockOwner{})
	busyOf(t, err)
	take(t, stores[0], store.LockSession, key.LockName())
	take(t, stores[1], store.LockSession, key.LockName()) // sessions of another state directory are others
}

// A lock file that somebody deleted excludes nobody: the next holder gets one that does.
func TestLockFileReplaced(t *testing.T) {
	s := fresh(t)
	take(t, s, store.LockRun, "r1")
	files, err := filepath.Glob(filepath.Join(s.Dir(), "locks", "run-*.lock"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	take(t, s, store.LockRun, "r1")
	_, err = s.TryLock(ctx, store.LockRun, "r1", store.LockOwner{})
	busyOf(t, err)
}

func TestLockNames(t *testing.T) {
	s := fresh(t)
	if _, err := s.TryLock(ctx, store.LockRun, "", store.LockOwner{}); err == nil {
		t.Error("an empty name")
	}
	if _, err := s.TryLock(ctx, "other", "x", store.LockOwner{}); err == nil {
		t.Error("an unknown kind")
	}
	a := store.SessionKey{Agent: "a", Session: "b/c", Root: "/d"}
	b := store.SessionKey{Agent: "a", Session: "b", Root: "/c/d"}
	if a.LockName() == b.LockName() {
		t.Error("two sessions share a lock")
	}
}

func TestWait(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, filepath.Join(dir, "xmd"))
		l := take(t, s, store.LockRun, "r1")
		began := time.Now()
		_, err := s.Wait(ctx, 3*time.Second, store.LockRun, "r1", store.LockOwner{})
		busyOf(t, err)
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("waited %v", waited)
		}
		if _, err := s.Wait(ctx, 0, store.LockRun, "r1", store.LockOwner{}); busyOf(t, err) == nil || time.Since(began) != 3*time.Second {
			t.Error("without a duration it waited")
		}
		why := errors.New("enough")
		ending, end := context.WithCancelCause(ctx)
		time.AfterFunc(time.Second, func() { end(why) })
		if _, err := s.Wait(ending, time.Hour, store.LockRun, "r1", store.LockOwner{}); !errors.Is(err, why) {
			t.Error(err)
		}
		time.AfterFunc(5*time.Second, func() { l.Close() })
		got, err := s.Wait(ctx, time.Hour, store.LockRun, "r1", store.LockOwner{})
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited < 9*time.Second || waited > 10*time.Second {
			t.Errorf("got it after %v", waited)
		}
		got.Close()
	})
}

// Between opening and locking somebody may have replaced the file.
func TestStandsAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !store.StandsAt(f, path) {
		t.Error("its own file")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if store.StandsAt(f, path) {
		t.Error("a deleted file")
	}
	write(t, path, nil)
	if store.StandsAt(f, path) {
		t.Error("another file")
	}
}
