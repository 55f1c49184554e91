package agenttest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"xmd/runtime"
)

// turnLimit bounds every single step against an agent, on a machine that is busy.
const turnLimit = 60 * time.Second

// place is a Place with the suite's own bookkeeping.
type place struct {
	Place
	target Target
	mark   string
	reach  *Reach // of the next process, if a damage function gave one
}

func newPlace(t testing.TB, target Target) *place {
	t.Helper()
	p := &place{target: target, mark: newMark()}
	p.Home, p.Root = realDir(t), realDir(t)
	if target.Model != nil {
		p.Model = target.Model(t)
	}
	return p
}

// line is one connection of the suite and what its process wrote.
type line struct {
	t testing.TB
	p *place
	runtime.Connection
	info     runtime.AgentInfo
	prompted chan struct{} // gets a value for each prompt that went out

	mu     sync.Mutex
	stderr bytes.Buffer
	frames *frames
}

// frames are what the agent sent, as far as each was short.
type frames struct {
	mu   sync.Mutex
	sent [][]byte
}

// start starts a process in the place, which the end of the test closes.
func (p *place) start(t testing.TB, locks ...*os.File) *line {
	t.Helper()
	reach := p.target.At(t, p.Place)
	if p.reach != nil {
		reach = *p.reach
	}
	l := &line{t: t, p: p, info: reach.Agent.Info(), prompted: make(chan struct{}, 64), frames: &frames{}}
	ctx, stop := limit(t)
	defer stop()
	c, err := reach.Agent.Start(ctx, runtime.StartOptions{
		Root: p.Root, Env: append(reach.Env[:len(reach.Env):len(reach.Env)], markKey+"="+p.mark),
		Locks: locks, Trace: l.trace, Stderr: l.said,
	})
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	l.Connection = c
	t.Cleanup(func() {
		l.end()
		if t.Failed() {
			l.mu.Lock()
			defer l.mu.Unlock()
			t.Logf("stderr of the agent:\n%s", tailOf(l.stderr.String(), 2000))
		}
	})
	return l
}

func (l *line) trace(direction string, frame []byte) {
	if direction == "out" && (bytes.Contains(frame, []byte(`"session/prompt"`)) || bytes.Contains(frame, []byte(`"turn/start"`))) {
		select {
		case l.prompted <- struct{}{}:
		default:
		}
	}
	if direction == "in" && len(frame) <= shownLimit {
		l.frames.mu.Lock()
		defer l.frames.mu.Unlock()
		l.frames.sent = append(l.frames.sent, bytes.Clone(frame))
	}
}

// shownLimit is the length of a frame that is kept to be looked at.
const shownLimit = 16 << 10

// showed says whether the agent sent a frame with all these pieces.
func (l *line) showed(pieces ...string) bool {
	l.frames.mu.Lock()
	defer l.frames.mu.Unlock()
	return slices.ContainsFunc(l.frames.sent, func(frame []byte) bool {
		return !slices.ContainsFunc(pieces, func(piece string) bool { return !bytes.Contains(frame, []byte(piece)) })
	})
}

func (l *line) said(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stderr.Write(b)
}

// end closes the connection and checks that nothing of the agent is left.
func (l *line) end() {
	l.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), turnLimit)
	defer stop()
	if err := l.Close(ctx); err != nil {
		l.t.Errorf("close: %v", err)
	}
}

// open makes or loads a conversation, which must succeed.
func (l *line) open(id string) runtime.Opened {
	l.t.Helper()
	ctx, stop := limit(l.t)
	defer stop()
	o, err := l.Open(ctx, id)
	if err != nil {
		l.t.Fatalf("open %q: %v", id, err)
	}
	return o
}

// openError loads a conversation, which must fail as one of the kinds.
func (l *line) openError(id string, kinds ...runtime.Kind) {
	l.t.Helper()
	l.openErrorWithin(turnLimit, id, kinds...)
}

// openErrorWithin is openError that asks no longer than d.
func (l *line) openErrorWithin(d time.Duration, id string, kinds ...runtime.Kind) {
	l.t.Helper()
	ctx, stop := context.WithTimeout(l.t.Context(), d)
	defer stop()
	o, err := l.Open(ctx, id)
	if err == nil {
		l.t.Fatalf("open %q succeeded: %+v; want an error of kind %v", id, o, kinds)
	}
	for _, k := range kinds {
		if runtime.KindOf(err) == k {
			return
		}
	}
	l.t.Errorf("open %q: %v (%s), want kind %v", id, err, runtime.KindOf(err), kinds)
}

// prompt runs one turn that must end.
func (l *line) prompt(words string, ask func(context.Context, runtime.PermissionRequest) bool) *heard {
	l.t.Helper()
	ctx, stop := limit(l.t)
	defer stop()
	h, err := l.promptWithin(ctx, words, ask)
	if err != nil {
		l.t.Fatalf("prompt %.60q: %v", words, err)
	}
	return h
}

func (l *line) promptWithin(ctx context.Context, words string, ask func(context.Context, runtime.PermissionRequest) bool) (*heard, error) {
	return l.run(ctx, newHeard(), words, ask)
}

func (l *line) run(ctx context.Context, h *heard, words string, ask func(context.Context, runtime.PermissionRequest) bool) (*heard, error) {
	var err error
	h.TurnResult, err = l.Prompt(ctx, runtime.Turn{Words: words, Sink: h.sink, Ask: ask})
	return h, err
}

// good runs one turn that must end well.
func (l *line) good(words string) *heard {
	l.t.Helper()
	h := l.prompt(words, allow)
	if h.Stop != "end_turn" || h.Failure != "" {
		l.t.Fatalf("prompt %.60q ended as %q, failure %q", words, h.Stop, h.Failure)
	}
	return h
}

func limit(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), turnLimit, errors.New("the suite's limit for one step passed"))
}

func tailOf(text string, n int) string {
	text = strings.TrimSpace(text)
	if len(text) > n {
		text = "…" + strings.ToValidUTF8(text[len(text)-n:], "")
	}
	return text
}
