package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

const launchNew = "before\n<Session.Launch agent=\"fake\" session=\"s\">\nBe brief, {run.id}.\n</Session.Launch>\nafter\n"

// A new session is begun under an id on record beforehand, with the rendered body as its layer, and gets its route when it has a turn.
func TestLaunchBeginsASession(t *testing.T) {
	b := newBench(t)
	w := newWindows(b)
	w.use = w.says("what the person typed into the window")
	r := b.run(launchNew)
	if r.err != nil || r.out != "before\nafter\n" {
		t.Fatalf("%v %q", r.err, r.out)
	}
	if len(w.opened) != 1 || w.opened[0].Instructions != "Be brief, run1." || !w.opened[0].New || w.opened[0].ID != "chosen-1" || w.opened[0].Root != b.dir {
		t.Errorf("opened %+v", w.opened)
	}
	if w.owner != store.OwnerNative || w.before != "live 0" || len(w.freed) != 0 {
		t.Errorf("while it was open: owner %q, %s, waited for %q", w.owner, w.before, w.freed)
	}
	if got := phases(r); got != "prepared detached exited" {
		t.Errorf("phases %q", got)
	}
	if got := r.types(); !strings.HasPrefix(got, "step.started session.opened launch launch launch agent.started session.attached step.ended") {
		t.Errorf("events %s", got)
	}
	routes, owners := b.routes()
	if len(routes) != 1 || owners["s"] != store.OwnerIdle {
		t.Fatalf("routes %+v, owners %v", routes, owners)
	}
	route := routes[0]
	if route.Transport != store.TransportNative || route.Provenance != store.ClientAllocated || route.NativeSessionID != "chosen-1" || route.InstructionDigest != digestOf("Be brief, run1.") {
		t.Errorf("route %+v", route)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "removed")); !os.IsNotExist(err) {
		t.Errorf("the window's folder is still there: %v", err)
	}
	for _, e := range r.events {
		if raw, err := e.AppendJSON(nil); err != nil || strings.Contains(string(raw), "Be brief") {
			t.Errorf("the instructions are in an event: %s %v", raw, err)
		}
	}
}

// Without a turn nothing is kept but the id: the next prompt makes a conversation, the next window another one.
func TestLaunchWithoutATurn(t *testing.T) {
	b := newBench(t)
	w := newWindows(b)
	if r := b.run(launchNew); r.err != nil {
		t.Fatal(r.err)
	}
	if routes, owners := b.routes(); len(routes) != 0 || owners["s"] != store.OwnerIdle {
		t.Fatalf("routes %+v, owners %v", routes, owners)
	}
	w.use = w.says("now there is a turn of the person")
	if r := b.run(launchNew); r.err != nil || w.opened[1].ID != "chosen-2" || !w.opened[1].New {
		t.Fatalf("%v %+v", r.err, w.opened)
	}
	if routes, _ := b.routes(); len(routes) != 1 || routes[0].NativeSessionID != "chosen-2" || routes[0].InstructionDigest != digestOf("Be brief, run2.") {
		t.Errorf("routes %+v", routes)
	}
	w.use = func(id string) (runtime.ProgramExit, error) { // an agent that keeps a conversation without a turn
		w.f.homes[id] = &fakeConversation{}
		return runtime.ProgramExit{}, nil
	}
	if r := b.run("<Session.Launch agent=\"fake\" session=\"u\"/>"); r.err != nil {
		t.Fatal(r.err)
	}
	if routes, _ := b.routes(); len(routes) != 1 {
		t.Errorf("routes %+v", routes)
	}
	w.use = nil
	if r := b.run("<Session.Launch agent=\"fake\" session=\"t\"/><Prompt agent=\"fake\" session=\"t\">words that are long enough</Prompt>"); r.err != nil {
		t.Fatal(r.err)
	}
	routes, _ := b.routes()
	if last := routes[len(routes)-1]; last.Session != "t" || last.Transport != "acp" || last.Provenance != store.ProviderAsserted {
		t.Errorf("route %+v", last)
	}
}

// A turn of a window that nobody could look at afterwards is found by whoever comes next, with how the conversation was begun.
func TestLaunchIsSeenLater(t *testing.T) {
	for _, next := range []string{launchNew, "<Prompt agent=\"fake\" session=\"s\">words that are long enough</Prompt>"} {
		b := newBench(t)
		w := newWindows(b)
		w.use = w.says("what the person typed into the window")
		w.f.onOpen = func(string, *runtime.Opened) error { return runtime.Errorf(runtime.KindCouldNot, "the disk is full") }
		r := b.run(launchNew)
		if r.err != nil || len(r.warnings()) != 1 || !strings.Contains(r.warnings()[0], "the disk is full") {
			t.Fatalf("%v %q", r.err, r.warnings())
		}
		if routes, owners := b.routes(); len(routes) != 0 || owners["s"] != store.OwnerIdle {
			t.Fatalf("routes %+v, owners %v", routes, owners)
		}
		w.f.onOpen = nil
		if r := b.run(strings.ReplaceAll(next, "{run.id}", "run1")); r.err != nil {
			t.Fatal(r.err)
		}
		routes, _ := b.routes()
		if len(routes) != 1 || routes[0].NativeSessionID != "chosen-1" || routes[0].Transport != store.TransportNative || routes[0].InstructionDigest != digestOf("Be brief, run1.") {
			t.Errorf("routes %+v", routes)
		}
	}
}

// An existing conversation keeps the layer it was begun with; without a body it is always opened.
func TestLaunchInstructionsOfAnExistingSession(t *testing.T) {
	launch := func(body string) string {
		return "<Session.Launch agent=\"fake\" session=\"s\">" + body + "</Session.Launch>"
	}
	cases := map[string]struct{ first, second, kind, says string }{
		"the same":       {launch("be brief"), launch("\nbe brief\n"), "", ""},
		"none again":     {launch("be brief"), launch(""), "", ""},
		"blank is none":  {launch("be brief"), launch(" \n <Let as=\"x\" value=\" \"/>{x}\n"), "", ""},
		"another":        {launch("be brief"), launch("be long"), "instructions-refused", "was begun with other instructions"},
		"to a prompted":  {"<Prompt agent=\"fake\" session=\"s\">words that are long enough</Prompt>", launch("be brief"), "instructions-refused", "was begun without instructions"},
		"none to it":     {"<Prompt agent=\"fake\" session=\"s\">words that are long enough</Prompt>", launch(""), "", ""},
		"to one without": {launch(""), launch("be brief"), "instructions-refused", "was begun without instructions"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			w := newWindows(b)
			w.use = w.says("what the person typed into the window")
			if r := b.run(c.first); r.err != nil {
				t.Fatal(r.err)
			}
			before, _ := b.routes()
			windows, starts := len(w.opened), w.f.starts
			r := b.run(c.second)
			after, owners := b.routes()
			if kinds(r) != c.kind || owners["s"] != store.OwnerIdle || len(after) != len(before) || after[0] != before[0] {
				t.Fatalf("failures %v, owners %v\nbefore %+v\nafter  %+v", r.err, owners, before, after)
			}
			if c.kind == "" {
				if len(w.opened) != windows+1 || w.opened[windows].New || w.opened[windows].ID != before[0].NativeSessionID {
					t.Errorf("opened %+v", w.opened)
				}
				return
			}
			if !strings.Contains(r.err.Error(), c.says) || len(w.opened) != windows || w.f.starts != starts {
				t.Errorf("%v; %d windows, %d starts", r.err, len(w.opened)-windows, w.f.starts-starts)
			}
			if runtime.KindInstructions.ExitCode() != 5 {
				t.Error("exit code")
			}
		})
	}
}

// The session's attachment is closed for the window, those of others stay; the next prompt attaches again and the provider has all turns.
func TestLaunchBetweenPrompts(t *testing.T) {
	b := newBench(t)
	w := newWindows(b)
	b.agents["other"] = newFake("other")
	opts := b.opts
	b.opts = func(o *runtime.Options) { opts(o); o.Observer = seen{runtime.Build{Version: "1.0"}} }
	if r := b.run("<Prompt agent=\"fake\" session=\"s\">the very first words of this session</Prompt>"); r.err != nil {
		t.Fatal(r.err)
	}
	b.opts = func(o *runtime.Options) { opts(o); o.Observer = seen{runtime.Build{Version: "2.0"}} }
	otherLive := 0
	w.use = func(id string) (runtime.ProgramExit, error) {
		otherLive = b.agents["other"].live
		return w.says("what the person typed into the window")(id)
	}
	r := b.run("<Prompt agent=\"other\" session=\"o\">words for the other agent here</Prompt>\n" +
		"<Session.Launch agent=\"fake\" session=\"s\"/>\n<Session.Launch agent=\"fake\" session=\"s\"/>\n" +
		"<Prompt agent=\"fake\" session=\"s\">the words after the windows were left</Prompt>")
	if r.err != nil || len(w.opened) != 2 || w.before != "live 0" || otherLive != 1 {
		t.Fatalf("%v; %d windows, %s, other %d", r.err, len(w.opened), w.before, otherLive)
	}
	if got := r.warnings(); len(got) != 1 || !strings.Contains(got[0], "from 1.0 to 2.0") {
		t.Errorf("warnings %q", got)
	}
	warned := 0
	for _, e := range r.events { // before the window it is about
		if _, ok := e.Body.(*event.Warn); ok {
			warned = 1
		}
		if l, ok := e.Body.(*event.Launch); ok && l.Phase == "prepared" && warned == 0 {
			t.Error("the window opened before the warning")
		}
	}
	if turns := len(w.f.homes[w.opened[0].ID].turns); turns != 4 {
		t.Errorf("%d turns in the conversation", turns)
	}
	if len(w.freed) != 2 {
		t.Errorf("waited for the conversation %d times", len(w.freed))
	}
}

// What stands in the way is said before any agent is touched.
func TestLaunchRefusals(t *testing.T) {
	cases := map[string]struct {
		text  string
		setup func(w *windows)
		kind  string
		code  int
	}{
		"no terminal":                 {launchNew, func(w *windows) { w.none = true }, "usage", 2},
		"no interface":                {strings.ReplaceAll(launchNew, "fake", "other"), nil, "unsupported", 5},
		"no conversation begun there": {launchNew, func(w *windows) { w.native.NewID = nil }, "unsupported", 5},
		"no instructions":             {launchNew, func(w *windows) { w.native.Instructs = false }, "unsupported", 5},
		"open elsewhere": {strings.ReplaceAll(launchNew, "Be brief, {run.id}.", ""), func(w *windows) {
			w.b.run("<Prompt agent=\"fake\" session=\"s\">words that are long enough</Prompt>")
			w.busy = runtime.Errorf(runtime.KindBusy, "open elsewhere")
		}, "busy", 5},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			w := newWindows(b)
			b.agents["other"] = newFake("other")
			if c.setup != nil {
				c.setup(w)
			}
			before := w.f.starts
			r := b.run(c.text)
			if kinds(r) != c.kind || runtime.ExitCode(r.failures) != c.code || r.out != "before\n" {
				t.Fatalf("%v %q", r.err, r.out)
			}
			if len(w.opened) != 0 || w.f.starts != before || b.agents["other"].starts != 0 || phases(r) != "" {
				t.Errorf("%d windows, %d starts, phases %q", len(w.opened), w.f.starts-before, phases(r))
			}
			if _, owners := b.routes(); owners["s"] != "" && owners["s"] != store.OwnerIdle {
				t.Errorf("owners %v", owners)
			}
		})
	}
}

// A window that ends badly fails the step, and what was typed in it is kept all the same.
func TestLaunchThatFails(t *testing.T) {
	cases := map[string]struct {
		exit runtime.ProgramExit
		err  error
		kind string
		code string
	}{
		"code":        {runtime.ProgramExit{Code: 3}, nil, "failed", "3"},
		"signal":      {runtime.ProgramExit{Code: 137, Signal: "killed"}, nil, "failed", "137"},
		"not started": {runtime.ProgramExit{}, runtime.Errorf(runtime.KindUnavailable, "not found"), "agent-unavailable", "none"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			w := newWindows(b)
			w.use = func(id string) (runtime.ProgramExit, error) {
				if c.err == nil {
					_, _ = w.says("what the person typed into the window")(id)
				}
				return c.exit, c.err
			}
			r := b.run(launchNew)
			if kinds(r) != c.kind || r.out != "before\n" || phases(r) != "prepared detached exited" {
				t.Fatalf("%v %q %s", r.err, r.out, phases(r))
			}
			code := "none"
			for _, e := range r.events {
				if step, ok := e.Body.(*event.Step); ok && e.Type == event.StepEnded && step.ExitCode != nil {
					code = fmt.Sprint(*step.ExitCode)
				}
			}
			routes, owners := b.routes()
			if code != c.code || owners["s"] != store.OwnerIdle || len(routes) != map[bool]int{true: 1, false: 0}[c.err == nil] {
				t.Errorf("code %s, owners %v, routes %+v", code, owners, routes)
			}
			caught := b.run("<Try><Session.Launch agent=\"fake\" session=\"c\"/><Catch as=\"e\">{e.kind}</Catch></Try>")
			if caught.err != nil || caught.out != c.kind {
				t.Errorf("caught: %v %q", caught.err, caught.out)
			}
		})
	}
}

// A cancelled window is ended, its end is on record, and the session is free.
func TestLaunchIsCancelled(t *testing.T) {
	b := newBench(t)
	w := newWindows(b)
	ctx, cancel := context.WithCancelCause(context.Background())
	w.use = func(id string) (runtime.ProgramExit, error) {
		_, _ = w.says("what the person typed into the window")(id)
		cancel(context.Canceled)
		return runtime.ProgramExit{}, context.Canceled
	}
	starts := w.f.starts
	r := b.runContext(ctx, launchNew)
	if kinds(r) != "cancelled" || phases(r) != "prepared detached exited" || w.f.starts != starts {
		t.Fatalf("%v %s, %d starts", r.err, phases(r), w.f.starts-starts)
	}
	if routes, owners := b.routes(); len(routes) != 0 || owners["s"] != store.OwnerIdle {
		t.Errorf("routes %v, owners %v", routes, owners)
	}
}
