package handoff

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/runtime"
)

// work is a log as real ones are: words, actions with results, words.
func work(turns int) []runtime.Entry {
	log := make([]runtime.Entry, turns)
	for i := range log {
		e := entry(i+1, "codex", "Please look at the parser again, it loses the last token of the key. "+fmt.Sprint(i), strings.Repeat("I looked at it & found that <it> is they who ask. ", 6))
		for j := range 5 {
			e.Parts = append(e.Parts, runtime.Part{Action: &runtime.Action{Name: "Bash", Subject: fmt.Sprint("go test ./pkg/", j), Outcome: "done", Result: strings.Repeat("ok  xmd/lang 0.1s\n", 8), Files: []string{"a.go"}}})
		}
		log[i] = e
	}
	return log
}

// fastest is the least processor time of several runs, which says most of what the code costs on a busy machine. No test of this package runs beside
// another.
func fastest(do func()) time.Duration {
	used := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			panic(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	best := time.Hour
	for range 7 {
		start := used()
		do()
		best = min(best, used()-start)
	}
	return best
}

// TestSpeed: the block of a log of 10,000 turns is within its bound and made in time, and costs what one of 200 turns costs.
func TestSpeed(t *testing.T) {
	long, short := work(10_000), work(200)
	block(t, runtime.Handover{Hide: hider(t, nil, "correct-horse-battery")}, long...)
	timed := func(log []runtime.Entry) time.Duration {
		return fastest(func() {
			Writer{}.Block(runtime.Handover{Entries: runtime.Newest(log), Count: len(log), First: &log[0], Hide: hider(t, nil, "correct-horse-battery")})
		})
	}
	bound := 50 * time.Millisecond
	if raceEnabled {
		bound *= 10
	}
	few, many := timed(short), timed(long)
	if many > bound {
		t.Errorf("the block of 10,000 turns takes %v", many)
	}
	if many > 3*few+time.Millisecond {
		t.Errorf("10,000 turns take %v, 200 take %v", many, few)
	}
}

// TestMemory: what a block costs does not grow with the log.
func TestMemory(t *testing.T) {
	allocated := func(turns int) uint64 {
		log := work(turns)
		least := ^uint64(0)
		for range 5 {
			var before, after goruntime.MemStats
			goruntime.ReadMemStats(&before)
			Writer{}.Block(runtime.Handover{Entries: runtime.Newest(log), Count: len(log), First: &log[0]})
			goruntime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	if few, many := allocated(200), allocated(5000); many > 2*few {
		t.Errorf("5,000 turns take %d bytes, 200 take %d", many, few)
	}
}

func BenchmarkBlock(b *testing.B) {
	log := work(10_000)
	h := hider(b, nil, "correct-horse-battery")
	b.ReportAllocs()
	for b.Loop() {
		Writer{}.Block(runtime.Handover{Entries: runtime.Newest(log), Count: len(log), First: &log[0], Hide: h})
	}
}

// BenchmarkLongMessage: one answer of 8 MB.
func BenchmarkLongMessage(b *testing.B) {
	log := []runtime.Entry{entry(1, "codex", "q", strings.Repeat("They asked about the key. <é> ", 8<<20/32))}
	b.SetBytes(int64(len(log[0].Parts[0].Text)))
	for b.Loop() {
		Writer{}.Block(runtime.Handover{Entries: runtime.Newest(log)})
	}
}
