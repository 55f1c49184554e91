package store_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"xmd/runtime/store"
)

func TestOpened(t *testing.T) {
	s := fresh(t)
	unnamed := store.SessionKey{Agent: "codex", Session: store.Unnamed("r1", "top/If:1"), Root: "/home/ada/place"}
	for _, k := range []store.Key{key.Generation(1), unnamed.Generation(1)} {
		do(t, s, func(tx *store.Tx) error {
			if _, found, err := tx.LastOpened(k); found || err != nil {
				t.Errorf("%s: found %v, %v", k, found, err)
			}
			return errors.Join(
				tx.PutOpened(store.Opened{Key: k, NativeID: "one", Transport: "acp", Run: "r1"}),
				tx.PutOpened(store.Opened{Key: k, NativeID: "two", Transport: "app-server", Run: "r1"}),
				tx.PutOpened(store.Opened{Key: k.SessionKey().Generation(2), NativeID: "three", Run: "r1"}))
		})
		do(t, s, func(tx *store.Tx) error {
			o, found, err := tx.LastOpened(k)
			if !found || o.NativeID != "two" || o.Transport != "app-server" || o.Run != "r1" || o.Key != k || o.Time.IsZero() {
				t.Errorf("%v %+v", found, o)
			}
			return err
		})
	}
	err := s.Do(ctx, func(tx *store.Tx) error {
		return tx.PutOpened(store.Opened{Key: unnamed.Generation(1), NativeID: "x", Run: "r2"})
	})
	if err == nil {
		t.Error("another run opened an unnamed session")
	}
	if unnamed.Named() || !key.Named() {
		t.Error("Named")
	}
}

func TestTurns(t *testing.T) {
	s := fresh(t)
	k := key.Generation(1)
	put := func(number int, accepted store.Accepted, reply string) {
		do(t, s, func(tx *store.Tx) error {
			return tx.PutTurn(store.Turn{
				Key: k, Number: number, Run: "r", Step: "a.xmd:1:1", WordsDigest: "w", WordsLetters: 30,
				ReplyDigest: reply, ReplyLetters: len(reply), Accepted: accepted,
			})
		})
	}
	last := func(n int) (got string, next int) {
		do(t, s, func(tx *store.Tx) error {
			turns, err := tx.LastTurns(k, n)
			if err != nil {
				return err
			}
			for _, turn := range turns {
				got += string(rune('0'+turn.Number)) + "=" + string(turn.Accepted) + turn.ReplyDigest + " "
			}
			next, err = tx.NextTurn(k)
			return err
		})
		return strings.TrimSpace(got), next
	}
	if got, next := last(0); got != "" || next != 1 {
		t.Errorf("%q %d", got, next)
	}
	put(1, store.AcceptedYes, "")
	put(1, store.AcceptedUnknown, "+r") // a later failure does not take acceptance back
	put(2, store.AcceptedUnknown, "")
	put(3, store.AcceptedUnknown, "")
	put(3, store.AcceptedNo, "")
	if got, next := last(0); got != "1=yes+r 2=unknown 3=no" || next != 4 {
		t.Errorf("%q %d", got, next)
	}
	if got, _ := last(2); got != "2=unknown 3=no" {
		t.Errorf("%q", got)
	}
	if err := s.Do(ctx, func(tx *store.Tx) error { return tx.PutTurn(store.Turn{Key: k, Number: 1, Accepted: "maybe"}) }); err == nil {
		t.Error("an unknown acceptance was stored")
	}
	if err := s.Raw(ctx, `UPDATE turn SET accepted = 'maybe'`); err != nil {
		t.Fatal(err)
	}
	if err := s.View(ctx, func(tx *store.Tx) error { _, err := tx.LastTurns(k, 1); return err }); !errors.Is(err, store.ErrUnaccountable) {
		t.Error(err)
	}
}

func TestMarks(t *testing.T) {
	s := fresh(t)
	k := key.Generation(1)
	do(t, s, func(tx *store.Tx) error {
		return errors.Join(
			tx.PutMark(store.Mark{Key: k, Name: "identity-mismatch", Run: "r", Data: json.RawMessage(`{"turn":2}`)}),
			tx.PutMark(store.Mark{Key: k, Name: "note"}))
	})
	do(t, s, func(tx *store.Tx) error {
		marks, err := tx.Marks(k)
		if len(marks) != 2 || marks[0].Name != "identity-mismatch" || string(marks[0].Data) != `{"turn":2}` || marks[1].Data != nil {
			t.Errorf("%+v", marks)
		}
		return err
	})
	if err := s.Do(ctx, func(tx *store.Tx) error { return tx.PutMark(store.Mark{Key: k, Name: "n", Data: json.RawMessage(`{`)}) }); err == nil {
		t.Error("broken JSON was stored")
	}
}

func TestClaim(t *testing.T) {
	s := fresh(t)
	lock := take(t, s, store.LockSession, key.LockName())
	me := store.Owner{Key: key.Generation(1), Run: "r1"}
	if err := s.Claim(ctx, nil, me); err == nil {
		t.Fatal("claimed without a lock")
	}
	other := take(t, s, store.LockSession, store.SessionKey{Agent: "codex", Session: "other", Root: "/home/ada/place"}.LockName())
	if err := s.Claim(ctx, other, me); err == nil {
		t.Fatal("claimed with another session's lock")
	}
	if err := s.Claim(ctx, lock, me); err != nil {
		t.Fatal(err)
	}
	for _, state := range []store.OwnerState{store.OwnerTurn, store.OwnerNative} {
		do(t, s, func(tx *store.Tx) error {
			o := me
			o.State, o.Step, o.NativeID = state, "a.xmd:3:1", "0199"
			return tx.SetOwner(o)
		})
		var recovery *store.RecoveryError
		if err := s.Claim(ctx, lock, store.Owner{Key: key.Generation(1), Run: "r2"}); !errors.As(err, &recovery) {
			t.Fatalf("%s: %v", state, err)
		}
		if o := recovery.Owner; o.State != state || o.Run != "r1" || o.Step != "a.xmd:3:1" || o.NativeID != "0199" || o.BootID != "boot" || o.Pid == 0 || o.Since.IsZero() {
			t.Errorf("%+v", o)
		}
		for _, want := range []string{"codex:review", "run r1", "xmd sessions recover codex:review"} {
			if !strings.Contains(recovery.Error(), want) {
				t.Errorf("%q lacks %q", recovery, want)
			}
		}
	}
	do(t, s, func(tx *store.Tx) error {
		return tx.SetOwner(store.Owner{Key: key.Generation(1), State: store.OwnerIdle})
	})
	if err := s.Claim(ctx, lock, store.Owner{Key: key.Generation(1), Run: "r2"}); err != nil {
		t.Fatalf("idle was not taken over: %v", err)
	}
	if err := s.Raw(ctx, `UPDATE owner SET state = 'dreaming'`); err != nil {
		t.Fatal(err)
	}
	if err := s.Claim(ctx, lock, me); !errors.Is(err, store.ErrUnaccountable) {
		t.Error(err)
	}
	lock.Close()
	if err := s.Claim(ctx, lock, me); err == nil || errors.Is(err, store.ErrUnaccountable) {
		t.Errorf("claimed with a closed lock: %v", err)
	}
}

func take(t *testing.T, s *store.Store, kind store.LockKind, name string) *store.Lock {
	t.Helper()
	l, err := s.TryLock(ctx, kind, name, store.LockOwner{Run: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
