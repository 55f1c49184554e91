package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

// records is the journal of the last run.
func (b *bench) records() (all []store.Record) {
	b.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: b.state})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for r, err := range s.Records(context.Background(), fmt.Sprintf("run%d", b.runs), 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// A captured reply of any size is the value, is told again from its pieces, and stands on record once.
func TestCapturedReply(t *testing.T) {
	for name, piece := range map[string]string{"short": "é\n", "about a MiB": strings.Repeat("é\n", 1000), "several MiB": strings.Repeat("é and more\n", 9000)} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
				for range 350 {
					turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: piece})
				}
				return runtime.TurnResult{Stop: "end_turn"}, nil
			}
			const doc = "<Prompt as=\"v\" text=\"go\"/>\n<Let as=\"n\" value={len(v)}/>{n} {v}\n"
			want := strings.Repeat(piece, 350)
			was := b.run(doc)
			if was.err != nil || !strings.HasSuffix(was.out, " "+want) {
				t.Fatalf("%v, %d bytes of %d", was.err, len(was.out), len(want))
			}
			total := 0
			for _, r := range b.records() {
				total += len(r.Data)
				var end struct{ Body event.Ended }
				if r.Kind != string(event.PromptEnded) {
					continue
				}
				if err := json.Unmarshal(r.Data, &end); err != nil || end.Body.Value != nil || len(end.Body.Reply) > 1<<20 || !strings.HasPrefix(want, end.Body.Reply) {
					t.Errorf("the end holds %d bytes, %v", len(r.Data), err)
				}
			}
			if limit := len(want)*3/2 + 3<<20; total > limit {
				t.Errorf("%d bytes on record for a reply of %d", total, len(want))
			}
			told := b.again(context.Background(), doc, &event.End{}, nil, func(o *runtime.Options) { o.Offline, o.Replay = true, true })
			if told.err != nil || told.out != was.out {
				t.Errorf("told again: %v, %d bytes of %d", told.err, len(told.out), len(was.out))
			}
		})
	}
}
