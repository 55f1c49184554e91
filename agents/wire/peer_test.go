package wire

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// peer is the agent's side of a connection under test.
type peer struct {
	t   *testing.T
	in  *bufio.Reader
	out io.WriteCloser
	raw io.Closer
}

// connect makes a connection over two in-memory pipes; it is closed with the test.
func connect(t *testing.T, o Options) (*Conn, *peer) {
	t.Helper()
	fromAgent, agentOut := io.Pipe()
	agentIn, toAgent := io.Pipe()
	c := New(fromAgent, toAgent, o)
	t.Cleanup(func() { c.Close() })
	return c, &peer{t: t, in: bufio.NewReader(agentIn), out: agentOut, raw: agentIn}
}

// frame is anything this side sends.
type frame struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int
		Message string
		Data    json.RawMessage
	} `json:"error"`
}

func (p *peer) line() string {
	p.t.Helper()
	s, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Errorf("agent read %q: %v", s, err)
	}
	return strings.TrimSuffix(s, "\n")
}

func (p *peer) read() (f frame) {
	p.t.Helper()
	if s := p.line(); json.Unmarshal([]byte(s), &f) != nil {
		p.t.Errorf("not a frame: %q", s)
	}
	return f
}

func (p *peer) send(format string, a ...any) {
	if _, err := fmt.Fprintf(p.out, format+"\n", a...); err != nil {
		p.t.Errorf("agent write: %v", err)
	}
}

// recorder is a Handler that keeps what it gets.
type recorder struct {
	mu     sync.Mutex
	got    []string
	each   func(m *Message)
	answer func(m *Message, r Reply) bool
}

func (h *recorder) Notification(m *Message) {
	if h.each != nil {
		h.each(m)
	}
	h.add(m.Method + string(m.Params))
}

func (h *recorder) Request(m *Message, r Reply) bool {
	h.add(m.Method + "#" + string(m.ID) + string(m.Params))
	return h.answer != nil && h.answer(m, r)
}

func (h *recorder) add(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, s)
}

func (h *recorder) seen() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.got...)
}
