package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/secret"
	"xmd/runtime/store"
	"xmd/runtime/store/storetest"
)

// rawJournal is a store whose records are written without it, as a damaged file or another program would have left them.
type rawJournal struct {
	raw  *storetest.Raw
	s    *store.Store
	runs int
}

func newRawJournal(t testing.TB) *rawJournal {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "xmd")
	s, err := store.Open(context.Background(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := storetest.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = raw.Close(), s.Close() })
	return &rawJournal{raw: raw, s: s}
}

// put writes a run with these records: a line each, of a type, a step and the data, parted by tabs.
func (r *rawJournal) put(t *testing.T, lines string) (run string, n int) {
	t.Helper()
	r.runs++
	run = fmt.Sprint("r", r.runs)
	var records []store.Record
	for line := range strings.Lines(lines) {
		parts := append(strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3), "", "")
		records = append(records, store.Record{Kind: parts[0], Step: parts[1], Data: []byte(parts[2])})
	}
	if err := r.raw.Run(run, "", records); err != nil {
		t.Fatal(err)
	}
	return run, len(records)
}

const sentRecord = `prompt.sent` + "\tPrompt1\t" + `{"at":{"step":"Prompt1","position":"a.xmd:1:1","agent":"codex"},"body":{"turn":1,"text":"go"}}` + "\n"

// FuzzPast: whatever stands in the journal of a run, its reader gives what is recorded or an error that says that it cannot account for it,
// and what it gives agrees with itself. Nothing it does is without end.
func FuzzPast(f *testing.F) {
	for _, s := range []string{
		"", sentRecord, sentRecord + "prompt.accepted\tPrompt1\t{}\nmessage\tPrompt1\t" + `{"body":{"text":"ab"}}` + "\n" + "prompt.ended\tPrompt1\t{}\n",
		sentRecord + strings.Replace(sentRecord, "Prompt1\t", "Prompt1#2\t", 1) + "prompt.discarded\tPrompt1\t{}\n",
		"behaviour\t\t" + `{"body":{"number":7}}` + "\n", "behaviour\t\t" + `{"body":{"number":"x"}}` + "\n", "step.started\tExec1\t{}\nexec.output\tExec1\t" + `{"body":{"text":"a","stream":"stderr"}}` + "\n",
		"message\tPrompt1\tnot json\n", "message\tPrompt1\t\n", "message\tPrompt1\tnull\n", "message\tPrompt1\t{\"body\":{\"text\":\"\x1aTOKEN\x1a\"}}\n", "message\tPrompt1\t" + `{"body":{"text":"\u001aTOKEN\u001a \u001a"}}` + "\n",
		"message\tPrompt1\t" + `{"body":7}` + "\n", "message\tPrompt1\t" + `{"at":[],"body":{}}` + "\n", "step.discarded\tPrompt1\t{}\n", "\xff\t\xff\t\xff\n", "run.ended\t\t" + `{"body":{"outcome":"done"}}` + "\n",
	} {
		f.Add(s)
	}
	r := newRawJournal(f)
	secrets, err := secret.New(map[string]string{"TOKEN": "s3cret-value"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		if len(lines) > 16<<10 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		run, n := r.put(t, lines)
		past, err := journal.Open(ctx, r.s, run, secrets)
		if err != nil {
			t.Fatalf("the heads of records always have a form: %v", err)
		}
		readable(t, func() error { _, err := past.Unknown(ctx); return err })
		readable(t, func() error { _, err := past.Flights(ctx); return err })
		for _, step := range append(past.Steps(), "") {
			if step != "" && !past.Has(step) {
				t.Fatalf("%q has nothing on record", step)
			}
			if turns := past.Turns(step); len(turns) > n {
				t.Fatalf("%d turns of %d records", len(turns), n)
			}
			for _, kind := range []event.Type{event.PromptSent, event.Message, event.ExecOutput, event.StepEnded, event.BehaviourUsed} {
				readKind(ctx, t, past, step, kind)
			}
		}
		if ctx.Err() != nil {
			t.Fatal("it took longer than 10 s")
		}
	})
}

// readKind reads the records of one type that a step has in every way there is.
func readKind(ctx context.Context, t *testing.T, past *journal.Past, step string, kind event.Type) {
	t.Helper()
	read := 0
	whole := readable(t, func() error {
		return past.All(ctx, step, kind, func(_ event.At, body json.RawMessage) error {
			if body != nil && !json.Valid(body) {
				t.Fatalf("a body of %q is no JSON: %q", step, body)
			}
			read++
			return nil
		})
	})
	if count := past.Count(step, kind); whole && read != count || read > count {
		t.Fatalf("%d of %d records of %q were read", read, count, step)
	}
	_, found, err := past.Last(ctx, step, kind, nil)
	if err == nil && found != (past.Count(step, kind) > 0) || found != (err == nil && past.Seq(step, kind) > 0) {
		t.Fatalf("the last %s of %q: %v, %v", kind, step, found, err)
	}
	readable(t, func() error {
		for text, err := range past.Text(ctx, step, kind, "") {
			if err != nil {
				return err
			}
			if !utf8.ValidString(text) {
				t.Fatalf("a text of %q is no text: %q", step, text)
			}
		}
		return nil
	})
}

// readable says whether something could be read; an error has to say what cannot.
func readable(t *testing.T, read func() error) bool {
	t.Helper()
	err := read()
	if err != nil && !errors.Is(err, store.ErrUnaccountable) && !errors.Is(err, secret.ErrDamaged) && store.KindOf(err) == "" {
		t.Fatalf("%v does not say that the record cannot be accounted for", err)
	}
	return err == nil
}

// FuzzRecorded: what is recorded of a text, in whatever pieces it comes and whatever of it is secret, is what is read again; the secret
// itself is in no record.
func FuzzRecorded(f *testing.F) {
	for _, s := range []string{"", "plain", "a\x00b\x1ac", "s3cret-value", "x s3cret-value y", "s3cret-s3cret-values3cret", "\x1aTOKEN\x1a", "日本\u2028\U0010ffff", "\x1b[2J"} {
		f.Add(s, uint8(3))
	}
	const value = "s3cret-value"
	secrets, err := secret.New(map[string]string{"TOKEN": value})
	if err != nil {
		f.Fatal(err)
	}
	s := newRawJournal(f).s
	runs := 0
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		if !utf8.ValidString(text) || size == 0 || len(text) > 4<<10 {
			return
		}
		ctx := context.Background()
		runs++
		run := fmt.Sprint("w", runs)
		if err := s.BeginRun(ctx, store.Run{ID: run}); err != nil {
			t.Fatal(err)
		}
		j := journal.New(s, run, secrets)
		for rest := text; rest != ""; {
			n := min(int(size), len(rest))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			j.Batch(message(rest[:n]))
			rest = rest[n:]
		}
		if err := j.Commit(ctx, &event.Event{Type: event.PromptEnded, At: event.At{Step: "Prompt1"}, Body: &event.Ended{Outcome: "done", Reply: text}}, nil); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		for rec, err := range s.Records(ctx, run, 0) {
			if err != nil || strings.Contains(string(rec.Data), value) {
				t.Fatalf("recorded was %s, %v", rec.Data, err)
			}
		}
		past, err := journal.Open(ctx, s, run, secrets)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for piece, err := range past.Text(ctx, "Prompt1", event.Message, "") {
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString(piece)
		}
		var ended event.Ended
		if _, _, err := past.Last(ctx, "Prompt1", event.PromptEnded, &ended); err != nil || got.String() != text || ended.Reply != text {
			t.Fatalf("%q was recorded; read are the pieces %q and the reply %q, %v", text, got.String(), ended.Reply, err)
		}
	})
}
