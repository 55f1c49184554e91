package codex

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"xmd/agents/link"
	"xmd/agents/rollout"
	"xmd/agents/wire"
	"xmd/runtime"
)

// conn is one app-server with the one thread it serves.
type conn struct {
	link.Link
	root    string
	version string       // of Codex, as initialize stated it
	notice  func(string) // what a person should know while waiting; may be nil

	// mu guards what the reader looks at. A reader that waits for it delays only itself.
	mu      sync.Mutex
	id      string   // of the thread; "" before Open
	turn    *turn    // the one that Prompt waits for; nil otherwise
	running string   // id of a turn that runs and is not ours; "": none
	unsaid  []string // warnings that came while no turn ran, for the next one
	total   tokens   // of the thread, as last told

	equipment equipment // what Equip gave; read-only from Open on

	settings settings // only Open, Configure and Prompt use it
	informs  string   // for the next turn; only Inform and Prompt use it
	late     bool     // a turn was given up while it ran; only Prompt uses it

	activity atomic.Int64 // counts what came; a wait for silence looks at it
	unknown  atomic.Int64 // counts notifications that no part of the driver takes
	dropped  atomic.Int64 // counts those that belong to no running turn
}

var (
	_ runtime.Connection         = (*conn)(nil)
	_ runtime.Holder             = (*conn)(nil)
	_ runtime.Ender              = (*conn)(nil)
	_ runtime.HandshakeVersioner = (*conn)(nil)
	_ runtime.Configurer         = (*conn)(nil)
	_ runtime.Recogniser         = (*conn)(nil)
	_ runtime.Beginner           = (*conn)(nil)
	_ runtime.Informer           = (*conn)(nil)
	_ runtime.Equipper           = (*conn)(nil)
	_ wire.Handler               = (*conn)(nil)
)

// connect puts a connection on Codex's pipes and starts reading.
func (c *conn) connect(stdout io.ReadCloser, stdin io.WriteCloser, trace func(string, []byte)) {
	c.Connect(stdout, stdin, wire.Options{Handler: c, NoVersion: true}, trace)
}

// HandshakeVersion is the version of Codex, from the userAgent of its handshake.
func (c *conn) HandshakeVersion() string { return c.version }

// Recognises says whether a rollout shows these words as a turn of the person's, whatever transport they went over.
func (c *conn) Recognises(words string) bool { return rollout.Forms.Recognises(words) }

var routing = []string{"threadId", "turnId"}

// Notification is called by the reader.
func (c *conn) Notification(m *wire.Message) {
	c.activity.Add(1)
	var at [2][]byte
	wire.Pick(m.Params, routing, at[:])
	c.mu.Lock()
	foreign := at[0] != nil && string(at[0]) != "null" && (c.id == "" || !wire.Is(at[0], c.id))
	t := c.turn
	c.mu.Unlock()
	switch take := handlers[m.Method]; {
	case foreign:
		c.unknown.Add(1) // of a thread that Codex opened beside ours
	case m.Method == "serverRequest/resolved":
		if t != nil {
			id := wire.Field(m.Params, "requestId")
			t.questions.Withdraw(id)
			t.calls.withdraw(id)
		}
	case warns[m.Method]:
		c.warned(m.Params, t)
	case m.Method == "turn/started" || m.Method == "turn/completed":
		c.bounds(m.Method == "turn/started", wire.Field(m.Params, "turn"), t)
	case take == nil:
		c.unknown.Add(1)
	case t == nil || !t.owns(at[1]):
		c.dropped.Add(1)
	default:
		t.mu.Lock()
		take(t, m.Params)
		t.mu.Unlock()
	}
}

// bounds takes the start or the end of a turn, ours or one that Codex began by itself.
func (c *conn) bounds(start bool, turn []byte, t *turn) {
	id := wire.Field(turn, "id")
	if t != nil && (t.owns(id) || start && t.adopts(id)) {
		if start {
			t.begun()
		} else {
			t.completed(turn)
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = ""
	if start {
		c.running, _ = wire.String(id)
	}
}

// warns are the notifications that tell a person something beside the conversation.
var warns = map[string]bool{"warning": true, "configWarning": true, "guardianWarning": true, "deprecationNotice": true}

// maxUnsaid bounds what is kept of them while no turn runs.
const maxUnsaid = 20

// warned takes such a word: into the running turn, else into the next one.
func (c *conn) warned(params []byte, t *turn) {
	text, ok := wire.String(wire.Field(params, "message"))
	if !ok {
		if text, ok = wire.String(wire.Field(params, "summary")); !ok {
			return
		}
	}
	if details, _ := wire.String(wire.Field(params, "details")); details != "" {
		text += ": " + details
	}
	if t != nil {
		t.notice(text)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unsaid) < maxUnsaid {
		c.unsaid = append(c.unsaid, text)
	}
}

// Request is called by the reader.
func (c *conn) Request(m *wire.Message, reply wire.Reply) bool {
	c.activity.Add(1)
	kind, known := approvals[m.Method]
	if !known && m.Method != toolCall {
		return false
	}
	var at [2][]byte
	wire.Pick(m.Params, routing, at[:])
	c.mu.Lock()
	t := c.turn
	ours := c.id != "" && wire.Is(at[0], c.id)
	c.mu.Unlock()
	if t != nil && (!ours || !t.owns(at[1])) {
		t = nil
	}
	switch {
	case !known:
		c.called(t, m, reply)
	case t == nil:
		kind.answer(m.Params, reply, no)
	default:
		t.asked(kind, m, reply)
	}
	return true
}

// silentLimit is how long a call may stay without any traffic.
const silentLimit = 60 * time.Second

// patiently makes a call and waits as long as anything comes.
func (c *conn) patiently(ctx context.Context, method string, params any) (json.RawMessage, error) {
	call, err := c.Wire.Start(method, params)
	if err != nil {
		return nil, err
	}
	return link.Patiently(ctx, call, silentLimit, &c.activity)
}
