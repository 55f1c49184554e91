package codex

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"xmd/agents/link"
	"xmd/runtime"
)

// nothingRuns is the process of a connection whose other side is the test.
type nothingRuns struct{ done chan struct{} }

func (nothingRuns) Hold(context.Context, *os.File) error { return nil }
func (n nothingRuns) Stop(context.Context) error         { return nil }
func (n nothingRuns) Done() <-chan struct{}              { return n.done }
func (nothingRuns) Ending() string                       { return "signal: killed" }
func (nothingRuns) LastWords(int) []string               { return []string{"its last word"} }

// peer is the test as the app-server of a connection.
type peer struct {
	t    *testing.T
	c    *conn
	in   *bufio.Reader
	out  io.WriteCloser
	last json.RawMessage // id of the last request
	said []string        // notices to the person
}

func newPeer(t *testing.T) *peer {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	done := make(chan struct{})
	close(done)
	p := &peer{t: t, in: bufio.NewReader(in), out: out}
	info := runtime.AgentInfo{Name: "codex", Shown: "Codex", Command: []string{"codex", "app-server"}}
	p.c = &conn{
		Link: link.Link{Info: info, Proc: nothingRuns{done}}, root: "/r", version: "1.2.3",
		notice: func(s string) { p.said = append(p.said, s) },
	}
	p.c.connect(stdout, stdin, nil)
	return p
}

// onThread is a peer whose connection has opened the thread T.
func onThread(t *testing.T) *peer {
	p := newPeer(t)
	if _, err := p.c.opened([]byte(`{"thread":{"id":"T"},"model":"m"}`)); err != nil {
		t.Fatal(err)
	}
	return p
}

// message is a frame from the driver.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// expect reads the next message, which must be of that method; "" is an answer.
func (p *peer) expect(method string) message {
	p.t.Helper()
	line, err := p.in.ReadBytes('\n')
	if err != nil {
		p.t.Fatalf("waiting for %q: %v", method, err)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		p.t.Fatalf("%v: %s", err, line)
	}
	if m.Method != method {
		p.t.Fatalf("got %s, want %q", line, method)
	}
	if method != "" {
		p.last = m.ID
	}
	return m
}

func (p *peer) say(frames ...string) {
	for _, f := range frames {
		if _, err := io.WriteString(p.out, f+"\n"); err != nil {
			p.t.Error(err)
		}
	}
}

func (p *peer) answer(result string) { p.say(fmt.Sprintf(`{"id":%s,"result":%s}`, p.last, result)) }
func (p *peer) refuse(text string) {
	p.say(fmt.Sprintf(`{"id":%s,"error":{"code":-32600,"message":%q}}`, p.last, text))
}

func (p *peer) close() {
	p.out.Close()
	p.c.Wire.Close()
}

// notify is a notification of turn U of thread T, with these further members.
func notify(method, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"method":%q,"params":{"threadId":"T","turnId":"U"%s}}`, method, members)
}

func itemFrame(event, item string) string { return notify("item/"+event, `"item":`+item) }

func delta(text string) string {
	return notify("item/agentMessage/delta", fmt.Sprintf(`"itemId":"m","delta":%q`, text))
}

func bound(event, turn string) string {
	return fmt.Sprintf(`{"method":"turn/%s","params":{"threadId":"T","turn":%s}}`, event, turn)
}

const (
	begins      = `{"id":"U","status":"inProgress"}`
	completes   = `{"id":"U","status":"completed"}`
	interrupted = `{"id":"U","status":"interrupted"}`
	userItem    = `{"type":"userMessage","id":"u"}`
)

// begun answers turn/start and begins the turn.
func (p *peer) begun() message {
	p.t.Helper()
	m := p.expect("turn/start")
	p.answer(`{"turn":{"id":"U","status":"inProgress"}}`)
	p.say(bound("started", begins), itemFrame("started", userItem))
	return m
}

// heard is what a turn came to.
type heard struct {
	updates []runtime.Update
	runtime.TurnResult
	err error
}

func (h *heard) text(kind runtime.UpdateKind) string {
	var b strings.Builder
	for _, u := range h.updates {
		if u.Kind == kind {
			b.WriteString(u.Text)
		}
	}
	return b.String()
}

// prompt runs a turn while the test plays Codex.
func (p *peer) prompt(ctx context.Context, turn runtime.Turn, play func()) *heard {
	h := &heard{}
	turn.Words = "words"
	turn.Sink = func(u runtime.Update) { h.updates = append(h.updates, u) }
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.TurnResult, h.err = p.c.Prompt(ctx, turn)
	}()
	play()
	<-done
	return h
}

// timed runs a test whose clock stands still while anything works.
func timed(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}
