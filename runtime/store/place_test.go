package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"xmd/runtime/store"
)

func at(root string) store.SessionKey {
	return store.SessionKey{Agent: key.Agent, Session: key.Session, Root: root}
}

// establish makes a generation with a route and one accepted turn.
func establish(t *testing.T, s *store.Store, k store.Key, id string) {
	t.Helper()
	r := route(k.Generation)
	r.Key, r.NativeSessionID = k, id
	do(t, s, func(tx *store.Tx) error {
		_, created, err := tx.CreateRoute(r)
		if err == nil && !created {
			t.Errorf("%s is there already", k)
		}
		return errors.Join(err, tx.PutTurn(store.Turn{Key: k, Number: 1, Run: "r", Accepted: store.AcceptedYes}))
	})
}

func move(t *testing.T, s *store.Store, from, to string) error {
	t.Helper()
	var locks [2]*store.Lock
	for i, root := range []string{from, to} {
		if i == 1 && to == from {
			locks[1] = locks[0]
			break
		}
		l, err := s.TryLock(ctx, store.LockSession, at(root).LockName(), store.LockOwner{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		locks[i] = l
	}
	return s.Do(ctx, func(tx *store.Tx) error { return tx.Move(locks[0], locks[1], at(from), to) })
}

// current is the session's current generation and conversation: "@2 id", "" for none.
func current(t *testing.T, s *store.Store, root string) (got string) {
	t.Helper()
	do(t, s, func(tx *store.Tx) error {
		r, found, err := tx.Current(at(root))
		if found {
			got = fmt.Sprintf("@%d %s", r.Generation, r.NativeSessionID)
			if r.Root != root {
				t.Errorf("%s says that it lives in %s", r.Key, r.Root)
			}
		}
		return err
	})
	return got
}

func TestMove(t *testing.T) {
	s := fresh(t)
	establish(t, s, at("/a").Generation(1), "one")
	establish(t, s, at("/a").Generation(2), "two")
	do(t, s, func(tx *store.Tx) error {
		return tx.SetOwner(store.Owner{Key: at("/a").Generation(2), State: store.OwnerIdle})
	})
	if err := move(t, s, "/a", "/b"); err != nil {
		t.Fatal(err)
	}
	if a, b := current(t, s, "/a"), current(t, s, "/b"); a != "" || b != "@2 two" {
		t.Errorf("in /a %q, in /b %q", a, b)
	}
	do(t, s, func(tx *store.Tx) error {
		old, found, err := tx.Route(at("/b").Generation(1))
		if err != nil || !found || old.NativeSessionID != "one" || old.RecordedRoot != "/a" {
			t.Errorf("%v %+v %v", found, old, err)
		}
		if _, found, err := tx.Route(at("/a").Generation(1)); found || err != nil {
			t.Errorf("the old place still has it: %v", err)
		}
		turns, err := tx.LastTurns(at("/b").Generation(2), 0)
		if err != nil || len(turns) != 1 || turns[0].Key != at("/b").Generation(2) {
			t.Errorf("%+v %v", turns, err)
		}
		if turns, err := tx.LastTurns(at("/a").Generation(2), 0); len(turns) != 0 || err != nil {
			t.Errorf("%+v %v", turns, err)
		}
		marks, err := tx.Marks(at("/b").Generation(2))
		if err != nil || len(marks) != 1 || marks[0].Name != store.MarkMoved || string(marks[0].Data) != `{"from":"/a","to":"/b"}` {
			t.Errorf("%+v %v", marks, err)
		}
		if _, found, err := tx.Owner(at("/a")); found || err != nil {
			t.Errorf("an owner record stayed behind: %v", err)
		}
		holder, found, err := tx.NativeHolder("codex", "two")
		if holder != at("/b").Generation(2) || !found || err != nil {
			t.Errorf("the holder is %v %v", holder, err)
		}
		routes, err := tx.Routes(store.Filter{All: true, Root: "/b"})
		if len(routes) != 2 || err != nil {
			t.Errorf("%+v %v", routes, err)
		}
		routes, err = tx.Routes(store.Filter{Root: "/a"})
		if len(routes) != 0 || err != nil {
			t.Errorf("%+v %v", routes, err)
		}
		stored, err := tx.StoredRoutes(at("/b"))
		if len(stored) != 2 || err != nil {
			t.Fatalf("%+v %v", stored, err)
		}
		for _, r := range stored {
			if store.SumOf(r.Record) != r.Sum {
				t.Errorf("%s was rewritten", r.Record)
			}
		}
		return nil
	})
}

// Writers that still mean the old place are refused, so that nothing splits in two.
func TestMoveLeavesNothingToWrite(t *testing.T) {
	s := fresh(t)
	old := at("/a").Generation(1)
	establish(t, s, old, "one")
	if err := move(t, s, "/a", "/b"); err != nil {
		t.Fatal(err)
	}
	r := route(1)
	r.Key, r.NativeSessionID = old, "x"
	for name, write := range map[string]func(tx *store.Tx) error{
		"route": func(tx *store.Tx) error { _, _, err := tx.CreateRoute(r); return err },
		"turn": func(tx *store.Tx) error {
			return tx.PutTurn(store.Turn{Key: old, Number: 2, Accepted: store.AcceptedYes})
		},
		"mark":   func(tx *store.Tx) error { return tx.PutMark(store.Mark{Key: old, Name: "n"}) },
		"opened": func(tx *store.Tx) error { return tx.PutOpened(store.Opened{Key: old, NativeID: "x"}) },
	} {
		var gone *store.MovedError
		if err := s.Do(ctx, write); !errors.As(err, &gone) || gone.To != "/b" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A new session may begin where one was moved away, a moved one gets its next generation in its new place, and it may come back.
func TestMoveGoesOn(t *testing.T) {
	s := fresh(t)
	establish(t, s, at("/a").Generation(1), "one")
	do(t, s, func(tx *store.Tx) error {
		return tx.PutOpened(store.Opened{Key: at("/a").Generation(2), NativeID: "opened"})
	})
	if err := move(t, s, "/a", "/b"); err != nil {
		t.Fatal(err)
	}
	next := func(root string) (n int) {
		do(t, s, func(tx *store.Tx) (err error) { n, err = tx.NextGeneration(at(root)); return err })
		return n
	}
	if n := next("/b"); n != 2 {
		t.Errorf("the next generation in /b is %d", n)
	}
	do(t, s, func(tx *store.Tx) error {
		o, found, err := tx.LastOpened(at("/b").Generation(2))
		if !found || o.NativeID != "opened" {
			t.Errorf("what was opened did not come along: %+v", o)
		}
		return err
	})
	if n := next("/a"); n != 3 { // 1 and 2 are the moved session's
		t.Fatalf("the next generation in /a is %d", n)
	}
	establish(t, s, at("/a").Generation(3), "new")
	establish(t, s, at("/b").Generation(2), "opened") // accepted in its new place
	if a, b := current(t, s, "/a"), current(t, s, "/b"); a != "@3 new" || b != "@2 opened" {
		t.Errorf("in /a %q, in /b %q", a, b)
	}
	var taken *store.TakenError
	if err := move(t, s, "/b", "/a"); !errors.As(err, &taken) || taken.Holder != at("/a").Generation(3) {
		t.Errorf("%v", err)
	}
	if err := move(t, s, "/b", "/c"); err != nil {
		t.Fatal(err)
	}
	if err := move(t, s, "/a", "/d"); err != nil {
		t.Fatal(err)
	}
	if err := move(t, s, "/c", "/a"); err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string]string{"/a": "@2 opened", "/b": "", "/c": "", "/d": "@3 new"} {
		if got := current(t, s, root); got != want {
			t.Errorf("in %s %q, want %q", root, got, want)
		}
	}
	if n := next("/a"); n != 4 {
		t.Errorf("the next generation in /a is %d", n)
	}
	establish(t, s, at("/a").Generation(4), "four")
	if got := current(t, s, "/a"); got != "@4 four" {
		t.Error(got)
	}
}

func TestMoveRefused(t *testing.T) {
	s := fresh(t)
	establish(t, s, at("/a").Generation(1), "one")
	if err := move(t, s, "/b", "/c"); !errors.Is(err, store.ErrNoSession) {
		t.Error(err)
	}
	if err := move(t, s, "/a", "/a"); err != nil {
		t.Error(err)
	}
	if err := s.Do(ctx, func(tx *store.Tx) error { return tx.Move(nil, nil, at("/a"), "/b") }); err == nil {
		t.Error("moved without its lock")
	}
	l := take(t, s, store.LockSession, at("/a").LockName())
	if err := s.Do(ctx, func(tx *store.Tx) error { return tx.Move(l, l, at("/a"), "/b") }); err == nil {
		t.Error("moved without the other lock")
	}
	if err := s.Do(ctx, func(tx *store.Tx) error { return tx.Move(l, l, at("/a"), "b/..") }); err == nil {
		t.Error("moved to no clean path")
	}
	l.Close()
	do(t, s, func(tx *store.Tx) error {
		return tx.SetOwner(store.Owner{Key: at("/a").Generation(1), State: store.OwnerTurn})
	})
	var recovery *store.RecoveryError
	if err := move(t, s, "/a", "/b"); !errors.As(err, &recovery) {
		t.Error(err)
	}
	do(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.SetOwner(store.Owner{Key: at("/a").Generation(1), State: store.OwnerIdle}),
			tx.PutOpened(store.Opened{Key: at("/b").Generation(1), NativeID: "x"}))
	})
	var taken *store.TakenError
	if err := move(t, s, "/a", "/b"); !errors.As(err, &taken) {
		t.Errorf("an opened session was in the way: %v", err)
	}
	// What was forgotten there has numbers that could not be told apart.
	establish(t, s, at("/f").Generation(1), "forgotten")
	do(t, s, func(tx *store.Tx) error {
		return tx.PutMark(store.Mark{Key: at("/f").Generation(1), Name: store.MarkForgotten})
	})
	if err := move(t, s, "/a", "/f"); !errors.As(err, &taken) {
		t.Error(err)
	}
	if got := current(t, s, "/a"); got != "@1 one" {
		t.Error(got)
	}
}

// A mark that cannot be read is no reason to look for the session where it was.
func TestMovedReadStrictly(t *testing.T) {
	for _, data := range []string{``, `{`, `{}`, `{"to":"x"}`, `{"to":"/x/../y"}`, `{"to":"/b","more":1}`, `[]`} {
		s := fresh(t)
		establish(t, s, at("/a").Generation(1), "one")
		if err := move(t, s, "/a", "/b"); err != nil {
			t.Fatal(err)
		}
		if err := s.Raw(ctx, `UPDATE mark SET data = ?`, data); err != nil {
			t.Fatal(err)
		}
		for _, root := range []string{"/a", "/b"} {
			err := s.View(ctx, func(tx *store.Tx) error { _, _, err := tx.Current(at(root)); return err })
			if !errors.Is(err, store.ErrUnaccountable) {
				t.Errorf("%q in %s: %v", data, root, err)
			}
		}
	}
}

func TestFindRootAfterMove(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := fresh(t)
	establish(t, s, at("/gone/before").Generation(1), "one")
	strays, err := s.Strays(ctx, base, key.Agent, key.Session)
	if err != nil || len(strays) != 1 || !strays[0].Gone {
		t.Errorf("%+v %v", strays, err)
	}
	if err := move(t, s, "/gone/before", base); err != nil {
		t.Fatal(err)
	}
	if p, err := s.FindRoot(ctx, base, key.Agent, key.Session); err != nil || !p.Found || p.Root != base {
		t.Errorf("%+v %v", p, err)
	}
	if strays, err := s.Strays(ctx, base, key.Agent, key.Session); err != nil || len(strays) != 0 {
		t.Errorf("%+v %v", strays, err)
	}
	other := t.TempDir()
	if p, err := s.FindRoot(ctx, other, key.Agent, key.Session); err != nil || p.Found {
		t.Errorf("%+v %v", p, err)
	}
}

// Somebody in the place that a session left is told where it went.
func TestStraysThatMoved(t *testing.T) {
	here, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	there, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := fresh(t)
	establish(t, s, at(here).Generation(1), "one")
	if err := move(t, s, here, there); err != nil {
		t.Fatal(err)
	}
	got, err := s.Strays(ctx, here, key.Agent, key.Session)
	if err != nil || len(got) != 1 || !got[0].Moved || got[0].Gone || got[0].Root != there {
		t.Errorf("%+v %v", got, err)
	}
}
