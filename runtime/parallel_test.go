package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime"
	"xmd/runtime/event"
)

// say answers with text in pieces, a pause before each.
func say(ctx context.Context, turn runtime.Turn, text string, pause func() time.Duration) (runtime.TurnResult, error) {
	for i := 0; i < len(text); i += 2 {
		select {
		case <-time.After(pause()):
		case <-ctx.Done():
			return runtime.TurnResult{Stop: "cancelled"}, nil
		}
		turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: text[i:min(i+2, len(text))]})
	}
	return runtime.TurnResult{Stop: "end_turn"}, nil
}

// Whatever the order in which things end, the output is that of the document.
func TestParallelIsInDocumentOrder(t *testing.T) {
	doc := "start\n<Parallel>\n<Prompt text=\"one\"/>\nbetween\n```bash exec\ntwo\n```\n<Prompt as=\"x\" text=\"three\"/>\n- <Prompt text=\"four\"/> and <Prompt text=\"five\"/>\n</Parallel>\n{x}\n" +
		"<Each in={[1,2,3,4,5,6,7,8,9]} let=\"i\" parallel={3}>\n{each.index} <Prompt>each {i}</Prompt>\n</Each>\n" +
		"<Each in={[3,2,1]} let=\"i\" parallel={3} as=\"xs\"><Prompt>as {i}</Prompt></Each>{xs}\n"
	want := "start\n«one»\nbetween\nEXEC:two\n- «four» and «five»\n«three»\n"
	for i := 1; i <= 9; i++ {
		want += fmt.Sprintf("%d «each %d»\n", i, i)
	}
	want += "[\n  \"«as 3»\",\n  \"«as 2»\",\n  \"«as 1»\"\n]\n"
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			var mu sync.Mutex
			rnd := rand.New(rand.NewPCG(seed, 1))
			pause := func() time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return time.Duration(rnd.IntN(1000)) * time.Millisecond
			}
			b.agents["fake"].onTurn = func(ctx context.Context, _ string, turn runtime.Turn) (runtime.TurnResult, error) {
				return say(ctx, turn, "«"+turn.Words+"»", pause)
			}
			r := b.flow(doc)
			if r.out != want || r.err != nil {
				t.Errorf("seed %d\n got %q\nwant %q (%v)", seed, r.out, want, r.err)
			}
		})
	}
}

// The first branch that has not ended is seen as it comes; the next one as soon as it is the first.
func TestTheFirstUnfinishedBranchStreams(t *testing.T) {
	b := newBench(t)
	var mu sync.Mutex
	seen, first := "", make(chan struct{})
	once := sync.OnceFunc(func() { close(first) })
	b.opts = func(o *runtime.Options) {
		o.Stream = event.NewStream(o.RunID, time.Now, nil, sinkFunc(func(e *event.Event) {
			if d, ok := e.Body.(*event.Delta); ok && e.Type == event.Text {
				mu.Lock()
				if seen += d.Text; seen == "one " {
					once()
				}
				mu.Unlock()
			}
		}))
	}
	shown := func() string {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
	second := make(chan struct{})
	b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		write := func(s string) {
			turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: s})
		}
		switch turn.Words {
		case "a":
			write("one ")
			<-first // before the branch has ended
			<-second
			if got := shown(); got != "one " {
				t.Errorf("while the first branch runs, %q is shown", got)
			}
			write("two")
		case "b":
			write("three ")
			close(second)
		}
		return runtime.TurnResult{Stop: "end_turn"}, nil
	}
	r := b.flow("<Parallel><Prompt text=\"a\"/>, <Prompt text=\"b\"/></Parallel>")
	if got := shown(); got != "one two, three " || r.err != nil {
		t.Errorf("shown %q, %v", got, r.err)
	}
}

type sinkFunc func(*event.Event)

func (f sinkFunc) Event(e *event.Event) { f(e) }

// Output that waits is kept in a file of its own, which nobody else can read and which is gone afterwards.
func TestOutputThatWaitsGoesToAFile(t *testing.T) {
	b := newBench(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	big := strings.Repeat("0123456789abcdef", 1<<18) // 4 MiB
	var second atomic.Bool
	release := make(chan struct{})
	b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		if turn.Words == "a" {
			<-release
			return runtime.TurnResult{}, nil
		}
		for i := 0; i < len(big); i += 64 << 10 {
			turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: big[i : i+64<<10]})
		}
		if second.Swap(true) {
			files, err := filepath.Glob(filepath.Join(tmp, "xmd-out-*", "*"))
			if err != nil || len(files) == 0 {
				t.Errorf("no file in %s (%v)", tmp, err)
			}
			for _, f := range files {
				if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v, %v", f, info, err)
				}
			}
			close(release)
		}
		return runtime.TurnResult{Stop: "end_turn"}, nil
	}
	r := b.flow("<Parallel>\n<Prompt text=\"a\"/>\n<Prompt text=\"b\"/>\n<Prompt text=\"c\"/>\n</Parallel>\n")
	if want := "«a»\n" + big + "\n" + big + "\n"; r.out != want || r.err != nil {
		t.Errorf("%d bytes, want %d (%v)", len(r.out), len(want), r.err)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// At most as many at once as the document says.
func TestParallelismIsBounded(t *testing.T) {
	for _, c := range []struct {
		doc  string
		most int64
	}{
		{"<Each in={%s} let=\"i\" parallel={5}><Prompt>{i}</Prompt></Each>", 5},
		{"<Each in={%s} let=\"i\" parallel={1}><Prompt>{i}</Prompt></Each>", 1},
		{"<Each in={%s} let=\"i\"><Prompt>{i}</Prompt></Each>", 1},
		{"<Parallel>" + strings.Repeat("<Prompt text=\"x\"/>", 64) + "</Parallel>", 8},
		{"<Parallel max={64}>" + strings.Repeat("<Prompt text=\"x\"/>", 64) + "</Parallel>", 64},
		{"<Parallel max={3}>" + strings.Repeat("<Prompt text=\"x\"/>", 9) + "</Parallel>", 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			var now, most, turns atomic.Int64
			b.agents["fake"].onPrompt = func(runtime.Turn) (runtime.TurnResult, error) {
				n := now.Add(1)
				turns.Add(1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				time.Sleep(time.Second)
				now.Add(-1)
				return runtime.TurnResult{Stop: "end_turn"}, nil
			}
			doc := c.doc
			if strings.Contains(doc, "%s") {
				doc = fmt.Sprintf(doc, "["+strings.TrimSuffix(strings.Repeat("1,", 20), ",")+"]")
			}
			r := b.flow(doc)
			if r.err != nil || most.Load() != c.most {
				t.Errorf("%s: %d at once, want %d (%v)", doc[:40], most.Load(), c.most, r.err)
			}
			if f := b.agents["fake"]; strings.Contains(doc, "arallel") && (int64(len(f.homes)) != turns.Load() || f.starts != int(turns.Load())) {
				t.Errorf("%d turns in %d conversations, %d starts", turns.Load(), len(f.homes), f.starts)
			}
		})
	}
	for _, bad := range []string{"<Parallel max={props.n}><Prompt text=\"x\"/></Parallel>", "<Each in={[1]} let=\"i\" parallel={props.n}>x</Each>"} {
		b := newBench(t)
		b.props = map[string]any{"n": int64(65)}
		if r := b.flow(given(bad, "n")); r.err == nil || !strings.Contains(r.err.Error(), "must be between 1 and 64") {
			t.Errorf("%s: %v", bad, r.err)
		}
	}
}

// A branch that is thrown out of ends the others: their turns are cancelled by protocol, their ends are waited for.
func TestAFailureCancelsTheOthers(t *testing.T) {
	b := newBench(t)
	others := make(chan struct{}, 2)
	var cancelled atomic.Int64
	b.agents["fake"].onTurn = func(ctx context.Context, _ string, turn runtime.Turn) (runtime.TurnResult, error) {
		turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: "<" + turn.Words + ">"})
		if strings.Contains(turn.Words, "bad") {
			<-others
			<-others
			return runtime.TurnResult{Stop: "refusal"}, nil
		}
		others <- struct{}{}
		<-ctx.Done()
		cancelled.Add(1)
		return runtime.TurnResult{Stop: "cancelled"}, nil
	}
	r := b.flow("<Parallel>\n<Prompt text=\"a\"/>\n<Prompt throwOnError text=\"bad\"/>\n<Prompt text=\"c\"/>\n</Parallel>\nafter\n")
	if got := messages(r.failures); cancelled.Load() != 2 || r.out != "<a>\n<bad>" || got != `test.xmd:3:1: Fake ended the turn with "refusal" instead of a normal end` {
		t.Errorf("%d cancelled, out %q, failures %q", cancelled.Load(), r.out, got)
	}
	ended := map[string]string{}
	for _, e := range r.events {
		if body, ok := e.Body.(*event.Ended); ok {
			ended[e.At.Step] = body.Outcome
		}
	}
	for step, want := range map[string]string{"Parallel1/branch1/Prompt1": "cancelled", "Parallel1/branch2/Prompt1": "failed", "Parallel1/branch3/Prompt1": "cancelled"} {
		if ended[step] != want {
			t.Errorf("%s ended %q, want %q", step, ended[step], want)
		}
	}
}

// What has not begun when a branch fails does not begin, and children are ended.
func TestAFailureKeepsTheRestFromBeginning(t *testing.T) {
	b := newBench(t)
	var ran atomic.Int64
	b.opts = func(o *runtime.Options) {
		o.Programs = programFunc(func(ctx context.Context, p runtime.Program) (runtime.ProgramExit, error) {
			script, err := os.ReadFile(p.Argv[len(p.Argv)-1])
			if err != nil {
				return runtime.ProgramExit{}, err
			}
			ran.Add(1)
			if string(script) == "fail\n" {
				return runtime.ProgramExit{Code: 1}, nil
			}
			<-ctx.Done()
			return runtime.ProgramExit{Code: 143}, context.Cause(ctx)
		})
	}
	exec := func(s string) string { return "```bash exec\n" + s + "\n```\n" }
	r := b.flow("<Parallel max={2}>\n" + exec("wait") + exec("fail") + exec("never") + exec("never") + "</Parallel>\n")
	if ran.Load() != 2 || len(r.failures) != 1 || !strings.Contains(r.failures[0].Message, "fail") {
		t.Errorf("%d ran, failures %q", ran.Load(), messages(r.failures))
	}
	if r := b.flow("<Try>\n<Parallel>\n" + exec("wait") + exec("fail") + "</Parallel>\n<Catch as=\"e\">\n{e.message}\n</Catch>\n</Try>\nend\n"); r.err != nil || len(r.failures) != 0 || !strings.HasSuffix(r.out, "ended with code 1\nend\n") {
		t.Errorf("caught: out %q, failures %q", r.out, messages(r.failures))
	}
}

type programFunc func(context.Context, runtime.Program) (runtime.ProgramExit, error)

func (f programFunc) Run(ctx context.Context, p runtime.Program) (runtime.ProgramExit, error) {
	return f(ctx, p)
}

// Failures are told in the order of the document, not in that in which they happened, each once.
func TestFailuresAreInDocumentOrder(t *testing.T) {
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			var mu sync.Mutex
			rnd := rand.New(rand.NewPCG(seed, 2))
			b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
				mu.Lock()
				pause := time.Duration(rnd.IntN(1000)) * time.Millisecond
				mu.Unlock()
				time.Sleep(pause)
				return failing(turn)
			}
			r := b.flow("<Prompt text=\"bad 0\"/><Parallel><Prompt text=\"bad 1\"/><Each in={[2,3,4]} let=\"i\" parallel={3}><Prompt>bad {i}</Prompt></Each><Prompt text=\"ok\"/><Prompt text=\"bad 5\"/></Parallel><Prompt text=\"bad 6\"/>")
			var got []string
			for _, f := range r.failures {
				got = append(got, f.Message[len(f.Message)-1:])
			}
			if r.err != nil || strings.Join(got, "") != "0123456" || r.out != "partialpartialpartialpartialpartial«ok»partialpartial" {
				t.Errorf("seed %d: %v, out %q, %v", seed, got, r.out, r.err)
			}
			if runtime.ExitCode(r.failures) != 1 {
				t.Error("exit code")
			}
		})
	}
}

// Of two that fail at once both are told, if none was cancelled before, in document order; a Catch handles what there is.
func TestTwoBranchesFail(t *testing.T) {
	b := newBench(t)
	var both sync.WaitGroup
	b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		both.Done()
		both.Wait()
		return runtime.TurnResult{}, runtime.Errorf(runtime.KindFailed, "down on %s", turn.Words)
	}
	doc := "<Parallel>\n<Let as=\"a\"><Prompt text=\"first\"/></Let>\n<Let as=\"b\"><Prompt text=\"second\"/></Let>\n</Parallel>\n"
	for range 10 {
		both.Add(2)
		r := b.flow(doc)
		switch got := messages(r.failures); {
		case r.err == nil || r.err.Error() != r.failures[0].Error():
			t.Errorf("failures %q, thrown %v", got, r.err)
		case got != "test.xmd:2:13: down on first" && got != "test.xmd:3:13: down on second" && got != "test.xmd:2:13: down on first|test.xmd:3:13: down on second":
			t.Errorf("failures %q", got)
		}
	}
	both.Add(2)
	if r := b.flow("<Try>" + doc + "<Catch as=\"e\">{e.message}</Catch></Try>"); r.err != nil || len(r.failures) != 0 || !strings.Contains(r.out, "down on ") {
		t.Errorf("caught: %q, %v, %q", r.out, r.err, messages(r.failures))
	}
}

// An error in the driver of a branch is met where the run is, not in a goroutine of its own.
func TestAPanicInABranch(t *testing.T) {
	b := newBench(t)
	b.agents["fake"].onPrompt = func(runtime.Turn) (runtime.TurnResult, error) { panic("killed here") }
	b.runKilled(`<Prompt text="a"/>`)
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "killed here") {
			t.Errorf("recovered %v", p)
		}
		_ = b.runner.Close(context.Background())
	}()
	b.flow("<Parallel><Prompt text=\"a\"/><Prompt text=\"b\"/></Parallel>")
}

// Waiting for a person lets the other branches finish, and counts only if nothing failed.
func TestExitCodes(t *testing.T) {
	waiting, failed, busy := &runtime.Error{Kind: runtime.KindWaiting}, &runtime.Error{Kind: runtime.KindFailed}, &runtime.Error{Kind: runtime.KindBusy}
	for _, c := range []struct {
		list []*runtime.Error
		want int
	}{{nil, 0}, {[]*runtime.Error{waiting}, 3}, {[]*runtime.Error{waiting, failed}, 1}, {[]*runtime.Error{busy, failed}, 5}} {
		if got := runtime.ExitCode(c.list); got != c.want {
			t.Errorf("%v: %d, want %d", c.list, got, c.want)
		}
	}
}

// A child's stderr keeps its place beside the output.
func TestStderrOfBranchesIsInOrder(t *testing.T) {
	b := newBench(t)
	second := make(chan struct{})
	b.opts = func(o *runtime.Options) {
		o.Programs = programFunc(func(_ context.Context, p runtime.Program) (runtime.ProgramExit, error) {
			script, err := os.ReadFile(p.Argv[len(p.Argv)-1])
			if err != nil {
				return runtime.ProgramExit{}, err
			}
			if string(script) == "a\n" {
				<-second
			}
			p.Stderr([]byte("err " + string(script)))
			p.Stdout([]byte("out " + string(script)))
			if string(script) == "b\n" {
				close(second)
			}
			return runtime.ProgramExit{}, nil
		})
	}
	r := b.flow("<Parallel>\n```bash exec\na\n```\n```bash exec\nb\n```\n</Parallel>\n")
	var got []string
	for _, e := range r.events {
		if d, ok := e.Body.(*event.Delta); ok && e.Type == event.ExecOutput && d.Stream == "stderr" {
			got = append(got, e.At.Step+": "+d.Text)
		}
	}
	want := []string{"Parallel1/branch1/exec1: err a\n", "Parallel1/branch2/exec1: err b\n"}
	if !slices.Equal(got, want) || r.out != "out a\nout b\n" || r.err != nil {
		t.Errorf("stderr %q, out %q, %v", got, r.out, errors.Unwrap(r.err))
	}
}
