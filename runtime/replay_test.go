package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

// again opens the last run of the bench another time: told offline, or gone on with, without the records of undo.
func (b *bench) again(ctx context.Context, text string, end *event.End, undo []runtime.Undo, how func(o *runtime.Options)) *result {
	b.t.Helper()
	running := ctx
	ctx = context.Background()
	s, err := store.Open(ctx, store.Options{Dir: b.state, BootID: "boot", Now: time.Now})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	id := fmt.Sprintf("run%d", b.runs)
	lock, err := s.TryLock(ctx, store.LockRun, id, store.LockOwner{Run: id})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	j := journal.New(s, id, nil)
	defer func() { _ = j.Close() }()
	if end != nil {
		if err := event.NewStream(id, time.Now, j).Commit(ctx, event.RunEnded, event.At{}, end, nil); err != nil {
			b.t.Fatal(err)
		}
	}
	past, err := journal.Open(ctx, s, id, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r := &result{}
	o := runtime.Options{
		RunID: id, Dir: b.dir, Store: s, Agents: b.agents, Programs: fakePrograms{}, Policy: runtime.PolicyApproveReads,
		DefaultAgent: "fake", Props: b.props, Past: past,
	}
	how(&o)
	var keep event.Recorder
	if !o.Offline {
		keep = j
	}
	o.Stream = event.NewStream(id, time.Now, keep, r)
	b.runner = runtime.New(o, lock)
	for _, u := range undo {
		kind := event.StepDiscarded
		if u.Turn {
			kind = event.PromptDiscarded
		}
		if err := o.Stream.Record(ctx, kind, event.At{Step: u.Step}, &event.Discarded{Reason: "resume"}, nil); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := past.Refresh(ctx); err != nil {
		b.t.Fatal(err)
	}
	r.err = b.runner.Execute(running, compileText(b.t, text))
	r.failures = b.runner.Failures()
	if err := b.runner.Close(ctx); err != nil {
		b.t.Fatal(err)
	}
	return r
}

// writer makes random documents.
type writer struct {
	*rand.Rand
	names int
	fails bool // prompts and programs may fail
}

func (w *writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w *writer) body(depth int) string {
	var b strings.Builder
	for range 1 + w.IntN(3) {
		b.WriteString(w.element(depth))
	}
	return b.String()
}

func (w *writer) element(depth int) string {
	w.names++
	name := fmt.Sprintf("n%d", w.names)
	words := fmt.Sprintf("words %d", w.names)
	if w.fails && w.IntN(5) == 0 {
		words += " FAIL"
	}
	kind := w.IntN(12)
	if depth == 0 {
		kind = w.IntN(5)
	}
	switch kind {
	case 0:
		return fmt.Sprintf("text %d\n", w.names)
	case 1:
		return fmt.Sprintf("<Prompt%s>%s</Prompt>\n", w.one("", ` session="a"`, ` session="b"`), words)
	case 2:
		return fmt.Sprintf("<Prompt as=\"%s\">%s</Prompt>\nbound {%s}\n", name, words, name)
	case 3:
		if w.fails && w.IntN(4) == 0 {
			return "```bash exec\nexit 3\n```\n"
		}
		return fmt.Sprintf("```bash exec\nprogram %d\n```\n", w.names)
	case 4:
		return fmt.Sprintf("<File path=\"%s.txt\">%s</File>\n", name, words)
	case 5:
		return fmt.Sprintf("<Let as=\"%s\">\n%s</Let>\nlet {%s}\n", name, w.body(depth-1), name)
	case 6:
		return fmt.Sprintf("<If condition={%d > 1}>\n%s<Else>\n%s</Else></If>\n", w.IntN(4), w.body(depth-1), w.body(depth-1))
	case 7:
		return fmt.Sprintf("<Each in={[1,2,3]} let=\"%s\"%s>\nitem {%s}\n%s</Each>\n", name, w.one("", " parallel={2}", " parallel={3}"), name, w.body(depth-1))
	case 8:
		return fmt.Sprintf("<Loop max={3}>\nround {loop.index}\n%s<If condition={loop.index == %d}><Break/></If>\n</Loop>\n", w.body(depth-1), 1+w.IntN(4))
	case 9:
		return fmt.Sprintf("<Try>\n%s<Catch as=\"%s\">\ncaught {%s.kind}\n%s</Catch></Try>\n", w.body(depth-1), name, name, w.body(depth-1))
	case 10:
		return fmt.Sprintf("<Tool name=\"%s\">\n%s</Tool>\n<Prompt>%s CALL %s</Prompt>\n", name, w.body(depth-1), words, name)
	}
	return fmt.Sprintf("<Parallel>\n%s%s</Parallel>\n", w.branch(depth), w.branch(depth))
}

// branch is one element that acts: prose is none.
func (w *writer) branch(depth int) string {
	for {
		if e := w.element(depth - 1); strings.HasPrefix(e, "<") && strings.Count(e, "\n<") == 0 && !strings.Contains(e, "\nbound") && !strings.Contains(e, "\nlet") {
			return e
		}
	}
}

// moody answers after a moment of its own choice, in pieces, calls the tool that the words name, and fails where they say so.
func moody(f *fakeAgent, door *fakeDoor, seed uint64) func(ctx context.Context, conversation string, t runtime.Turn) (runtime.TurnResult, error) {
	var n atomic.Uint64
	return func(ctx context.Context, id string, t runtime.Turn) (runtime.TurnResult, error) {
		r := rand.New(rand.NewPCG(seed, n.Add(1)))
		for _, piece := range []string{"«", t.Words, "»"} {
			select {
			case <-time.After(time.Duration(r.IntN(900)) * time.Microsecond):
			case <-ctx.Done():
				return runtime.TurnResult{Stop: "cancelled"}, nil
			}
			if piece == "«" {
				f.mu.Lock()
				f.homes[id].turns = append(f.homes[id].turns, runtime.PastTurn{Words: runtime.FingerprintOf(t.Words)})
				f.mu.Unlock()
			}
			t.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: piece})
			if _, tool, calls := strings.Cut(t.Words, " CALL "); calls && piece == t.Words {
				t.Sink(runtime.Update{Kind: runtime.UpdateMessage, Text: " gives " + answer(door.find(ctx, tool))})
			}
			if strings.Contains(t.Words, "FAIL") && r.IntN(2) == 0 {
				return runtime.TurnResult{Stop: "end_turn", Failure: "it failed"}, nil
			}
		}
		if strings.Contains(t.Words, "FAIL") {
			return runtime.TurnResult{Stop: "end_turn", Failure: "it failed"}, nil
		}
		return runtime.TurnResult{Stop: "end_turn"}, nil
	}
}

// A run of any shape, failed or cancelled wherever it was, is told again byte for byte, and nothing is done for it.
func TestReplayIsExact(t *testing.T) {
	for seed := range seeds(40) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 1)), fails: seed%3 != 0}
		text := w.body(3) + w.body(3)
		b, door := toolBench(t)
		b.agents["fake"].onTurn = moody(b.agents["fake"], door, seed)
		ctx, cancel := context.WithCancelCause(context.Background())
		if seed%2 == 0 {
			timer := time.AfterFunc(time.Duration(w.IntN(30000))*time.Microsecond, func() { cancel(context.Canceled) })
			defer timer.Stop()
		}
		was := b.runContext(ctx, text)
		cancel(nil)
		sent, starts := len(b.agents["fake"].prompts), b.agents["fake"].starts
		told := b.again(context.Background(), text, &event.End{Stopped: b.runner.StoppedAt()}, nil, func(o *runtime.Options) {
			o.Offline, o.Replay, o.Agents, o.Programs = true, true, fakeAgents{}, nil
		})
		if told.out != was.out {
			t.Fatalf("seed %d\n%s\nwas  %q\ntold %q\n%v\n%v", seed, text, was.out, told.out, was.err, told.err)
		}
		if len(b.agents["fake"].prompts) != sent || b.agents["fake"].starts != starts {
			t.Fatalf("seed %d: a replay did something", seed)
		}
		if was.err != nil && !errors.Is(was.err, context.Canceled) && (told.err == nil || told.err.Error() != was.err.Error()) {
			t.Fatalf("seed %d: it ended with %v, told %v", seed, was.err, told.err)
		}
	}
}

// A run that was cancelled anywhere goes on to the same document, and what had a result is not sent again.
func TestResumeGoesOn(t *testing.T) {
	for seed := range seeds(12) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 2))}
		text := w.body(3) + w.body(3)
		ref, door := toolBench(t)
		ref.agents["fake"].onTurn = moody(ref.agents["fake"], door, seed)
		whole := ref.run(text)
		if whole.err != nil {
			t.Fatalf("seed %d: %v", seed, whole.err)
		}
		b, door := toolBench(t)
		b.agents["fake"].onTurn = moody(b.agents["fake"], door, seed)
		done := map[string]int{} // words that came to an end, however often
		got := &result{}
		for round := 0; ; round++ {
			ctx, cancel := context.WithCancelCause(context.Background())
			timer := time.AfterFunc(time.Duration(w.IntN(20000+2000*round))*time.Microsecond, func() { cancel(context.Canceled) })
			if round == 0 {
				got = b.runContext(ctx, text)
			} else {
				got = b.resume(ctx, text)
			}
			timer.Stop()
			cancel(nil)
			for _, e := range got.events {
				if end, ok := e.Body.(*event.Ended); ok && end.Outcome == "done" && !e.Replayed {
					done[e.At.Step]++
				}
			}
			if got.err == nil {
				break
			}
			if !errors.Is(got.err, context.Canceled) || round > 400 {
				t.Fatalf("seed %d, round %d: %v\n%s", seed, round, got.err, text)
			}
		}
		if got.out != whole.out {
			t.Fatalf("seed %d\n%s\nwant %q\ngot  %q", seed, text, whole.out, got.out)
		}
		for step, n := range done {
			if n > 1 {
				t.Fatalf("seed %d: %s has %d results\n%s", seed, step, n, text)
			}
		}
	}
}

// resume rehearses, takes back what ended the run and goes on, as the command does.
func (b *bench) resume(ctx context.Context, text string) *result {
	b.t.Helper()
	b.again(ctx, text, nil, nil, func(o *runtime.Options) { o.Offline, o.Agents, o.Programs = true, fakeAgents{}, nil })
	undo := b.runner.Undo()
	return b.again(ctx, text, nil, undo, func(o *runtime.Options) {
		if b.opts != nil {
			b.opts(o)
		}
	})
}

// seeds is how many random documents a test goes through: XMD_TEST_SEEDS times as many as it does by itself.
func seeds(n uint64) uint64 {
	if more, err := strconv.ParseUint(os.Getenv("XMD_TEST_SEEDS"), 10, 32); err == nil && more > 0 {
		return n * more
	}
	return n
}
