package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
	"xmd/runtime/store/storetest"
)

// everything is a document whose run has records of every kind that a replay asks for.
const everything = `<Prompt as="a">one</Prompt>
{a}
<Session name="s"><Prompt>two</Prompt></Session>
` + "```bash exec as=\"out\"\nthree\n```\n```bash exec as=\"bad\"\nexit 3\n```\n" + `
{out} {bad.exitCode}
<Loop max={3}>
round {loop.index}
<Prompt as="again">four</Prompt>
<If condition={loop.index == 2}><Break/></If>
</Loop>
<Each in={[1, 2]} let="n" parallel={2}>
<Prompt>five {n}</Prompt>
</Each>
<Try><Prompt>FAIL</Prompt><Catch as="e">caught {e.kind}</Catch></Try>
<File path="f.txt">six</File>
<Glob include="*.txt" as="files"/>
{files}
<TempDir as="dir"><Let as="d">seven</Let></TempDir>
<Elicit as="answer" default="eight">Which?</Elicit>
{answer}
`

// spoilt is a run that has ended, and the store that it is copied in with one record spoilt.
type spoilt struct {
	b       *bench
	s       *store.Store
	raw     *storetest.Raw
	plan    *plan.Plan
	records []store.Record
	out     string
	copies  int
}

func newSpoilt(f *testing.F) *spoilt {
	f.Helper()
	b := newBench(f)
	b.agents["fake"].onPrompt = func(t runtime.Turn) (runtime.TurnResult, error) {
		if t.Words == "FAIL" {
			return runtime.TurnResult{Stop: "end_turn", Failure: "it failed"}, nil
		}
		return runtime.TurnResult{}, nil
	}
	was := b.run(everything)
	if was.err != nil {
		f.Fatal(was.err)
	}
	s, err := store.Open(context.Background(), store.Options{Dir: b.state, BootID: "boot", Now: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	raw, err := storetest.Open(b.state)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _, _ = raw.Close(), s.Close() })
	sp := &spoilt{b: b, s: s, raw: raw, plan: compileText(f, everything), out: was.out}
	for rec, err := range s.Records(context.Background(), "run1", 0) {
		if err != nil {
			f.Fatal(err)
		}
		sp.records = append(sp.records, rec)
	}
	return sp
}

// put writes a copy of the run in which record n has another type, step and data, as something else than the store would have it.
func (sp *spoilt) put(t *testing.T, n int, kind, step, data string) (id string) {
	t.Helper()
	sp.copies++
	id = fmt.Sprint("copy", sp.copies)
	records := slices.Clone(sp.records)
	records[n].Kind, records[n].Step, records[n].Data = kind, step, []byte(data)
	if err := sp.raw.Run(id, sp.b.dir, records); err != nil {
		t.Fatal(err)
	}
	return id
}

// tell replays a run.
func (sp *spoilt) tell(ctx context.Context, t *testing.T, id string) (*result, error) {
	t.Helper()
	past, err := journal.Open(ctx, sp.s, id, nil)
	if err != nil {
		return nil, err
	}
	r := &result{}
	runner := runtime.New(runtime.Options{
		RunID: id, Dir: sp.b.dir, Store: sp.s, Agents: fakeAgents{}, DefaultAgent: "fake", Past: past, Offline: true, Replay: true,
		Stream: event.NewStream(id, time.Now, nil, r),
	}, nil)
	r.err = runner.Execute(ctx, sp.plan)
	return r, errors.Join(r.err, runner.Close(ctx))
}

// FuzzReplay: a run one of whose records says anything else is told as far as it can be, or refused with an error that has a kind; it does
// nothing for it, and ends.
func FuzzReplay(f *testing.F) {
	sp := newSpoilt(f)
	if r, err := sp.tell(context.Background(), &testing.T{}, "run1"); err != nil || r.out != sp.out {
		f.Fatalf("the run itself is told as %q, %v", r.out, err)
	}
	for i, rec := range sp.records {
		if i%5 == 0 {
			f.Add(uint16(i), rec.Kind, rec.Step, string(rec.Data))
		}
		switch rec.Kind {
		case "step.ended", "prompt.ended", "prompt.sent", "exec.output", "answer":
			for _, data := range []string{"", "null", "7", `{"body":7}`, `{"body":{"value":{"a":[]}}}`, `{"body":{"outcome":"failed"}}`, `{"body":{"value":1e999}}`, `{"at":7}`, "\x1a"} {
				f.Add(uint16(i), rec.Kind, rec.Step, data)
			}
			f.Add(uint16(i), rec.Kind, rec.Step+"#2", string(rec.Data))
			f.Add(uint16(i), "step.discarded", rec.Step, "{}")
			f.Add(uint16(i), rec.Kind, rec.Step, strings.ReplaceAll(string(rec.Data), "done", "failed"))
		}
	}
	f.Fuzz(func(t *testing.T, n uint16, kind, step, data string) {
		if len(kind)+len(step)+len(data) > 8<<10 {
			return
		}
		ctx, cancel := context.WithTimeoutCause(context.Background(), 10*time.Second, errors.New("it does not end"))
		defer cancel()
		id := sp.put(t, int(n)%len(sp.records), kind, step, data)
		prompts := len(sp.b.agents["fake"].prompts)
		_, err := sp.tell(ctx, t, id)
		var known *runtime.Error
		switch {
		case ctx.Err() != nil:
			t.Fatal("the replay did not end in 10 s")
		case err != nil && !errors.As(err, &known):
			t.Fatalf("%v has no kind", err)
		case known != nil && known.Kind == runtime.KindInternal:
			t.Fatal(err)
		case len(sp.b.agents["fake"].prompts) != prompts:
			t.Fatal("a replay sent a prompt")
		}
	})
}
