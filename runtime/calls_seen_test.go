package runtime_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/secret"
)

// TestUnheard: it is said once when an agent never asked for the tools that it was offered.
func TestUnheard(t *testing.T) {
	b, door := toolBench(t)
	r := b.run(`<Tool name="t">x</Tool><Prompt text="1"/><Prompt text="2"/>`)
	want := "Fake was offered the tools of the workflow (t) and never asked for them: its answer came without."
	if got := r.warnings(); !slices.Equal(got, []string{want}) {
		t.Errorf("%q", got)
	}
	tells(b.agents["fake"], func(context.Context, string, runtime.Turn) string { door.last().list(); return "" })
	if r := b.run(`<Tool name="t">x</Tool><Prompt text="1"/>`); len(r.warnings()) != 0 {
		t.Errorf("%q", r.warnings())
	}
}

// TestKeyIsHidden: the key of an attachment is in nothing that is shown.
func TestKeyIsHidden(t *testing.T) {
	b, door := toolBench(t)
	set := &secret.Set{}
	b.opts = func(o *runtime.Options) { o.Door, o.Secrets = door, set; o.Stream.Hide(set) }
	tells(b.agents["fake"], func(context.Context, string, runtime.Turn) string { return "my key is " + door.last().key })
	if r := b.run(`<Tool name="t">x</Tool><Prompt text="1"/>`); r.err != nil || r.out != "my key is ***" {
		t.Errorf("%v %q", r.err, r.out)
	}
}

// TestStoreFailsInCall: what cannot be recorded does not happen, and ends the turn.
func TestStoreFailsInCall(t *testing.T) {
	b, door := toolBench(t)
	tells(b.agents["fake"], func(ctx context.Context, _ string, _ runtime.Turn) string {
		return answer(door.last().call(ctx, "t", `{}`))
	})
	opts := b.opts
	b.opts = func(o *runtime.Options) {
		opts(o)
		o.Stream = event.NewStream(o.RunID, time.Now, failingOn{"tool"})
	}
	r := b.run(`<Tool name="t">x</Tool><Prompt text="1"/>`)
	if runtime.KindOf(r.err) != runtime.KindStore {
		t.Errorf("%v", r.err)
	}
}

// failingOn is a recorder that cannot keep the start of steps of a kind.
type failingOn struct{ kind string }

func (failingOn) Batch(*event.Event) {}

func (failingOn) Soon(*event.Event, any) {}

func (f failingOn) Commit(_ context.Context, e *event.Event, _ any) error {
	if s, ok := e.Body.(*event.Step); ok && s.Kind == f.kind && e.Type == event.StepStarted {
		return errors.New("no space left")
	}
	return nil
}
