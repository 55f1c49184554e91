package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

// fakeAgent is an agent in the test's own process. Its conversations live in a map, as a provider's home would.
type fakeAgent struct {
	mu       sync.Mutex
	info     runtime.AgentInfo
	homes    map[string]*fakeConversation
	made     map[string]int // ids given out
	starts   int
	prompts  []string
	live     int
	settings []runtime.Settings
	takes    *[2]bool // servers by address, by command; nil: it is no Equipper
	equipped []runtime.Equipment
	noLoad   bool
	onOpen   func(id string, o *runtime.Opened) error
	onPrompt func(t runtime.Turn) (runtime.TurnResult, error)
	onTurn   func(ctx context.Context, conversation string, t runtime.Turn) (runtime.TurnResult, error) // in place of onPrompt
}

type fakeConversation struct{ turns []runtime.PastTurn }

func newFake(name string) *fakeAgent {
	return &fakeAgent{
		info:  runtime.AgentInfo{Name: name, Shown: strings.ToUpper(name[:1]) + name[1:], Transport: "acp", ConfirmList: true},
		homes: map[string]*fakeConversation{}, made: map[string]int{},
	}
}

func (f *fakeAgent) Info() runtime.AgentInfo { return f.info }

func (f *fakeAgent) Start(context.Context, runtime.StartOptions) (runtime.Connection, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.starts++
	f.live++
	if f.takes != nil {
		return &equippedConn{&fakeConn{f: f}}, nil
	}
	return &fakeConn{f: f}, nil
}

// equippedConn is a fakeConn that takes tools.
type equippedConn struct{ *fakeConn }

func (c *equippedConn) Equip(e runtime.Equipment) error {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.equipped = append(c.f.equipped, e)
	return nil
}

func (c *equippedConn) Takes() (byAddress, byCommand bool) { return c.f.takes[0], c.f.takes[1] }

func (c *equippedConn) CanLoad() bool { return !c.f.noLoad }

type fakeConn struct {
	f      *fakeAgent
	id     string
	closed bool
}

func (c *fakeConn) Open(_ context.Context, id string) (runtime.Opened, error) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	o := runtime.Opened{ID: id, Listed: runtime.ListNames, History: runtime.History{Known: true}}
	if id == "" {
		o.ID = fmt.Sprintf("conv-%d-%d", len(c.f.homes)+1, c.f.starts)
		if c.f.made[o.ID]++; c.f.made[o.ID] > 1 { // several are made at once
			o.ID += fmt.Sprintf("-%d", c.f.made[o.ID])
		}
		o.Listed = runtime.ListNotOffered
	} else {
		conv := c.f.homes[id]
		if conv == nil {
			return o, runtime.Errorf(runtime.KindMissing, "no conversation %s", id)
		}
		o.History.Newest, o.History.UserTurns = conv.turns, len(conv.turns)
	}
	c.id = o.ID
	if c.f.onOpen != nil {
		if err := c.f.onOpen(id, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (c *fakeConn) Prompt(ctx context.Context, t runtime.Turn) (runtime.TurnResult, error) {
	c.f.mu.Lock()
	c.f.prompts = append(c.f.prompts, t.Words)
	conv := c.f.homes[c.id]
	if conv == nil {
		conv = &fakeConversation{}
		c.f.homes[c.id] = conv
	}
	onPrompt, onTurn := c.f.onPrompt, c.f.onTurn
	c.f.mu.Unlock()
	if onTurn != nil {
		onPrompt = func(t runtime.Turn) (runtime.TurnResult, error) { return onTurn(ctx, c.id, t) }
	}
	if onPrompt != nil {
		if r, err := onPrompt(t); err != nil || r.Stop != "" {
			return r, err
		}
	}
	reply := "«" + t.Words + "»"
	half := len(reply) / 2
	t.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: reply[:half]})
	t.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: reply[half:]})
	c.f.mu.Lock()
	conv.turns = append(conv.turns, runtime.PastTurn{Words: runtime.FingerprintOf(t.Words), Reply: runtime.FingerprintOf(reply)})
	c.f.mu.Unlock()
	return runtime.TurnResult{Stop: "end_turn"}, nil
}

func (c *fakeConn) Configure(_ context.Context, s runtime.Settings) error {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.settings = append(c.f.settings, s)
	if s.Model == "none" {
		return runtime.Errorf(runtime.KindFailed, "Fake offers no model %q; it offers small", s.Model)
	}
	return nil
}

func (c *fakeConn) Close(context.Context) error {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if !c.closed {
		c.closed = true
		c.f.live--
	}
	return nil
}

// fakeAgents is a registry of fakes.
type fakeAgents map[string]*fakeAgent

func (a fakeAgents) Lookup(name string) (runtime.Agent, error) {
	if f := a[name]; f != nil {
		return f, nil
	}
	return nil, runtime.Errorf(runtime.KindInvalid, "there is no agent %q", name)
}

func (a fakeAgents) Names() []string {
	var names []string
	for n := range a {
		names = append(names, n)
	}
	return names
}

// fakePrograms echoes the script as EXEC:program, or obeys its first line.
type fakePrograms struct{}

func (fakePrograms) Run(_ context.Context, p runtime.Program) (runtime.ProgramExit, error) {
	script, err := os.ReadFile(p.Argv[len(p.Argv)-1])
	if err != nil {
		return runtime.ProgramExit{}, err
	}
	if code, ok := strings.CutPrefix(string(script), "exit "); ok {
		var n int
		_, err := fmt.Sscan(code, &n)
		p.Stderr([]byte("about to fail\n"))
		return runtime.ProgramExit{Code: n}, err
	}
	p.Stdout([]byte("EXEC:" + string(script)))
	return runtime.ProgramExit{}, nil
}

// bench is one store and its fakes, over several runs.
type bench struct {
	t      testing.TB
	dir    string
	state  string
	agents fakeAgents
	props  map[string]any
	opts   func(*runtime.Options)
	runs   int
	runner *runtime.Runner // of the last run
	names  string          // a document that binds names before each run
}

func newBench(t testing.TB) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, dir: dir, state: filepath.Join(dir, "state"), agents: fakeAgents{"fake": newFake("fake")}}
}

// result is what one run showed.
type result struct {
	out      string
	events   []event.Event
	err      error
	failures []*runtime.Error
}

func (r *result) Event(e *event.Event) {
	r.events = append(r.events, *e)
	if d, ok := e.Body.(*event.Delta); ok && e.Type == event.Text {
		r.out += d.Text
	}
}

func (r *result) warnings() []string {
	var all []string
	for _, e := range r.events {
		if w, ok := e.Body.(*event.Warn); ok {
			all = append(all, w.Text)
		}
	}
	return all
}

func (r *result) types() string {
	var b strings.Builder
	for _, e := range r.events {
		if e.Type != event.Text && e.Type != event.Message {
			fmt.Fprintf(&b, "%s ", e.Type)
		}
	}
	return strings.TrimSpace(b.String())
}

func compileText(t testing.TB, text string) *plan.Plan {
	t.Helper()
	doc, list := lang.Parse("test.xmd", text)
	p, more := plan.Compile(doc)
	list = append(list, more...)
	if list.HasErrors() {
		var b strings.Builder
		_ = diag.WriteText(&b, doc.Source, list)
		t.Fatalf("the document is invalid:\n%s", b.String())
	}
	return p
}

// run runs text in a new run of the same store.
func (b *bench) run(text string) *result {
	b.t.Helper()
	return b.runContext(context.Background(), text)
}

func (b *bench) runContext(ctx context.Context, text string) *result {
	b.t.Helper()
	return b.runPlan(ctx, compileText(b.t, text))
}

func (b *bench) runPlan(ctx context.Context, p *plan.Plan) *result {
	b.t.Helper()
	b.runs++
	s, err := store.Open(context.Background(), store.Options{Dir: b.state, BootID: "boot", Now: time.Now})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	id := fmt.Sprintf("run%d", b.runs)
	lock, err := s.TryLock(context.Background(), store.LockRun, id, store.LockOwner{Run: id})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if err := s.BeginRun(context.Background(), store.Run{ID: id, Document: "test.xmd", Dir: b.dir}); err != nil {
		b.t.Fatal(err)
	}
	j := journal.New(s, id, nil)
	r := &result{}
	o := runtime.Options{
		RunID: id, Dir: b.dir, Stream: event.NewStream(id, time.Now, j, r), Store: s, Agents: b.agents,
		Programs: fakePrograms{}, Policy: runtime.PolicyApproveReads, DefaultAgent: "fake", Props: b.props,
	}
	if b.opts != nil {
		b.opts(&o)
	}
	runner := runtime.New(o, lock)
	b.runner = runner
	if b.names != "" {
		if err := runner.Execute(ctx, compileText(b.t, b.names)); err != nil {
			b.t.Fatal(err)
		}
	}
	r.err = runner.Execute(ctx, p)
	r.failures = runner.Failures()
	if err := runner.Close(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		b.t.Fatal(err)
	}
	for name, a := range b.agents {
		if a.live != 0 {
			b.t.Errorf("%d processes of %s are left", a.live, name)
		}
	}
	return r
}
