package runtime_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

// windows is an agent's own interface in the test's process, and the terminal it has.
type windows struct {
	t      testing.TB
	b      *bench
	f      *fakeAgent
	native runtime.NativeInfo
	busy   error // what Released says

	asked  []runtime.WindowRequest
	opened []runtime.WindowRequest
	freed  []string
	before string // what the agents' processes were when the window opened
	owner  store.OwnerState
	store  *store.Store

	use  func(conversation string) (runtime.ProgramExit, error) // what the person does there; nil: leaves at once
	none bool                                                   // there is no terminal
}

func newWindows(b *bench) *windows {
	w := &windows{t: b.t, b: b, f: b.agents["fake"], native: runtime.NativeInfo{Instructs: true}}
	n := 0
	w.native.NewID = func() string { n++; return fmt.Sprintf("chosen-%d", n) }
	b.opts = func(o *runtime.Options) {
		o.Agents, o.Terminal, w.store = w, w.terminal, o.Store
	}
	return w
}

// The registry: the agent fake has an interface, all others have none.
func (w *windows) Names() []string { return w.b.agents.Names() }

func (w *windows) Lookup(name string) (runtime.Agent, error) {
	a, err := w.b.agents.Lookup(name)
	if err != nil || name != "fake" {
		return a, err
	}
	return fakeLauncher{w.f, w}, nil
}

type fakeLauncher struct {
	*fakeAgent
	w *windows
}

func (l fakeLauncher) Native() runtime.NativeInfo { return l.w.native }

func (l fakeLauncher) Window(r runtime.WindowRequest) (runtime.Program, error) {
	l.w.asked = append(l.w.asked, r)
	return runtime.Program{Argv: []string{r.ID}, Remove: filepath.Join(l.w.b.dir, "removed")}, os.MkdirAll(filepath.Join(l.w.b.dir, "removed"), 0o700)
}

func (l fakeLauncher) Released(_ context.Context, id string, _ func(string)) error {
	l.w.freed = append(l.w.freed, id)
	return l.w.busy
}

func (w *windows) terminal(context.Context) (runtime.Terminal, error) {
	if w.none {
		return nil, runtime.Errorf(runtime.KindUsage, "no terminal")
	}
	return w, nil
}

func (w *windows) Close() error { return nil }

// Run is the window: a new conversation comes into being with its first turn.
func (w *windows) Run(_ context.Context, p runtime.Program) (runtime.ProgramExit, error) {
	w.opened = append(w.opened, w.asked[len(w.asked)-1])
	w.before = fmt.Sprintf("live %d", w.f.live)
	err := w.store.View(context.Background(), func(tx *store.Tx) error {
		owners, err := tx.Owners(store.Selector{}, "")
		for _, o := range owners {
			if o.NativeID == p.Argv[0] {
				w.owner = o.State
			}
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
	if w.use == nil {
		return runtime.ProgramExit{}, nil
	}
	return w.use(p.Argv[0])
}

// says is a person who types words there.
func (w *windows) says(words string) func(string) (runtime.ProgramExit, error) {
	return func(id string) (runtime.ProgramExit, error) {
		w.f.mu.Lock()
		defer w.f.mu.Unlock()
		if w.f.homes[id] == nil {
			w.f.homes[id] = &fakeConversation{}
		}
		w.f.homes[id].turns = append(w.f.homes[id].turns, runtime.PastTurn{Words: runtime.FingerprintOf(words)})
		return runtime.ProgramExit{}, nil
	}
}

// routes are the routes in the bench's store, and the owner states.
func (b *bench) routes() (list []store.Route, owners map[string]store.OwnerState) {
	b.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: b.state})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	owners = map[string]store.OwnerState{}
	err = s.View(context.Background(), func(tx *store.Tx) error {
		if list, err = tx.Routes(store.Filter{All: true}); err != nil {
			return err
		}
		all, err := tx.Owners(store.Selector{}, "")
		for _, o := range all {
			owners[o.Session] = o.State
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return list, owners
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func kinds(r *result) string {
	var all []string
	for _, e := range r.failures {
		all = append(all, string(e.Kind))
	}
	return strings.Join(all, " ")
}

// phases are the phases of windows that a run tells.
func phases(r *result) string {
	var all []string
	for _, e := range r.events {
		if l, ok := e.Body.(*event.Launch); ok {
			all = append(all, l.Phase)
		}
	}
	return strings.Join(all, " ")
}
