package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"xmd/runtime/store"
)

func TestRuns(t *testing.T) {
	s := fresh(t)
	run := store.Run{
		ID: "01abc", Document: "a.xmd", Dir: "/home/ada/place", Sources: []store.Source{{Name: "a.xmd", Text: "text\x00\xc3\xa4"}},
		Props: json.RawMessage(`{"a":1}`), Settings: json.RawMessage(`{"policy":"ask"}`),
	}
	for _, id := range []string{"01abc", "01abd", "01a"} {
		run.ID = id
		if err := s.BeginRun(ctx, run); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.BeginRun(ctx, run); err == nil {
		t.Error("an id was used twice")
	}
	got, err := s.FindRun(ctx, "01abc")
	if err != nil {
		t.Fatal(err)
	}
	if got.Sources[0].Text != "text\x00ä" || string(got.Props) != `{"a":1}` || string(got.Settings) != `{"policy":"ask"}` ||
		got.Document != "a.xmd" || got.Dir != "/home/ada/place" || got.Started.IsZero() || !got.Ended.IsZero() || got.Outcome != "" {
		t.Errorf("%+v", got)
	}
	for ref, want := range map[string]string{"last": "01a", "01a": "01a", "01abd": "01abd"} {
		if got, err := s.FindRun(ctx, ref); err != nil || got.ID != want {
			t.Errorf("%s: %s %v", ref, got.ID, err)
		}
	}
	for _, ref := range []string{"", "01ab", "02", "%", "01_bc"} {
		if got, err := s.FindRun(ctx, ref); !errors.Is(err, store.ErrNoRun) {
			t.Errorf("%q gave %s %v", ref, got.ID, err)
		}
	}
	if err := s.EndRun(ctx, "01abc", "failed", 1); err != nil {
		t.Fatal(err)
	}
	if err := s.EndRun(ctx, "none", "done", 0); !errors.Is(err, store.ErrNoRun) {
		t.Error(err)
	}
	if got, _ := s.FindRun(ctx, "01abc"); got.Ended.IsZero() || got.Outcome != "failed" || got.ExitCode != 1 {
		t.Errorf("%+v", got)
	}
	do(t, s, func(tx *store.Tx) error {
		runs, err := tx.Runs(2)
		if len(runs) != 2 || runs[0].ID != "01a" || runs[1].ID != "01abd" {
			t.Errorf("%+v", runs)
		}
		return err
	})
}

func TestJournal(t *testing.T) {
	s := fresh(t)
	if _, err := s.Append(ctx, "r", store.Record{Kind: "k"}); !errors.Is(err, store.ErrNoRun) {
		t.Fatalf("got %v", err)
	}
	if err := s.BeginRun(ctx, store.Run{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	if last, err := s.Append(ctx, "r"); last != 0 || err != nil {
		t.Errorf("%d %v", last, err)
	}
	const n = 1000 // several pages
	for i := 0; i < n; i += 100 {
		var batch []store.Record
		for j := range 100 {
			batch = append(batch, store.Record{Step: "s", Kind: "k", Data: json.RawMessage(fmt.Sprint(i + j))})
		}
		if last, err := s.Append(ctx, "r", batch...); err != nil || last != int64(i+100) {
			t.Fatalf("%d %v", last, err)
		}
	}
	i := 0
	for r, err := range s.Records(ctx, "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if string(r.Data) != fmt.Sprint(i) || r.Seq != int64(i+1) || r.Step != "s" || r.Kind != "k" || r.Time.IsZero() {
			t.Fatalf("%d: %+v", i, r)
		}
		if i++; i == 300 { // the store is free inside the loop
			if _, err := s.FindRun(ctx, "r"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if i != n {
		t.Errorf("%d records", i)
	}
	for r := range s.Records(ctx, "r", n-1) {
		if r.Seq != n {
			t.Errorf("%+v", r)
		}
	}
	for _, r := range []store.Record{{}, {Kind: "k", Data: json.RawMessage("{")}} {
		if _, err := s.Append(ctx, "r", r); err == nil {
			t.Errorf("%+v was stored", r)
		}
	}
	if err := s.Raw(ctx, `INSERT INTO record VALUES ('r', 1001, '', 'k', 0, '{')`); err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range s.Records(ctx, "r", 900) {
		last = err
	}
	if !errors.Is(last, store.ErrUnaccountable) {
		t.Error(last)
	}
}

func TestClockGoingBackwards(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	s, err := store.Open(ctx, store.Options{Dir: filepath.Join(t.TempDir(), "xmd"), Now: func() time.Time {
		now = now.Add(-time.Hour)
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	k := key.Generation(1)
	for _, id := range []string{"a", "b"} {
		if err := s.BeginRun(ctx, store.Run{ID: id}); err != nil {
			t.Fatal(err)
		}
		do(t, s, func(tx *store.Tx) error {
			number, err := tx.NextTurn(k)
			if err != nil {
				return err
			}
			_, err = tx.Append("a", store.Record{Kind: id})
			return errors.Join(err, tx.PutOpened(store.Opened{Key: k, NativeID: id, Run: id}),
				tx.PutTurn(store.Turn{Key: k, Number: number, Run: id, Accepted: store.AcceptedYes}),
				tx.SetOwner(store.Owner{Key: k, Run: id, State: store.OwnerIdle}))
		})
	}
	do(t, s, func(tx *store.Tx) error {
		run, err1 := tx.Run("last")
		opened, _, err2 := tx.LastOpened(k)
		turns, err3 := tx.LastTurns(k, 1)
		owner, _, err4 := tx.Owner(key)
		if run.ID != "b" || opened.NativeID != "b" || turns[0].Run != "b" || owner.Run != "b" {
			t.Errorf("%s %s %s %s", run.ID, opened.NativeID, turns[0].Run, owner.Run)
		}
		return errors.Join(err1, err2, err3, err4)
	})
	kinds := ""
	for r, err := range s.Records(ctx, "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		kinds += r.Kind
	}
	if kinds != "ab" {
		t.Error(kinds)
	}
}

func TestConcurrentUse(t *testing.T) {
	s := fresh(t)
	if err := s.BeginRun(ctx, store.Run{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := s.Append(context.Background(), "r", store.Record{Kind: "d"}, store.Record{Kind: "k"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := count(t, s, "r"); n != 320 {
		t.Errorf("%d records", n)
	}
}
