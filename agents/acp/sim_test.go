package acp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"xmd/agents/link"
	"xmd/agents/sim"
	"xmd/runtime"
)

// simLike is a well-behaved agent's profile with what the scripted agent needs to be caught at its faults.
func simLike() Profile {
	return Profile{
		StartLimit: 20 * time.Second, LoadLimit: 20 * time.Second,
		Asserts: true, Fence: "available_commands_update",
		Missing:         []Shape{{Code: -32002}},
		Busy:            []Shape{{Code: -32600, Member: "data.reason", Prefix: "thread_active_writer"}},
		NoticeWithoutID: true, Harmless: []string{"Warning: "},
		HandshakeVersion: true,
	}
}

// inside is a scripted agent in this process, seen as a process.
type inside struct {
	stop   context.CancelFunc
	done   chan struct{}
	code   int
	stderr locked
}

type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (p *inside) Hold(context.Context, *os.File) error { return nil }
func (p *inside) Done() <-chan struct{}                { return p.done }
func (p *inside) Stop(context.Context) error           { p.stop(); <-p.done; return nil }
func (p *inside) LastWords(int) []string               { return nil }
func (p *inside) Ending() string {
	select {
	case <-p.done:
		return fmt.Sprintf("exit code %d", p.code)
	default:
		return ""
	}
}

// world is where scripted agents of one test live.
type world struct {
	t    *testing.T
	home string
	root string
}

func newWorld(t *testing.T) *world {
	return &world{t, t.TempDir(), t.TempDir()}
}

// launch starts a scripted agent with faults and shakes hands.
func (w *world) launch(p Profile, faults ...string) (*conn, error) {
	w.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	in, stdin, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	args := []string{"--home", w.home}
	for _, f := range faults {
		args = append(args, "--fault", f)
	}
	proc := &inside{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(proc.done)
		proc.code = sim.Main(ctx, args, in, out, &proc.stderr, func(string) string { return "" })
		out.Close()
		in.Close()
	}()
	info := runtime.AgentInfo{Name: "sim", Shown: "Sim", Command: []string{"xmd", "sim"}, ConfirmList: true}
	c := &conn{Link: link.Link{Info: info, Proc: proc}, p: &p, root: w.root}
	connect(c, stdout, stdin, nil)
	w.t.Cleanup(func() { c.Close(context.Background()) })
	return c, c.initialize(w.t.Context(), "test", true)
}

func (w *world) start(faults ...string) *conn {
	w.t.Helper()
	return w.startAs(simLike(), faults...)
}

func (w *world) startAs(p Profile, faults ...string) *conn {
	w.t.Helper()
	c, err := w.launch(p, faults...)
	if err != nil {
		w.t.Fatalf("start: %v", err)
	}
	return c
}

func (w *world) open(c *conn, id string) runtime.Opened {
	w.t.Helper()
	o, err := c.Open(w.t.Context(), id)
	if err != nil {
		w.t.Fatalf("open %q: %v", id, err)
	}
	return o
}

// said is what one turn showed.
type shown struct {
	runtime.TurnResult
	text     string
	notices  string
	thoughts string
	updates  []runtime.Update
	accepted bool // by an update
}

func (s *shown) sink(u runtime.Update) {
	s.accepted = s.accepted || u.Accepts
	switch u.Kind {
	case runtime.UpdateMessage:
		s.text += u.Text
	case runtime.UpdateNotice:
		s.notices += u.Text
	case runtime.UpdateThought:
		s.thoughts += u.Text
	}
	s.updates = append(s.updates, u)
}

func (s *shown) count(kind runtime.UpdateKind) int {
	n := 0
	for _, u := range s.updates {
		if u.Kind == kind {
			n++
		}
	}
	return n
}

type asker = func(context.Context, runtime.PermissionRequest) bool

func always(yes bool) asker {
	return func(context.Context, runtime.PermissionRequest) bool { return yes }
}

func (w *world) promptErr(ctx context.Context, c *conn, words string, ask asker) (*shown, error) {
	s := &shown{}
	res, err := c.Prompt(ctx, runtime.Turn{Words: words, Sink: s.sink, Ask: ask})
	s.TurnResult = res
	return s, err
}

func (w *world) prompt(c *conn, words string) *shown {
	w.t.Helper()
	s, err := w.promptErr(w.t.Context(), c, words, nil)
	if err != nil {
		w.t.Fatalf("prompt %.40q: %v", words, err)
	}
	return s
}

// told makes a conversation with these prompts and ends its process.
func (w *world) told(words ...string) string {
	w.t.Helper()
	c := w.start()
	id := w.open(c, "").ID
	for _, text := range words {
		w.prompt(c, text)
	}
	if err := c.Close(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return id
}

func wantKind(t *testing.T, err error, kind runtime.Kind, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", kind)
	}
	if got := runtime.KindOf(err); got != kind {
		t.Errorf("kind %s, want %s: %v", got, kind, err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

var _ io.Writer = (*locked)(nil)
