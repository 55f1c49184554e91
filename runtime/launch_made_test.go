package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

// maker is the fake agent as conversations for its interface are made over it.
type maker struct {
	*fakeAgent
	layers []string
	fails  error
}

func (m *maker) Info() runtime.AgentInfo {
	info := m.fakeAgent.Info()
	info.Transport = store.TransportAppServer
	return info
}

func (m *maker) Start(ctx context.Context, o runtime.StartOptions) (runtime.Connection, error) {
	c, err := m.fakeAgent.Start(ctx, o)
	return &makerConn{c.(*fakeConn), m}, err
}

type makerConn struct {
	*fakeConn
	m *maker
}

func (c *makerConn) NewDurable(_ context.Context, layer string) (string, error) {
	if c.m.fails != nil {
		return "", c.m.fails
	}
	c.m.layers = append(c.m.layers, layer)
	c.id = fmt.Sprintf("made-%d", len(c.m.layers))
	c.f.homes[c.id] = &fakeConversation{}
	return c.id, nil
}

// newMade is a bench whose interface cannot begin a conversation.
func newMade(t *testing.T) (*bench, *windows, *maker) {
	b := newBench(t)
	w := newWindows(b)
	m := &maker{fakeAgent: w.f}
	w.native.NewID, w.native.Begins = nil, m
	return b, w, m
}

// A conversation is made with the layer and on record before its window, which opens it; no process of the agent is left by then.
func TestLaunchMakesAConversation(t *testing.T) {
	b, w, m := newMade(t)
	w.use = w.says("what the person typed into the window")
	r := b.run(launchNew)
	if r.err != nil || r.out != "before\nafter\n" || strings.Join(m.layers, "|") != "Be brief, run1." {
		t.Fatalf("%v %q, layers %q", r.err, r.out, m.layers)
	}
	if len(w.opened) != 1 || w.opened[0].New || w.opened[0].ID != "made-1" || w.before != "live 0" || w.owner != store.OwnerNative || strings.Join(w.freed, " ") != "made-1" {
		t.Errorf("opened %+v, %s, owner %q, waited for %q", w.opened, w.before, w.owner, w.freed)
	}
	if got := r.types(); !strings.HasPrefix(got, "step.started agent.started session.opened launch launch launch agent.started session.attached step.ended") {
		t.Errorf("events %s", got)
	}
	routes, owners := b.routes()
	if len(routes) != 1 || owners["s"] != store.OwnerIdle {
		t.Fatalf("routes %+v, owners %v", routes, owners)
	}
	route := routes[0]
	if route.Transport != store.TransportAppServer || route.Provenance != store.ProviderAsserted || route.NativeSessionID != "made-1" || route.InstructionDigest != digestOf("Be brief, run1.") {
		t.Errorf("route %+v", route)
	}
	w.use = nil
	if r := b.run(strings.ReplaceAll(launchNew, "{run.id}", "run1")); r.err != nil || len(m.layers) != 1 || len(w.opened) != 2 || w.opened[1].ID != "made-1" {
		t.Errorf("%v, layers %q, opened %+v", r.err, m.layers, w.opened)
	}
	if r := b.run(strings.ReplaceAll(launchNew, "{run.id}", "nobody")); kinds(r) != "instructions-refused" {
		t.Errorf("%v", r.err)
	}
}

// What cannot be made is said; nothing is on record, and the next run begins anew.
func TestLaunchCannotMakeAConversation(t *testing.T) {
	b, w, m := newMade(t)
	m.fails = runtime.Errorf(runtime.KindUnsupported, "Fake 1.0 keeps no conversation before its first prompt")
	r := b.run(launchNew)
	if kinds(r) != "unsupported" || phases(r) != "" || len(w.opened) != 0 {
		t.Fatalf("%v, phases %q", r.err, phases(r))
	}
	w.native.Begins = w.f // its connections make none
	if r := b.run(launchNew); kinds(r) != "unsupported" || !strings.Contains(r.err.Error(), "send the session a <Prompt> first") {
		t.Fatalf("%v", r.err)
	}
	if routes, owners := b.routes(); len(routes) != 0 || owners["s"] != store.OwnerIdle {
		t.Errorf("routes %v, owners %v", routes, owners)
	}
	m.fails, w.native.Begins = nil, m
	w.use = w.says("what the person typed into the window")
	if r := b.run(launchNew); r.err != nil || len(w.opened) != 1 {
		t.Errorf("%v", r.err)
	}
}

// A run that died before its window opened uses what it has made, if the layer is the same; a prompt of another run goes into it, and its
// route tells how it was begun.
func TestLaunchUsesWhatItHasMade(t *testing.T) {
	for _, prompt := range []bool{false, true} {
		b, w, m := newMade(t)
		opts := b.opts
		b.opts = func(o *runtime.Options) {
			opts(o)
			o.Stream = event.NewStream(o.RunID, time.Now, &dying{Recorder: journal.New(o.Store, o.RunID, nil), at: event.Launched})
		}
		if r := b.run(launchNew); r.err == nil || len(m.layers) != 1 {
			t.Fatalf("%v, layers %q", r.err, m.layers)
		}
		b.opts = opts
		w.use = w.says("what the person typed into the window")
		next := strings.ReplaceAll(launchNew, "{run.id}", "run1")
		if prompt {
			next = "<Prompt agent=\"fake\" session=\"s\">words that are long enough</Prompt>"
		}
		if r := b.run(next); r.err != nil || len(m.layers) != 1 {
			t.Fatalf("%v, layers %q", r.err, m.layers)
		}
		routes, _ := b.routes()
		if len(routes) != 1 || routes[0].NativeSessionID != "made-1" || routes[0].Transport != store.TransportAppServer || routes[0].InstructionDigest != digestOf("Be brief, run1.") {
			t.Errorf("routes %+v", routes)
		}
	}
}

// The unnamed session of a run has one conversation, which was made for its first window.
func TestLaunchMakesAnUnnamedConversation(t *testing.T) {
	b, w, m := newMade(t)
	w.use = w.says("what the person typed into the window")
	r := b.run("<Session.Launch agent=\"fake\">be brief</Session.Launch>\n<Prompt agent=\"fake\">the words after the window was left</Prompt>\n<Session.Launch agent=\"fake\"/>\n")
	if r.err != nil || len(m.layers) != 1 || len(w.opened) != 2 || w.opened[0].ID != "made-1" || w.opened[1].ID != "made-1" || len(w.f.homes) != 1 {
		t.Fatalf("%v, layers %q, opened %+v", r.err, m.layers, w.opened)
	}
	if turns := len(w.f.homes["made-1"].turns); turns != 3 {
		t.Errorf("%d turns", turns)
	}
	if routes, _ := b.routes(); len(routes) != 0 {
		t.Errorf("routes %v", routes)
	}
}
