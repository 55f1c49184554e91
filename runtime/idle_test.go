package runtime_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime"
)

// An agent that shows nothing for too long is cancelled, however long it goes on showing something; while it waits for xmd the clock stands
// still. What it said until then stays.
func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.opts = func(o *runtime.Options) {
			o.Idle, o.Policy = time.Minute, runtime.PolicyAsk
			o.Ask = func(context.Context, string, string, runtime.PermissionRequest) (bool, string) {
				time.Sleep(time.Hour) // the person thinks
				return true, ""
			}
		}
		b.agents["fake"].onTurn = func(ctx context.Context, _ string, turn runtime.Turn) (runtime.TurnResult, error) {
			for range 5 {
				time.Sleep(50 * time.Second)
				turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: "."})
			}
			if !turn.Ask(ctx, runtime.PermissionRequest{Kind: "execute", Title: "x"}) {
				return runtime.TurnResult{Stop: "end_turn", Failure: "it was not allowed"}, nil
			}
			if strings.Contains(turn.Words, "hang") {
				<-ctx.Done()
				return runtime.TurnResult{Stop: "cancelled"}, nil
			}
			return runtime.TurnResult{Stop: "end_turn"}, nil
		}
		if r := b.run(`<Prompt text="slow"/>`); r.err != nil || r.out != "....." {
			t.Errorf("%q, %v", r.out, r.err)
		}
		began := time.Now()
		r := b.run(`<Try><Prompt text="hang"/><Catch>caught</Catch></Try>`)
		if runtime.KindOf(r.err) != runtime.KindLimit || !strings.Contains(r.err.Error(), "has shown nothing for 1m0s") || r.out != "....." {
			t.Errorf("%q, %v", r.out, r.err)
		}
		if took := time.Since(began); took != 5*50*time.Second+time.Hour+time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}
