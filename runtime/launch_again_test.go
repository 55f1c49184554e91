package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

// A run that is told again opens no window, whatever came of it.
func TestLaunchIsNotReplayed(t *testing.T) {
	for _, code := range []int{0, 3} {
		b := newBench(t)
		w := newWindows(b)
		w.use = func(id string) (runtime.ProgramExit, error) {
			_, _ = w.says("what the person typed into the window")(id)
			return runtime.ProgramExit{Code: code}, nil
		}
		was := b.run(launchNew)
		windows, starts := len(w.opened), w.f.starts
		told := b.again(context.Background(), launchNew, &event.End{}, nil, func(o *runtime.Options) {
			o.Offline, o.Replay, o.Agents, o.Terminal = true, true, w, nil
		})
		if told.out != was.out || fmt.Sprint(told.err) != fmt.Sprint(was.err) || len(w.opened) != windows || w.f.starts != starts {
			t.Errorf("code %d: was %q %v, told %q %v; %d windows", code, was.out, was.err, told.out, told.err, len(w.opened)-windows)
		}
	}
}

// dying is a recorder whose process dies before a type of event is on record.
type dying struct {
	event.Recorder
	at   event.Type
	dead bool
}

func (d *dying) Batch(e *event.Event) {
	if d.dead = d.dead || e.Type == d.at; !d.dead {
		d.Recorder.Batch(e)
	}
}

func (d *dying) Soon(e *event.Event, extra any) {
	if d.dead = d.dead || e.Type == d.at; !d.dead {
		d.Recorder.Soon(e, extra)
	}
}

func (d *dying) Commit(ctx context.Context, e *event.Event, extra any) error {
	if d.dead = d.dead || e.Type == d.at; d.dead {
		return errors.New("the process died")
	}
	return d.Recorder.Commit(ctx, e, extra)
}

// A prompt that was in flight in the session is settled before its window opens.
func TestLaunchAfterAPromptInFlight(t *testing.T) {
	b := newBench(t)
	w := newWindows(b)
	opts := b.opts
	b.opts = func(o *runtime.Options) {
		opts(o)
		o.Stream = event.NewStream(o.RunID, time.Now, &dying{Recorder: journal.New(o.Store, o.RunID, nil), at: event.PromptEnded})
	}
	if r := b.run("<Prompt agent=\"fake\" session=\"s\">words that are long enough</Prompt>"); r.err == nil {
		t.Fatal("it did not die")
	}
	if _, owners := b.routes(); owners["s"] != store.OwnerTurn {
		t.Fatalf("owners %v", owners)
	}
	again := func(settle map[string]runtime.Settling) *result {
		return b.again(context.Background(), "<Session.Launch agent=\"fake\" session=\"s\"/>", nil, []runtime.Undo{{Step: "Session.Launch1"}}, func(o *runtime.Options) {
			opts(o)
			o.Settle = settle
		})
	}
	if r := again(nil); kinds(r) != "unsettled" || len(w.opened) != 0 {
		t.Errorf("%v, %d windows", r.err, len(w.opened))
	}
	if r := again(map[string]runtime.Settling{"Prompt1": runtime.SettleSkip}); r.err != nil || len(w.opened) != 1 {
		t.Errorf("%v, %d windows", r.err, len(w.opened))
	}
	if _, owners := b.routes(); owners["s"] != store.OwnerIdle {
		t.Errorf("owners %v", owners)
	}
}

// The unnamed session of a run has its window too: later prompts of the run go on in it.
func TestLaunchOnTheUnnamedSession(t *testing.T) {
	b := newBench(t)
	w := newWindows(b)
	w.use = w.says("what the person typed into the window")
	r := b.run("<Session.Launch agent=\"fake\"/>\n<Prompt agent=\"fake\">the words after the window was left</Prompt>\n<Session.Launch agent=\"fake\"/>\n")
	if r.err != nil || len(w.opened) != 2 || w.opened[0].ID != w.opened[1].ID || w.opened[1].New {
		t.Fatalf("%v %+v", r.err, w.opened)
	}
	if turns := len(w.f.homes[w.opened[0].ID].turns); turns != 3 {
		t.Errorf("%d turns", turns)
	}
	if routes, _ := b.routes(); len(routes) != 0 {
		t.Errorf("routes %v", routes)
	}
}

// OpenWindow opens what is there, and begins nothing.
func TestOpenWindow(t *testing.T) {
	b := newBench(t)
	w := newWindows(b)
	if r := b.run("<Prompt agent=\"fake\" session=\"s\">words that are long enough</Prompt>"); r.err != nil {
		t.Fatal(r.err)
	}
	s, err := store.Open(context.Background(), store.Options{Dir: b.state})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	w.store = s
	root := b.dir
	open := func(session string) error {
		r := &result{}
		o := runtime.Options{Dir: b.dir, Stream: event.NewStream("", time.Now, nil, r), Store: s, Agents: w, Terminal: w.terminal}
		return runtime.New(o, nil).OpenWindow(context.Background(), fakeLauncher{w.f, w}, store.SessionKey{Agent: "fake", Session: session, Root: root})
	}
	if err := open("s"); err != nil || len(w.opened) != 1 || w.opened[0].New {
		t.Fatalf("%v %+v", err, w.opened)
	}
	if err := open("nobody"); runtime.KindOf(err) != runtime.KindMissing || len(w.opened) != 1 {
		t.Errorf("%v", err)
	}
	w.use = func(string) (runtime.ProgramExit, error) { return runtime.ProgramExit{Code: 9}, nil }
	if err := open("s"); runtime.KindOf(err) != runtime.KindFailed || !strings.Contains(err.Error(), "ended with code 9") {
		t.Errorf("%v", err)
	}
	root = filepath.Join(b.dir, "gone")
	lost := store.Route{Key: store.Key{Agent: "fake", Session: "lost", Root: root, Generation: 1}, Transport: "acp", NativeSessionID: "lost-1", Provenance: store.ProviderAsserted}
	err = s.Do(context.Background(), func(tx *store.Tx) error { _, _, err := tx.CreateRoute(lost); return err })
	if err != nil {
		t.Fatal(err)
	}
	if err := open("lost"); runtime.KindOf(err) != runtime.KindCouldNot || !strings.Contains(err.Error(), root) || len(w.opened) != 2 {
		t.Errorf("%v", err)
	}
}
