package acp

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"xmd/agents/link"
	"xmd/agents/wire"
	"xmd/runtime"
)

// conn is one agent process with the one provider conversation it serves.
type conn struct {
	link.Link
	p      *Profile
	root   string
	env    []string // the agent's, to find its home
	shakes handshake
	notice func(string) // what a person should know while waiting; may be nil

	// mu guards what the reader looks at. A reader that waits for it delays only itself.
	mu      sync.Mutex
	id      string   // of the provider conversation; "" before Open
	noDoor  bool     // the agent said that it did not start the door
	loading *loading // between a load and its fence; nil otherwise
	turn    *turn

	settings  settings  // only Open and Configure use it
	equipment equipment // what Equip gave; read-only from Open on
	ready     readiness

	// What the process has cost and used so far, where its figures are sums; only Prompt uses them.
	spent float64
	total runtime.Usage

	activity atomic.Int64 // counts what came; a wait for silence looks at it
	unknown  atomic.Int64 // counts notifications that no part of the driver takes
	dropped  atomic.Int64 // counts updates that belong to no running turn
}

var (
	_ runtime.Connection         = (*conn)(nil)
	_ runtime.Holder             = (*conn)(nil)
	_ runtime.Ender              = (*conn)(nil)
	_ runtime.HandshakeVersioner = (*conn)(nil)
	_ runtime.Loader             = (*conn)(nil)
	_ runtime.Configurer         = (*conn)(nil)
	_ runtime.Recogniser         = (*conn)(nil)
	_ runtime.Equipper           = (*conn)(nil)
	_ wire.Handler               = (*conn)(nil)
)

// connect puts a connection on the agent's pipes and starts reading.
func connect(c *conn, stdout io.ReadCloser, stdin io.WriteCloser, trace func(string, []byte)) {
	c.ready.told = make(chan struct{})
	c.Connect(stdout, stdin, wire.Options{Handler: c}, trace)
}

// Notification is called by the reader.
func (c *conn) Notification(m *wire.Message) {
	c.activity.Add(1)
	switch m.Method {
	case "session/update":
		c.update(m.Params)
	case "_claude/sdkMessage":
		c.rawMessage(m.Params)
	case "$/cancel_request":
		c.withdraw(wire.Field(m.Params, "requestId"))
	default:
		if !c.replayedEnd(m) && !c.noteReady(m.Method) {
			c.unknown.Add(1)
		}
	}
}

// update gives a session/update to the load or the turn it belongs to; there is nobody else to show it to.
func (c *conn) update(params []byte) {
	var m [2][]byte
	wire.Pick(params, sessionMembers, m[:])
	u, ok := parseUpdate(m[1])
	if !ok {
		c.unknown.Add(1)
		return
	}
	c.mu.Lock()
	if c.id == "" || !isID(m[0], c.id) {
		c.mu.Unlock()
		c.unknown.Add(1)
		return
	}
	t := c.turn
	if c.loading != nil {
		c.loading.take(&u)
	}
	c.mu.Unlock()
	c.doorLost(u.raw)
	if t == nil || t.call.Answered() {
		c.dropped.Add(1)
		return
	}
	t.mu.Lock()
	t.deliver(&u)
	t.mu.Unlock()
}

// isID compares a JSON string with an id, which rarely needs decoding.
func isID(v []byte, id string) bool {
	if wire.Is(v, id) {
		return true
	}
	s, ok := wire.String(v)
	return ok && s == id
}

// rawMessage takes the id that Claude's CLI states in a turn. One that is not ours ends the turn.
func (c *conn) rawMessage(params []byte) {
	id, ok := wire.String(wire.Path(params, "message", "session_id"))
	c.mu.Lock()
	t, ours := c.turn, c.id
	c.mu.Unlock()
	if !ok || t == nil || t.call.Answered() || !isID(wire.Field(params, "sessionId"), ours) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sessionID != "" && t.sessionID != ours {
		return
	}
	t.sessionID = id
	if id != ours {
		close(t.foreign)
	}
}

// Request is called by the reader.
func (c *conn) Request(m *wire.Message, reply wire.Reply) bool {
	c.activity.Add(1)
	if m.Method != "session/request_permission" {
		return false
	}
	c.mu.Lock()
	t := c.turn
	ours := c.id != "" && isID(wire.Field(m.Params, "sessionId"), c.id)
	c.mu.Unlock()
	if t == nil || t.call.Answered() || !ours {
		refuse(m.Params, reply)
		return true
	}
	t.asked(m, reply)
	return true
}

// withdraw ends a question that the agent no longer wants answered.
func (c *conn) withdraw(id []byte) {
	c.mu.Lock()
	t := c.turn
	c.mu.Unlock()
	if t != nil {
		t.questions.Withdraw(id)
	}
}

// refuse answers a permission request that belongs to no running turn.
func refuse(params []byte, reply wire.Reply) {
	_, reject := onceOptions(wire.Field(params, "options"))
	answer(reject, reply)
}

// HandshakeVersion is the version initialize named, where it is that of the CLI.
func (c *conn) HandshakeVersion() string {
	if c.p.HandshakeVersion {
		return c.shakes.version
	}
	return ""
}

// CanLoad says whether initialize offered session/load.
func (c *conn) CanLoad() bool { return c.shakes.load }

// Recognises says whether the agent's history shows these words as a turn of the user's.
func (c *conn) Recognises(words string) bool { return c.p.Recognises(words) }

// Close ends the agent's process; see runtime.Connection.
func (c *conn) Close(ctx context.Context) error {
	err := c.Link.Close(ctx)
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	c.dropTwins(id)
	return err
}

// wireQuiet waits until nothing has come for d, or ctx ends.
func (c *conn) wireQuiet(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		seen := c.activity.Load()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		case <-c.Wire.Done():
			return
		}
		if c.activity.Load() == seen {
			return
		}
		timer.Reset(d)
	}
}

// handshake is what initialize told.
type handshake struct {
	version string
	load    bool
	list    bool
	told    json.RawMessage // the whole answer
	http    bool            // MCP servers by address
}

func parseHandshake(result json.RawMessage) (h handshake, protocol string) {
	protocol = string(wire.Field(result, "protocolVersion"))
	h.version, _ = wire.String(wire.Path(result, "agentInfo", "version"))
	if h.version == "" {
		h.version, _ = wire.String(wire.Path(result, "_meta", "agentVersion"))
	}
	capabilities := wire.Field(result, "agentCapabilities")
	h.load = string(wire.Field(capabilities, "loadSession")) == "true"
	h.http = string(wire.Path(capabilities, "mcpCapabilities", "http")) == "true"
	list := wire.Path(capabilities, "sessionCapabilities", "list")
	h.list = list != nil && string(list) != "null" && string(list) != "false"
	h.told = wire.Raw(result)
	return h, protocol
}
