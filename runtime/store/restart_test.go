package store_test

import (
	"errors"
	"testing"

	"xmd/runtime/store"
)

func TestRestart(t *testing.T) {
	s := fresh(t)
	lock := take(t, s, store.LockSession, at("/a").LockName())
	restart := func() (r store.Route, err error) {
		err = s.Do(ctx, func(tx *store.Tx) error { r, err = tx.Restart(lock, at("/a")); return err })
		return r, err
	}
	due := func() (due bool) {
		do(t, s, func(tx *store.Tx) (err error) { due, err = tx.RestartDue(at("/a")); return err })
		return due
	}
	if _, err := restart(); !errors.Is(err, store.ErrNoSession) {
		t.Error(err)
	}
	if err := s.Do(ctx, func(tx *store.Tx) error { _, err := tx.Restart(nil, at("/a")); return err }); err == nil {
		t.Error("restarted without its lock")
	}
	establish(t, s, at("/a").Generation(1), "one")
	if due() {
		t.Error("due before it was asked for")
	}
	do(t, s, func(tx *store.Tx) error {
		return tx.SetOwner(store.Owner{Key: at("/a").Generation(1), State: store.OwnerTurn, Run: "r", Step: "s"})
	})
	for range 2 { // the second says the same
		if r, err := restart(); err != nil || r.Generation != 1 {
			t.Fatal(r, err)
		}
	}
	do(t, s, func(tx *store.Tx) error {
		marks, err := tx.Marks(at("/a").Generation(1))
		owner, _, oerr := tx.Owner(at("/a"))
		if len(marks) != 1 || owner.State != store.OwnerIdle {
			t.Errorf("%+v %+v", marks, owner)
		}
		return errors.Join(err, oerr)
	})
	if !due() || current(t, s, "/a") != "@1 one" {
		t.Error("the old generation is not current, or nothing is due")
	}
	establish(t, s, at("/a").Generation(2), "two") // the new one's first accepted turn
	if due() || current(t, s, "/a") != "@2 two" {
		t.Error("still due")
	}
}

func TestRestoreSession(t *testing.T) {
	from, to := fresh(t), fresh(t)
	establish(t, from, at("/a").Generation(1), "one")
	establish(t, from, at("/a").Generation(2), "two")
	saved := func() (saved store.Saved) {
		do(t, from, func(tx *store.Tx) (err error) {
			saved.Routes, err = tx.StoredRoutes(at("/a"))
			return err
		})
		saved.Turns = []store.Turn{{Key: store.Key{Generation: 2}, Number: 1, Accepted: store.AcceptedYes, WordsDigest: "w"}}
		saved.Marks = []store.Mark{{Key: store.Key{Generation: 1}, Name: "note"}}
		return saved
	}
	restore := func(root string, saved store.Saved) (created bool, err error) {
		l, err := to.TryLock(ctx, store.LockSession, at(root).LockName(), store.LockOwner{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		err = to.Do(ctx, func(tx *store.Tx) error { created, err = tx.RestoreSession(l, at(root), saved); return err })
		return created, err
	}
	for _, want := range []bool{true, false} {
		if created, err := restore("/here", saved()); err != nil || created != want {
			t.Fatalf("%v %v", created, err)
		}
	}
	if a, here := current(t, to, "/a"), current(t, to, "/here"); a != "" || here != "@2 two" {
		t.Errorf("in /a %q, in /here %q", a, here)
	}
	do(t, to, func(tx *store.Tx) error {
		stored, err := tx.StoredRoutes(at("/here"))
		turns, terr := tx.LastTurns(at("/here").Generation(2), 0)
		marks, merr := tx.Marks(at("/here").Generation(1))
		if len(stored) != 2 || stored[0].Record != saved().Routes[0].Record || len(turns) != 1 || turns[0].WordsDigest != "w" || len(marks) != 2 {
			t.Errorf("%+v %+v %+v", stored, turns, marks)
		}
		return errors.Join(err, terr, merr)
	})
	var native *store.NativeTakenError
	if _, err := restore("/elsewhere", saved()); !errors.As(err, &native) || native.Holder.Root != "/here" {
		t.Errorf("a second time: %v", err)
	}
	other := saved()
	other.Routes[1].Record = other.Routes[1].Record + " "
	other.Routes[1].Sum = store.SumOf(other.Routes[1].Record)
	var taken *store.TakenError
	if _, err := restore("/here", other); !errors.As(err, &taken) {
		t.Errorf("over another session: %v", err)
	}
	for name, spoil := range map[string]func(s *store.Saved){
		"no routes": func(s *store.Saved) { s.Routes = nil },
		"a move": func(s *store.Saved) {
			s.Marks = append(s.Marks, store.Mark{Key: store.Key{Generation: 1}, Name: store.MarkMoved, Data: []byte(`{"from":"/here","to":"/elsewhere"}`)})
		},
		"a sum":    func(s *store.Saved) { s.Routes[0].Sum = s.Routes[1].Sum },
		"a record": func(s *store.Saved) { s.Routes[0].Record, s.Routes[0].Sum = "{}", store.SumOf("{}") },
		"another session's": func(s *store.Saved) {
			r := route(1)
			r.Session = "other"
			s.Routes[0].Record, s.Routes[0].Sum, _ = store.EncodeRoute(r)
		},
	} {
		bad := saved()
		spoil(&bad)
		to = fresh(t)
		if _, err := restore("/here", bad); !errors.Is(err, store.ErrUnaccountable) {
			t.Errorf("%s: %v", name, err)
		}
		if got := current(t, to, "/here"); got != "" {
			t.Errorf("%s: something stayed: %s", name, got)
		}
	}
	// The place that the routes name has a session of that name of its own.
	to = fresh(t)
	establish(t, to, at("/a").Generation(1), "its own")
	if _, err := restore("/here", saved()); !errors.As(err, &taken) || taken.Holder != at("/a").Generation(1) {
		t.Error(err)
	}
	if err := to.Do(ctx, func(tx *store.Tx) error { _, err := tx.RestoreSession(nil, at("/x"), saved()); return err }); err == nil {
		t.Error("restored without its lock")
	}
}
