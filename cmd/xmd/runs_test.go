//go:build linux

package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/runtime/store"
)

const talkThenSleep = "begun\n<Prompt agent=\"sim\" session=\"s\" text=\"Remember this for later, please.\"/>\n" +
	"<Prompt agent=\"sim\" session=\"s\" text=\"SLEEP 60000\"/>\n"

// killAndFree kills xmd and waits until what it started has given up its locks: a process that ends is gone from the table before.
func (x *started) killAndFree() {
	x.t.Helper()
	x.signal(syscall.SIGKILL)
	x.code()
	x.withStore(func(s *store.Store) {
		run, err := s.FindRun(context.Background(), "last")
		if err != nil {
			x.t.Fatal(err)
		}
		for kind, name := range map[store.LockKind]string{store.LockRun: run.ID, store.LockSession: x.key().LockName()} {
			l, err := s.Wait(context.Background(), 20*time.Second, kind, name, store.LockOwner{})
			if err != nil {
				x.t.Fatal(err)
			}
			_ = l.Close()
		}
	})
}

// What a live run, and one that was killed, look like from outside, and what may be done to their sessions.
func TestRunsAndSessionsOfAKilledRun(t *testing.T) {
	x := startXMD(t, "", talkThenSleep)
	x.await("turn 1")
	x.awaitTurn()
	root := x.key().Root
	m := &machine{t, x.home, root}
	here := func(args ...string) []string { return append(args, "-C", root) }
	if out := m.must("runs"); !strings.Contains(out, "  running      ") {
		t.Errorf("runs: %s", out)
	}
	if out := m.must(here("sessions")...); !strings.Contains(out, "in use") {
		t.Errorf("sessions: %s", out)
	}
	m.refused(5, "the session is in use by process", here("sessions", "move", "s", "--to", t.TempDir())...)
	m.refused(5, "[busy, retryable]", here("sessions", "restart", "s")...)
	m.refused(5, "[busy, retryable]", here("sessions", "import", "--agent", "sim", "--id", "x", "s")...)
	if out := m.must("runs", "prune", "--older-than", "1ms"); !strings.Contains(out, "deleted 0 runs") || !strings.Contains(out, "kept 1 run that goes on") {
		t.Errorf("prune: %s", out)
	}
	if out := m.must("show", "last"); !strings.Contains(out, "outcome      running") || !strings.Contains(out, "not ended") || strings.Contains(out, "xmd resume") {
		t.Errorf("show: %s", out)
	}
	x.killAndFree()
	if out := m.must("runs"); !strings.Contains(out, "  interrupted  ") {
		t.Errorf("runs: %s", out)
	}
	if out := m.must("show", "last"); !strings.Contains(out, "outcome      interrupted") || !strings.Contains(out, "xmd resume ") {
		t.Errorf("show: %s", out)
	}
	if out := m.must(here("sessions")...); !strings.Contains(out, "recovery-required") {
		t.Errorf("sessions: %s", out)
	}
	if out := m.must(here("sessions", "show", "s")...); !strings.Contains(out, "owner        recovery-required: turn since ") || !strings.Contains(out, "step Prompt2") {
		t.Errorf("sessions show: %s", out)
	}
	m.refused(5, "xmd sessions recover sim:s [recovery-required]", here("sessions", "move", "s", "--to", t.TempDir())...)
	if out := m.must("runs", "prune", "--older-than", "1ms"); !strings.Contains(out, "deleted 0 runs") || !strings.Contains(out, "a session needs it for xmd sessions recover") {
		t.Errorf("prune: %s", out)
	}
	if out := m.must(here("sessions", "restart", "s")...); !strings.Contains(out, "The turn that was in flight when its last owner ended") || !strings.Contains(out, "is given up") {
		t.Errorf("restart: %s", out)
	}
	if out := m.must(here("sessions")...); !strings.Contains(out, " idle ") || !strings.Contains(out, "begins anew") {
		t.Errorf("sessions: %s", out)
	}
	if out := m.must("runs", "prune", "--older-than", "1ms"); !strings.Contains(out, "deleted 1 run with") {
		t.Errorf("prune: %s", out)
	}
}

// A session that died in its first turn has no conversation yet that anything could be done to, and needs its recovery first.
func TestSessionThatDiedInItsFirstTurn(t *testing.T) {
	x := startXMD(t, "", sleeping)
	x.await("begun")
	x.awaitTurn()
	x.killAndFree()
	root := x.key().Root
	m := &machine{t, x.home, root}
	here := func(args ...string) []string { return append(args, "-C", root) }
	if out := m.must(here("sessions")...); !strings.Contains(out, "sim:s") || !strings.Contains(out, "0 turns  recovery-required") {
		t.Errorf("sessions: %s", out)
	}
	if out := m.must(here("sessions", "show", "s")...); !strings.Contains(out, "none was accepted yet") || !strings.Contains(out, "recovery-required: turn since") {
		t.Errorf("sessions show: %s", out)
	}
	m.refused(5, "[recovery-required]", here("sessions", "import", "--agent", "sim", "--id", "x", "s")...)
	m.refused(2, "had no accepted turn yet", here("sessions", "move", "s", "--to", t.TempDir())...)
	m.refused(2, "had no accepted turn yet", here("sessions", "restart", "s")...)
	m.refused(2, "had no accepted turn yet", here("sessions", "export", "s")...)
}

// What was exported is every record, as it is stored.
func TestExportHoldsEveryRecord(t *testing.T) {
	m := newMachine(t)
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(m.home, "state", "xmd")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := store.Run{
		ID: "01R", Document: "a\x1b[31m.xmd", Dir: "/d", Props: json.RawMessage(`{"b": 1,  "a":"<&>"}`), Settings: json.RawMessage(`{"x":[1.50]}`),
		Sources: []store.Source{{Name: "a.xmd", Text: "one\n<two> \u2028 ä\n"}, {Name: "b.xmd", Text: ""}},
	}
	if err := s.BeginRun(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	var want []store.Record
	for i := range 700 {
		r := store.Record{Step: "a/<b>#1", Kind: "kind.unknown", Time: time.UnixMilli(1796062796593 + int64(i)).UTC(), Data: json.RawMessage(`{"at":{"step":"Prompt1"},"body":{"n":1e400,"t":"\u003c<\u2028"}}`)}
		if i%3 == 0 {
			r.Step, r.Data = "", nil
		}
		want = append(want, r)
	}
	if _, err := s.Append(context.Background(), "01R", want...); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(m.must("export", "01R"), "\n"), "\n")
	var head exportedRun
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil {
		t.Fatal(err)
	}
	if head.Run.Records != 700 || len(lines) != 701 || head.Run.Ended != nil || head.Run.Sources[0] != run.Sources[0] || head.Run.Document != run.Document ||
		string(head.Run.Props) != `{"b":1,"a":"<&>"}` || string(head.Run.Settings) != `{"x":[1.50]}` {
		t.Errorf("%d lines, %+v", len(lines), head)
	}
	for i, text := range lines[1:] {
		var got exportedRecord
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("line %d: %v: %s", i+2, err, text)
		}
		w := want[i]
		if got.Seq != int64(i+1) || got.Step != w.Step || got.Kind != w.Kind || !got.Time.Equal(w.Time) || string(got.Data) != string(w.Data) {
			t.Fatalf("line %d is %s", i+2, text)
		}
	}
	// Kinds that this build does not know are no reason not to show the run, and nothing reaches the terminal as it is.
	if out := m.must("show", "01R"); !strings.Contains(out, "a/<b> ") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
}

func TestPruneAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 720 * time.Hour, "1d": 24 * time.Hour, "99999d": 99999 * 24 * time.Hour, "90m": 90 * time.Minute, "5ms": 5 * time.Millisecond,
		"": 0, "0d": 0, "d": 0, "-1d": 0, "1.5d": 0, "999999d": 0, "30": 0, "30D": 0, "1w": 0, "0s": 0,
	} {
		got, err := pruneAge(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %v, want %v (%v)", text, got, want, err)
		}
	}
}
