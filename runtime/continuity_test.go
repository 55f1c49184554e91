package runtime_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

const (
	firstPrompt  = `<Prompt session="s" text="The codeword is ZEBRA, please remember it."/>`
	secondPrompt = `<Prompt session="s" text="Which codeword did I give you at the start?"/>`
)

func TestASessionGoesOnInTheNextRun(t *testing.T) {
	b := newBench(t)
	first := b.run(firstPrompt)
	if first.err != nil || first.out != "«The codeword is ZEBRA, please remember it.»" {
		t.Fatalf("first run: %q, %v", first.out, first.err)
	}
	want := "step.started agent.started session.opened session.attached prompt.sent prompt.accepted prompt.ended step.ended"
	if got := first.types(); got != want {
		t.Errorf("order of records:\n got %s\nwant %s", got, want)
	}
	second := b.run(secondPrompt)
	if second.err != nil {
		t.Fatal(second.err)
	}
	if got, want := second.types(), "step.started agent.started session.attached prompt.sent prompt.accepted prompt.ended step.ended"; got != want {
		t.Errorf("second run:\n got %s\nwant %s", got, want)
	}
	if n := len(b.agents["fake"].homes); n != 1 {
		t.Errorf("%d provider conversations, want 1", n)
	}
	for _, e := range second.events {
		if s, ok := e.Body.(*event.Session); ok && e.Type == event.SessionAttached {
			if !s.Loaded || s.Identity != "listed" || s.History != "confirmed" {
				t.Errorf("attached: %+v", s)
			}
		}
	}
}

func TestTwoPromptsOfARunShareOneAttachment(t *testing.T) {
	b := newBench(t)
	r := b.run(firstPrompt + "\n" + secondPrompt)
	if r.err != nil || b.agents["fake"].starts != 1 {
		t.Errorf("err %v, %d starts", r.err, b.agents["fake"].starts)
	}
	b = newBench(t)
	r = b.run("<Prompt text=\"a b c\"/>\n<Prompt text=\"d e f\"/>")
	if r.err != nil || b.agents["fake"].starts != 1 || len(b.agents["fake"].homes) != 1 {
		t.Errorf("unnamed: err %v, %d starts", r.err, b.agents["fake"].starts)
	}
	b.run("<Prompt text=\"g h i\"/>")
	if len(b.agents["fake"].homes) != 2 {
		t.Error("an unnamed session went on in the next run")
	}
}

// Each way a conversation can turn out not to be ours: exit 5, no prompt, no replacement, ownership free again.
func TestWhatCannotBeContinuedIsNotReplaced(t *testing.T) {
	cases := []struct {
		name string
		kind runtime.Kind
		set  func(f *fakeAgent)
	}{
		{"missing", runtime.KindMissing, func(f *fakeAgent) { clear(f.homes) }},
		{"empty", runtime.KindEmpty, func(f *fakeAgent) {
			for _, c := range f.homes {
				c.turns = nil
			}
		}},
		{"other id", runtime.KindMismatch, func(f *fakeAgent) {
			f.onOpen = func(_ string, o *runtime.Opened) error { o.Asserted = "another"; return nil }
		}},
		{"nothing but an echo", runtime.KindUnasserted, func(f *fakeAgent) {
			f.onOpen = func(_ string, o *runtime.Opened) error {
				o.Listed = runtime.ListOmits
				o.History = runtime.History{}
				return nil
			}
		}},
		{"load fails", runtime.KindCouldNot, func(f *fakeAgent) {
			f.onOpen = func(string, *runtime.Opened) error {
				return &runtime.Error{Kind: runtime.KindCouldNot, Retryable: true, Message: "the disk is full"}
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.run(firstPrompt)
			f := b.agents["fake"]
			c.set(f)
			sent, homes := len(f.prompts), len(f.homes)
			r := b.run("before\n" + secondPrompt + "\nafter\n")
			if got := runtime.KindOf(r.err); got != c.kind || got.ExitCode() != 5 {
				t.Fatalf("kind %q (%v), want %q", got, r.err, c.kind)
			}
			if r.out != "before\n" {
				t.Errorf("output %q", r.out)
			}
			if len(f.prompts) != sent || len(f.homes) != homes {
				t.Error("a prompt was sent or a conversation made")
			}
			msg := r.err.Error()
			for _, part := range []string{"test.xmd:2:1", `session "s"`, "Fake", "conv-1-1", "no prompt was sent"} {
				if !strings.Contains(msg, part) {
					t.Errorf("message lacks %q: %s", part, msg)
				}
			}
			f.onOpen = nil
			if again := b.run(`<Prompt session="other" text="Is anything still locked here?"/>`); again.err != nil {
				t.Errorf("afterwards: %v", again.err)
			}
		})
	}
}

func TestRequireConfirmed(t *testing.T) {
	b := newBench(t)
	b.run(firstPrompt)
	shorten := func(f *fakeAgent) {
		for _, c := range f.homes {
			c.turns = []runtime.PastTurn{{Words: runtime.FingerprintOf("something else that was said here")}}
		}
	}
	shorten(b.agents["fake"])
	r := b.run(secondPrompt)
	if r.err != nil || len(r.warnings()) != 1 || !strings.Contains(r.warnings()[0], "None of the recorded turns") {
		t.Errorf("err %v, warnings %q", r.err, r.warnings())
	}
	shorten(b.agents["fake"])
	b.opts = func(o *runtime.Options) { o.RequireConfirmed = true }
	if r := b.run(secondPrompt); runtime.KindOf(r.err) != runtime.KindUnconfirmed {
		t.Errorf("with --require-confirmed: %v", r.err)
	}
}

// seen is an Observer that shows one build.
type seen struct{ build runtime.Build }

func (s seen) Begin(context.Context, runtime.AgentInfo) runtime.Observation { return s }
func (s seen) Build(context.Context, <-chan struct{}, string) runtime.Build { return s.build }
func (s seen) Warning(shown string, est *runtime.Build, now runtime.Build) string {
	if est != nil && est.Version != now.Version {
		return shown + " has changed from " + est.Version + " to " + now.Version
	}
	return ""
}

func TestAChangedVersionWarnsOncePerSessionAndDelivers(t *testing.T) {
	b := newBench(t)
	b.opts = func(o *runtime.Options) { o.Observer = seen{runtime.Build{Version: "1.0"}} }
	b.run(firstPrompt + `<Prompt session="t" text="Another conversation of some length."/>`)
	b.opts = func(o *runtime.Options) { o.Observer = seen{runtime.Build{Version: "2.0"}} }
	r := b.run(secondPrompt + secondPrompt + `<Prompt session="t" text="Still here after the upgrade?"/>`)
	if r.err != nil {
		t.Fatal(r.err)
	}
	if got := r.warnings(); len(got) != 2 || got[0] != "Fake has changed from 1.0 to 2.0" || got[1] != got[0] {
		t.Errorf("warnings %q", got)
	}
	if n := len(b.agents["fake"].prompts); n != 5 {
		t.Errorf("%d prompts delivered, want 5", n)
	}
}

func TestABusySessionIsRefusedAtOnce(t *testing.T) {
	b := newBench(t)
	b.run(firstPrompt)
	s, err := store.Open(context.Background(), store.Options{Dir: b.state})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	key := store.SessionKey{Agent: "fake", Session: "s", Root: b.dir}
	lock, err := s.TryLock(context.Background(), store.LockSession, key.LockName(), store.LockOwner{Command: "xmd run other.xmd"})
	if err != nil {
		t.Fatal(err)
	}
	r := b.run(secondPrompt)
	if runtime.KindOf(r.err) != runtime.KindBusy || !strings.Contains(r.err.Error(), "xmd run other.xmd") {
		t.Errorf("busy: %v", r.err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if r := b.run(secondPrompt); r.err != nil {
		t.Errorf("afterwards: %v", r.err)
	}
	// The provider conversation has a lock of its own, which another state folder cannot get around.
	native, err := s.TryLock(context.Background(), store.LockNative, store.NativeLockName("fake", "conv-1-1"), store.LockOwner{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = native.Close() }()
	if r := b.run(secondPrompt); runtime.KindOf(r.err) != runtime.KindBusy {
		t.Errorf("native id: %v", r.err)
	}
}

// An owner that died in a turn: others refuse, recover says what it finds, then the session goes on.
func TestRecovery(t *testing.T) {
	for _, c := range []struct {
		name  string
		there bool
		want  runtime.Fate
	}{{"there", true, runtime.FateUnfinished}, {"absent", false, runtime.FateAbsent}} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.run(firstPrompt)
			words := "These words were in flight when it died."
			f := b.agents["fake"]
			f.onPrompt = func(runtime.Turn) (runtime.TurnResult, error) { panic("killed here") }
			b.runKilled(`<Prompt session="s" text="` + words + `"/>`)
			f.onPrompt = nil
			if c.there {
				conv := f.homes["conv-1-1"]
				conv.turns = append(conv.turns, runtime.PastTurn{Words: runtime.FingerprintOf(words)})
			}
			sent := len(f.prompts)
			r := b.run(secondPrompt)
			if runtime.KindOf(r.err) != runtime.KindRecovery || len(f.prompts) != sent || !strings.Contains(r.err.Error(), "xmd sessions recover fake:s") {
				t.Fatalf("before recover: %v, %d prompts", r.err, len(f.prompts))
			}
			found := b.recover()
			if !found.Needed || found.Fate != c.want || len(f.prompts) != sent {
				t.Fatalf("recovered %+v", found)
			}
			if again := b.recover(); again.Needed {
				t.Error("a second recover found something")
			}
			if r := b.run(secondPrompt); r.err != nil {
				t.Errorf("after recover: %v", r.err)
			}
		})
	}
}

// runKilled runs text whose prompt panics: nothing after the prompt was sent is recorded, and the locks go as they do with a process.
func (b *bench) runKilled(text string) {
	b.t.Helper()
	defer func() {
		if recover() == nil {
			b.t.Fatal("nothing was killed")
		}
		if err := b.runner.Close(context.Background()); err != nil {
			b.t.Fatal(err)
		}
	}()
	b.run(text)
}

func (b *bench) recover() runtime.Recovery {
	b.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: b.state, BootID: "boot"})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	runner := runtime.New(runtime.Options{Dir: b.dir, Stream: event.NewStream("", time.Now, nil), Store: s, Agents: b.agents}, nil)
	found, err := runner.Recover(context.Background(), b.agents["fake"], store.SessionKey{Agent: "fake", Session: "s", Root: b.dir}, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

func TestOpenedButNeverAccepted(t *testing.T) {
	b := newBench(t)
	f := b.agents["fake"]
	f.onPrompt = func(runtime.Turn) (runtime.TurnResult, error) {
		return runtime.TurnResult{}, runtime.Errorf(runtime.KindFailed, "refused before anything was accepted")
	}
	if r := b.run(firstPrompt); len(r.failures) == 0 {
		t.Fatal("the failed prompt did not fail the run")
	}
	f.onPrompt = nil
	clear(f.homes) // like the real agents: nothing on disk without a turn
	r := b.run(firstPrompt)
	if r.err != nil || len(f.homes) != 1 {
		t.Errorf("a new conversation may be made where no turn was ever accepted: %v", r.err)
	}
}

func TestTheSessionsRootIsFoundUpward(t *testing.T) {
	b := newBench(t)
	if out, err := exec.Command("git", "init", "-q", b.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.run(firstPrompt)
	sub := filepath.Join(b.dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	b.opts = func(o *runtime.Options) { o.Dir = sub }
	r := b.run(secondPrompt)
	if r.err != nil || len(b.agents["fake"].homes) != 1 {
		t.Fatalf("err %v, %d conversations", r.err, len(b.agents["fake"].homes))
	}
	if w := r.warnings(); len(w) != 1 || !strings.Contains(w[0], b.dir) {
		t.Errorf("warnings %q", w)
	}
}

func TestAProcessThatDiesBetweenPromptsIsAttachedAgain(t *testing.T) {
	b := newBench(t)
	f := b.agents["fake"]
	f.onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		if strings.Contains(turn.Words, "die") {
			return runtime.TurnResult{}, &runtime.Error{Kind: runtime.KindFailed, Message: "the process ended", Err: errors.New("EOF")}
		}
		return runtime.TurnResult{}, nil
	}
	r := b.run(firstPrompt + "\n<Prompt session=\"s\" text=\"now die please, in the middle\"/>\n" + secondPrompt)
	if r.err != nil || len(r.failures) != 1 {
		t.Fatalf("err %v, failures %v", r.err, r.failures)
	}
}

// What an agent calls its conversation stands in command lines, in names of files and in messages. An id that would be something else there
// is not taken, and no prompt is sent.
func TestIDsThatAreNone(t *testing.T) {
	for _, id := range []string{"--dangerously-skip-permissions", "-c", "a b", "a\nb", "a\x1b]0;owned\a", "*", "\xff", strings.Repeat("x", 1025)} {
		b := newBench(t)
		f := b.agents["fake"]
		f.onOpen = func(_ string, o *runtime.Opened) error { o.ID = id; return nil }
		if r := b.run(firstPrompt); runtime.KindOf(r.err) != runtime.KindFailed || len(f.prompts) != 0 || strings.ContainsAny(r.err.Error(), "\x1b\n") || !utf8.ValidString(r.err.Error()) {
			t.Errorf("%q: %d prompts were sent, %v", id, len(f.prompts), r.err)
		}
	}
	for _, id := range []string{"0198b3c2-7a7c-7d54-8f53-51d8b0c3c111", "ses_4f", "a:b/c", "日本"} {
		if err := runtime.CheckNativeID(id); err != nil {
			t.Error(err)
		}
	}
}
