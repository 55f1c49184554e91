package runtime_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

// BenchmarkReplay tells a run of a thousand prompts again, from a store that is open: ns/prompt is what one of them takes.
func BenchmarkReplay(b *testing.B) {
	const rounds = 1000
	made := newBench(b)
	text := fmt.Sprintf("<Loop max={%d}>\n<Prompt session=\"s\">again</Prompt>\n</Loop>\n", rounds)
	if r := made.run(text); r.err != nil {
		b.Fatal(r.err)
	}
	plan := compileText(b, text)
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Dir: made.state, BootID: "boot", Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	b.ReportAllocs()
	for b.Loop() {
		past, err := journal.Open(ctx, s, "run1", nil)
		if err != nil {
			b.Fatal(err)
		}
		digest := event.NewDigestSink()
		runner := runtime.New(runtime.Options{
			RunID: "run1", Dir: made.dir, Store: s, Past: past, Offline: true, DefaultAgent: "fake", Policy: runtime.PolicyApproveReads,
			Stream: event.NewStream("run1", time.Now, nil, digest),
		}, nil)
		if err := runner.Execute(ctx, plan); err != nil {
			b.Fatal(err)
		}
		if err := runner.Close(ctx); err != nil {
			b.Fatal(err)
		}
		if digest.Sum().Bytes < rounds {
			b.Fatalf("%d bytes were told", digest.Sum().Bytes)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/rounds, "ns/prompt")
}
