package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

func opened(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(dir, "xmd")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.BeginRun(context.Background(), store.Run{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// kept lists what the store holds: "message:ab prompt.ended".
func kept(t testing.TB, s *store.Store) string {
	t.Helper()
	var all []string
	for rec, err := range s.Records(context.Background(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		var data struct {
			Body struct{ Text string }
		}
		if err := json.Unmarshal(rec.Data, &data); err != nil {
			t.Fatal(err)
		}
		if data.Body.Text != "" {
			rec.Kind += ":" + data.Body.Text
		}
		all = append(all, rec.Kind)
	}
	return strings.Join(all, " ")
}

func message(text string) *event.Event {
	return &event.Event{Type: event.Message, At: event.At{Step: "Prompt1"}, Body: &event.Delta{Text: text}, Time: time.Unix(1, 0)}
}

func TestDeltasJoinAndKeepTheirPlace(t *testing.T) {
	s := opened(t, t.TempDir())
	j := journal.New(s, "r", nil)
	j.Batch(message("a"))
	j.Batch(message("b"))
	j.Batch(&event.Event{Type: event.Text, Body: &event.Delta{Text: "rendered"}})
	j.Batch(&event.Event{Type: event.Compaction})
	j.Batch(message("c"))
	if err := j.Commit(context.Background(), &event.Event{Type: event.PromptEnded}, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := kept(t, s), "message:ab compaction message:c prompt.ended"; got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
	j.Batch(message("d"))
	if err := errors.Join(j.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(kept(t, s), " message:d") {
		t.Errorf("Close lost what waited: %q", kept(t, s))
	}
}

// The caller's rows and the record are durable together or not at all; a failed commit loses nothing that waited.
func TestACommitIsOneTransaction(t *testing.T) {
	s := opened(t, t.TempDir())
	j := journal.New(s, "r", nil)
	defer func() { _ = j.Close() }()
	boom := errors.New("boom")
	j.Batch(message("a"))
	err := j.Commit(context.Background(), &event.Event{Type: event.PromptSent}, func(*store.Tx) error { return boom })
	if !errors.Is(err, boom) || kept(t, s) != "" {
		t.Fatalf("err %v, kept %q", err, kept(t, s))
	}
	key := store.SessionKey{Agent: "a", Session: "s", Root: "/r"}.Generation(1)
	err = j.Commit(context.Background(), &event.Event{Type: event.PromptEnded}, func(tx *store.Tx) error {
		return tx.SetOwner(store.Owner{Key: key, State: store.OwnerIdle})
	})
	if err != nil || kept(t, s) != "message:a prompt.ended" {
		t.Errorf("err %v, kept %q", err, kept(t, s))
	}
	err = s.View(context.Background(), func(tx *store.Tx) error {
		_, found, err := tx.Owner(key.SessionKey())
		if !found {
			t.Error("the caller's row is not there")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDeltasAreWrittenByTimeAndBySize(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, dir)
		j := journal.New(s, "r", nil)
		j.Batch(message("a"))
		if got := kept(t, s); got != "" {
			t.Errorf("at once: %q", got)
		}
		time.Sleep(200 * time.Millisecond) // the bubble's clock
		synctest.Wait()
		if got := kept(t, s); got != "message:a" {
			t.Errorf("after the delay: %q", got)
		}
		j.Batch(message(strings.Repeat("x", 1200<<10)))
		synctest.Wait()
		if got := kept(t, s); len(got) < 1200<<10 {
			t.Errorf("after 1 MiB: %d bytes", len(got))
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	s := opened(t, t.TempDir())
	j := journal.New(s, "r", nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				j.Batch(&event.Event{Type: event.Compaction})
				if err := j.Commit(context.Background(), &event.Event{Type: event.StepEnded}, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(kept(t, s))); n != 320 {
		t.Errorf("%d records, want 320", n)
	}
}

// Rows that were asked for soon are written with their record, before the next commit's own, and again if that failed.
func TestSoon(t *testing.T) {
	s := opened(t, t.TempDir())
	j := journal.New(s, "r", nil)
	var order []string
	full := errors.New("no space left")
	row := func(name string, err *error) func(*store.Tx) error {
		return func(*store.Tx) error { order = append(order, name); return *err }
	}
	var none error
	j.Soon(&event.Event{Type: event.PromptAccepted}, row("soon", &none))
	if err := j.Commit(context.Background(), &event.Event{Type: event.PromptEnded}, row("lost", &full)); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if got := kept(t, s); got != "" {
		t.Errorf("kept %s", got)
	}
	if err := j.Commit(context.Background(), &event.Event{Type: event.RunEnded}, row("end", &none)); err != nil {
		t.Error(err)
	}
	if got := kept(t, s); got != "prompt.accepted run.ended" {
		t.Errorf("kept %s", got)
	}
	if got := strings.Join(order, " "); got != "soon lost soon end" {
		t.Errorf("rows were written in the order %s", got)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// What was asked for soon is not left waiting until something is committed.
func TestSoonByItself(t *testing.T) {
	s := opened(t, t.TempDir())
	j := journal.New(s, "r", nil)
	written := make(chan struct{})
	j.Soon(&event.Event{Type: event.PromptAccepted}, func(*store.Tx) error { close(written); return nil })
	select {
	case <-written:
	case <-time.After(10 * time.Second):
		t.Error("nothing was written")
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if got := kept(t, s); got != "prompt.accepted" {
		t.Errorf("kept %s", got)
	}
}

// What cannot be written is said when it is more than may wait, and once.
func TestOnFailure(t *testing.T) {
	s := opened(t, t.TempDir())
	j := journal.New(s, "r", nil)
	var told []error
	j.OnFailure(func(err error) { told = append(told, err) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1<<20)
	for i := range 8 {
		j.Batch(message(text))
		if want := i >= 3; (len(told) == 1) != want || want && !errors.Is(told[0], store.ErrClosed) {
			t.Fatalf("after %d MiB: %v", i+1, told)
		}
	}
	if err := j.Close(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func BenchmarkDelta(b *testing.B) {
	s := opened(b, b.TempDir())
	j := journal.New(s, "r", nil)
	e := message(strings.Repeat("x", 20))
	for b.Loop() {
		j.Batch(e)
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkCommit(b *testing.B) {
	s := opened(b, b.TempDir())
	j := journal.New(s, "r", nil)
	e := &event.Event{Type: event.StepEnded, Body: &event.Step{Kind: "exec", Outcome: "done"}}
	for b.Loop() {
		if err := j.Commit(context.Background(), e, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}

// A long reply that comes faster than it is written is many records of bounded size, not one that holds it in several copies; its text stays whole and in order.
func TestALongTextIsManyRecords(t *testing.T) {
	s := opened(t, t.TempDir())
	j := journal.New(s, "r", nil)
	const piece = 10 << 10
	var want strings.Builder
	for i := range 30 { // more than a record holds
		text := strings.Repeat(string(rune('a'+i%26)), piece)
		want.WriteString(text)
		j.Batch(message(text))
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, record := range strings.Fields(kept(t, s)) {
		text := strings.TrimPrefix(record, "message:")
		if len(text) > 64<<10+piece {
			t.Errorf("a record has %d bytes", len(text))
		}
		got.WriteString(text)
	}
	if got.String() != want.String() {
		t.Errorf("kept %d bytes, want %d, in order", got.Len(), want.Len())
	}
}
