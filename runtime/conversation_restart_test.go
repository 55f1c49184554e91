package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"xmd/runtime"
	"xmd/runtime/store"
)

// A restart of one agent's part tells it everything anew; one of the whole Conversation hands nothing over from before (case 13).
func TestConversationRestart(t *testing.T) {
	b := talkBench(t, "a", "b")
	if r := b.run(review); r.err != nil {
		t.Fatal(r.err)
	}
	restart := func(whole bool) {
		t.Helper()
		s, err := store.Open(context.Background(), store.Options{Dir: b.state, BootID: "boot"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		key := store.ConversationKey{Session: store.Conversation("task"), Root: b.dir}
		lock, err := s.TryLock(context.Background(), store.LockSession, key.LockName(), store.LockOwner{})
		mine, merr := s.TryLock(context.Background(), store.LockSession, key.Of("a").LockName(), store.LockOwner{})
		if err = errors.Join(err, merr); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = lock.Close(), mine.Close() }()
		err = s.Do(context.Background(), func(tx *store.Tx) error {
			if whole {
				if _, err := tx.SetPoint(lock, key); err != nil {
					return err
				}
			}
			_, err := tx.Restart(mine, key.Of("a"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const doc = "<Conversation name=\"task\">\n<Prompt agent=\"a\">where are we now</Prompt>\n</Conversation>\n"
	restart(false)
	if r := b.run(doc); r.err != nil || r.handovers() != "a:joined(3)" {
		t.Fatalf("%v %q", r.err, r.handovers())
	}
	restart(true)
	if r := b.run(doc); r.err != nil || r.handovers() != "" || len(b.agents["a"].homes) != 3 {
		t.Fatalf("%v %q", r.err, r.handovers())
	}
	if r := b.run(doc); r.err != nil || r.handovers() != "" || len(b.agents["a"].homes) != 3 {
		t.Fatalf("%v %q", r.err, r.handovers())
	}
	// b's own conversation is older than the point, and goes on: only a was restarted here.
	if r := b.run("<Conversation name=\"task\">\n<Prompt agent=\"b\">and you</Prompt>\n</Conversation>\n"); r.err != nil || r.handovers() != "b:missed(2)" {
		t.Errorf("%v %q", r.err, r.handovers())
	}
}

// What a person was asked in it is handed over with the answer.
func TestConversationQuestions(t *testing.T) {
	b := talkBench(t, "a", "b")
	opts := b.opts
	b.opts = func(o *runtime.Options) {
		opts(o)
		o.Given = map[string]runtime.Answer{"ship": {Text: "yes, do"}}
	}
	r := b.run(`<Conversation name="task">
<Prompt agent="a">prepare the release</Prompt>
<Elicit as="ship">Ship it today?</Elicit>
<Prompt agent="a">the answer was {ship}</Prompt>
<Prompt agent="b">take it over from here</Prompt>
</Conversation>
`)
	if r.err != nil {
		t.Fatal(r.err)
	}
	text := b.sent("b")[0]
	if strings.Count(text, "| Ship it today?\n") != 1 || !strings.Contains(text, "| yes, do\n") {
		t.Errorf("b was sent %q", text)
	}
}

// A turn that ended by an error before it was seen to be accepted is in the log from when it is found in the agent's conversation, once.
func TestConversationSettlesLater(t *testing.T) {
	b := talkBench(t, "a", "b")
	f := b.agents["b"]
	f.onTurn = func(_ context.Context, conversation string, turn runtime.Turn) (runtime.TurnResult, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.homes[conversation].turns = append(f.homes[conversation].turns, runtime.PastTurn{Words: runtime.FingerprintOf(turn.Words)})
		return runtime.TurnResult{}, runtime.Errorf(runtime.KindFailed, "the line went down")
	}
	if r := b.run(review); len(r.failures) != 1 {
		t.Fatal(r.failures)
	}
	f.onTurn = nil
	for i, want := range []string{"b:missed(1)", ""} {
		r := b.run("<Conversation name=\"task\">\n<Prompt agent=\"b\">say how far you got</Prompt>\n</Conversation>\n")
		if r.err != nil || r.handovers() != want {
			t.Fatalf("run %d: %v %q", i, r.err, r.handovers())
		}
	}
	if text := b.sent("b")[1]; strings.Contains(text, "write the fix") || !strings.Contains(text, "review what was done") {
		t.Errorf("b was sent %q", text)
	}
	if r := b.run("<Conversation name=\"task\">\n<Prompt agent=\"a\">what did the other do</Prompt>\n</Conversation>\n"); r.err != nil || r.handovers() != "a:missed(3)" {
		t.Fatalf("%v %q", r.err, r.handovers())
	}
	if text := b.sent("a")[2]; strings.Count(text, "| write the fix for it\n") != 1 || !strings.Contains(text, "the line went down") {
		t.Errorf("a was sent %q", text)
	}
}
