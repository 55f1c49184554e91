package store_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"xmd/runtime/store"
)

var task = store.ConversationKey{Session: store.Conversation("task"), Root: "/home/ada/project"}

func said(agent string, turn int, text string) store.Entry {
	raw, _ := json.Marshal(map[string]string{"words": text})
	return store.Entry{Agent: agent, Generation: 1, Turn: turn, Asked: raw}
}

// add puts entries into the log of c and gives the number of the last.
func add(t *testing.T, s *store.Store, c store.ConversationKey, entries ...store.Entry) (last int) {
	t.Helper()
	do(t, s, func(tx *store.Tx) error {
		for _, e := range entries {
			var err error
			if last, _, err = tx.AddEntry(c, e); err != nil {
				return err
			}
		}
		return nil
	})
	return last
}

func numbers(t *testing.T, s *store.Store, c store.ConversationKey, x store.EntryRange, n int, oldest bool) (list []int) {
	t.Helper()
	do(t, s, func(tx *store.Tx) error {
		all, err := tx.Entries(c, x, n, oldest)
		for _, e := range all {
			list = append(list, e.Number)
		}
		return err
	})
	return list
}

func TestConversationKeys(t *testing.T) {
	s := task.Of("codex")
	unnamed := store.ConversationKey{Session: store.Unnamed("run1", store.UnnamedConversation("Conversation1")), Root: "/r"}
	if s.String() != "conversation:task/codex" || s.Generation(2).String() != "conversation:task/codex@2" || task.Name() != "task" || unnamed.Name() != "" {
		t.Error(s, s.Generation(2), task.Name(), unnamed.Name())
	}
	for key, want := range map[store.SessionKey]bool{
		s: true, unnamed.Of("a"): true, {Agent: "a", Session: "task"}: false, {Agent: "a", Session: store.Unnamed("run1", "run")}: false,
	} {
		if c, ok := key.Conversation(); ok != want || ok && c.Of(key.Agent) != key {
			t.Errorf("%v: %v %v", key, c, ok)
		}
	}
	for text, want := range map[string]store.Selector{
		"conversation:task":         {Session: "conversation:task"},
		"conversation:task/codex@2": {Session: "conversation:task/codex", Generation: 2},
		"conversation:a b/c.d":      {Session: "conversation:a b/c.d"},
		"codex:task":                {Agent: "codex", Session: "task"},
		"conversation":              {Session: "conversation"},
	} {
		if got, err := store.ParseSelector(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	sel, _ := store.ParseSelector("conversation:a/b/codex@2")
	if in, ok := sel.InConversation(); !ok || in != (store.Selector{Agent: "codex", Session: "conversation:a/b", Generation: 2}) {
		t.Errorf("%+v %v", in, ok)
	}
	for _, text := range []string{"conversation:", "conversation:a:b", "conversation:a@0"} {
		if got, err := store.ParseSelector(text); err == nil {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// The log takes every turn once, in order, and no part of it changes.
func TestLog(t *testing.T) {
	s := fresh(t)
	if n := add(t, s, task, said("a", 1, "one"), said("b", 1, "two"), said("a", 1, "one again"), said("a", 2, "three")); n != 3 {
		t.Fatalf("the last is %d", n)
	}
	end := said("b", 1, "")
	end.Ended = json.RawMessage(`{"outcome":"done"}`)
	other := end
	other.Ended = json.RawMessage(`{"outcome":"failed"}`)
	never := end
	never.Turn = 9
	do(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.EndEntry(task, end), tx.EndEntry(task, other), tx.EndEntry(task, never))
	})
	do(t, s, func(tx *store.Tx) error {
		all, err := tx.Entries(task, store.EntryRange{}, 10, true)
		if err != nil || len(all) != 3 || string(all[0].Asked) != `{"words":"one"}` || all[0].Ended != nil || string(all[1].Ended) != `{"outcome":"done"}` {
			t.Errorf("%+v %v", all, err)
		}
		return err
	})
	for _, c := range []struct {
		x      store.EntryRange
		n      int
		oldest bool
		want   []int
	}{
		{store.EntryRange{}, 2, false, []int{3, 2}}, {store.EntryRange{}, 2, true, []int{1, 2}}, {store.EntryRange{After: 1}, 9, true, []int{2, 3}},
		{store.EntryRange{Before: 3}, 9, false, []int{2, 1}}, {store.EntryRange{But: store.Party{Agent: "a", Generation: 1}}, 9, true, []int{2}},
		{store.EntryRange{But: store.Party{Agent: "a", Generation: 2}}, 9, true, []int{1, 2, 3}}, {store.EntryRange{After: 3}, 9, true, nil},
	} {
		if got := numbers(t, s, task, c.x, c.n, c.oldest); !slices.Equal(got, c.want) {
			t.Errorf("%+v gave %v, want %v", c.x, got, c.want)
		}
		do(t, s, func(tx *store.Tx) error {
			if n, err := tx.CountEntries(task, c.x); err != nil || c.n > 2 && n != len(c.want) {
				t.Errorf("%+v counts %d, %v", c.x, n, err)
			}
			return nil
		})
	}
	for _, sql := range []string{`UPDATE entry SET record = 'x'`, `UPDATE entry_end SET record = 'x'`, `INSERT OR REPLACE INTO entry SELECT * FROM entry`, `INSERT OR REPLACE INTO entry_end SELECT * FROM entry_end`} {
		if err := s.Raw(ctx, sql); err == nil {
			t.Errorf("%s was done", sql)
		}
	}
	if err := s.Raw(ctx, `DROP TRIGGER entry_never_changes`); err != nil {
		t.Fatal(err)
	}
	if err := s.Raw(ctx, `UPDATE entry SET record = '{}' WHERE number = 2`); err != nil {
		t.Fatal(err)
	}
	err := s.View(ctx, func(tx *store.Tx) error { _, err := tx.Entries(task, store.EntryRange{}, 9, true); return err })
	if !errors.Is(err, store.ErrUnaccountable) {
		t.Errorf("a changed entry: %v", err)
	}
}

// A restart point and forgetting want the lock; numbers go on.
func TestPointAndForget(t *testing.T) {
	s := fresh(t)
	add(t, s, task, said("a", 1, "one"), said("b", 1, "two"))
	do(t, s, func(tx *store.Tx) error { return tx.PutParty(task, store.Party{Agent: "a", Generation: 1, Seen: 2}) })
	err := s.Do(ctx, func(tx *store.Tx) error { _, err := tx.SetPoint(nil, task); return err })
	if err == nil || s.Do(ctx, func(tx *store.Tx) error { return tx.ForgetConversation(nil, task) }) == nil {
		t.Error("without the lock")
	}
	lock := take(t, s, store.LockSession, task.LockName())
	do(t, s, func(tx *store.Tx) error {
		if point, err := tx.SetPoint(lock, task); err != nil || point != 2 {
			t.Errorf("%d %v", point, err)
		}
		return tx.ForgetConversation(lock, task)
	})
	do(t, s, func(tx *store.Tx) error {
		info, found, err := tx.Conversation(task)
		parties, perr := tx.Parties(task)
		if err != nil || !found || !info.Forgotten || info.Last != 2 || info.Point != 2 || len(parties) != 0 {
			t.Errorf("%+v %v %v %v", info, found, parties, err)
		}
		return perr
	})
	err = s.Do(ctx, func(tx *store.Tx) error { _, err := tx.SetPoint(lock, task); return err })
	if !errors.Is(err, store.ErrNoSession) {
		t.Errorf("the point of a forgotten one: %v", err)
	}
	if n := add(t, s, task, said("a", 2, "three")); n != 3 {
		t.Errorf("the next number is %d", n)
	}
	if got := numbers(t, s, task, store.EntryRange{}, 9, true); !slices.Equal(got, []int{3}) {
		t.Errorf("the log has %v", got)
	}
}

// A Conversation is found from below, as a session is; one that is forgotten is not.
func TestFindConversation(t *testing.T) {
	s := fresh(t)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(root, "a", "b")
	if err := errors.Join(os.MkdirAll(below, 0o755), os.Mkdir(filepath.Join(root, ".git"), 0o755), os.WriteFile(filepath.Join(root, ".git", "HEAD"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	place := func() store.Place {
		p, err := s.FindConversation(ctx, below, "task")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := place(); p.Found || p.Root != below {
		t.Errorf("%+v", p)
	}
	c := store.ConversationKey{Session: store.Conversation("task"), Root: root}
	add(t, s, c, said("a", 1, "one"))
	if p := place(); !p.Found || p.Root != root {
		t.Errorf("%+v", p)
	}
	lock := take(t, s, store.LockSession, c.LockName())
	do(t, s, func(tx *store.Tx) error { return tx.ForgetConversation(lock, c) })
	if p := place(); p.Found {
		t.Errorf("%+v", p)
	}
}

// What a turn carries is taken once, and a later turn takes its place.
func TestPending(t *testing.T) {
	s := fresh(t)
	k := task.Of("a").Generation(1)
	do(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.PutPending(k, 1, json.RawMessage(`1`)), tx.PutPending(k, 2, json.RawMessage(`2`)), tx.PutPending(k, 2, json.RawMessage(`3`)))
	})
	do(t, s, func(tx *store.Tx) error {
		for turn, want := range map[int]string{1: "", 2: "3"} {
			for range 2 {
				raw, found, err := tx.TakePending(k, turn)
				if err != nil || found != (want != "") || string(raw) != want {
					t.Errorf("turn %d: %s %v %v", turn, raw, found, err)
				}
				want = ""
			}
		}
		told, err := tx.Told(k)
		if err != nil || told != (store.Told{}) {
			t.Errorf("%+v %v", told, err)
		}
		if err := tx.PutTold(k, store.Told{Instructions: "i", Tools: "t"}); err != nil {
			t.Error(err)
		}
		if told, err = tx.Told(k); err != nil || told != (store.Told{Instructions: "i", Tools: "t"}) {
			t.Errorf("%+v %v", told, err)
		}
		return nil
	})
}

// Forgetting a session keeps its routes and takes its text out of the runs.
func TestForget(t *testing.T) {
	s := fresh(t)
	key := route(1).SessionKey()
	other := key
	other.Session = "other"
	do(t, s, func(tx *store.Tx) error {
		_, _, err := tx.CreateRoute(route(1))
		err = errors.Join(err, tx.BeginRun(store.Run{ID: "run1", Document: "d", Dir: key.Root}),
			tx.PutTurn(store.Turn{Key: key.Generation(1), Number: 1, Run: "run1", Accepted: store.AcceptedYes}), tx.PutTold(key.Generation(1), store.Told{Instructions: "i"}))
		for _, k := range []store.SessionKey{key, other} {
			at := `{"at":{"agent":"` + k.Agent + `","session":"` + k.Session + `"},"body":{"text":"a word"}}`
			for _, kind := range []string{"prompt.sent", "message", "session.opened"} {
				_, aerr := tx.Append("run1", store.Record{Kind: kind, Data: json.RawMessage(at)})
				err = errors.Join(err, aerr)
			}
		}
		return err
	})
	if _, err := forget(s, nil, key); err == nil {
		t.Error("without the lock")
	}
	lock := take(t, s, store.LockSession, key.LockName())
	if n, err := forget(s, lock, key); err != nil || n != 2 {
		t.Fatalf("%d %v", n, err)
	}
	if n, err := s.Count(ctx, "record"); err != nil || n != 4 {
		t.Errorf("%d records are left, %v", n, err)
	}
	do(t, s, func(tx *store.Tx) error {
		_, found, err := tx.Current(key)
		stored, serr := tx.StoredRoutes(key)
		next, nerr := tx.NextGeneration(key)
		told, terr := tx.Told(key.Generation(1))
		if found || len(stored) != 1 || next != 2 || told != (store.Told{}) {
			t.Errorf("%v, %d routes, next %d, told %+v", found, len(stored), next, told)
		}
		return errors.Join(err, serr, nerr, terr)
	})
	do(t, s, func(tx *store.Tx) error {
		return tx.SetOwner(store.Owner{Key: key.Generation(1), State: store.OwnerTurn})
	})
	if _, err := forget(s, lock, key); !errors.As(err, new(*store.RecoveryError)) {
		t.Errorf("with a turn in flight: %v", err)
	}
}

func forget(s *store.Store, lock *store.Lock, key store.SessionKey) (n int64, err error) {
	err = s.Do(ctx, func(tx *store.Tx) (err error) { n, err = tx.Forget(lock, key); return err })
	return n, err
}

// A Conversation without a name goes with its run; one with a name stays.
func TestPruneConversation(t *testing.T) {
	s := fresh(t)
	mine := store.ConversationKey{Session: store.Unnamed("run1", store.UnnamedConversation("Conversation1")), Root: task.Root}
	do(t, s, func(tx *store.Tx) error { return tx.BeginRun(store.Run{ID: "run1", Document: "d", Dir: task.Root}) })
	for _, c := range []store.ConversationKey{mine, task} {
		add(t, s, c, said("a", 1, "one"))
		k := c.Of("a").Generation(1)
		do(t, s, func(tx *store.Tx) error {
			return errors.Join(tx.PutParty(c, store.Party{Agent: "a", Generation: 1, Seen: 1}), tx.PutTold(k, store.Told{Tools: "t"}), tx.PutPending(k, 2, json.RawMessage(`1`)))
		})
	}
	if p, err := s.Prune(ctx, time.Now().Add(time.Hour), false); err != nil || len(p.Runs) != 1 {
		t.Fatalf("%+v %v", p, err)
	}
	for _, table := range []string{"conversation", "entry", "party", "told", "pending"} {
		if n, err := s.Count(ctx, table); err != nil || n != 1 {
			t.Errorf("%s has %d rows, %v", table, n, err)
		}
	}
}
