package agenttest

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"xmd/agents/agenttest/model"
	"xmd/agents/door"
	"xmd/runtime"
)

// counter is a tool's server of the suite: a door of its own, and the calls that came through it.
type counter struct {
	pass runtime.Pass
	mu   sync.Mutex
	uses []runtime.ToolUse
}

const (
	theTool   = "submit"
	badValue  = "bad"
	badAnswer = "that value is refused"
)

// tools are those of a counter.
var tools = []runtime.Tool{{
	Name: theTool, Description: "Submit a value.",
	Schema: json.RawMessage(`{"type":"object","properties":{"value":{"type":"string"}},"required":["value"]}`),
}}

// newCounter opens a door with one tool. The test binary is its shim.
func newCounter(t testing.TB, instructions string) *counter {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := door.New(door.Options{Executable: self})
	c := &counter{}
	if c.pass, err = d.Admit(runtime.Admission{Tools: tools, Instructions: instructions, Call: c.call}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// call answers with the value it was given, and refuses one.
func (c *counter) call(_ context.Context, use runtime.ToolUse) runtime.ToolAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uses = append(c.uses, use)
	var args struct{ Value string }
	_ = json.Unmarshal(use.Args, &args) // valid against the schema
	if args.Value == badValue {
		return runtime.ToolAnswer{Text: badAnswer, Failed: true}
	}
	return runtime.ToolAnswer{Text: "received " + args.Value}
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.uses)
}

// gives is how a conversation is given its tools.
type gives uint8

const (
	byAddress gives = iota
	byCommand
	slowly // by address, and each answer comes late
	directly
)

// late is how late. An agent that does not wait for its servers has answered a prompt by then.
const late = 300 * time.Millisecond

// behind puts something slow before a server.
func behind(t testing.TB, s runtime.MCPServer) runtime.MCPServer {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host})
		r.Out.Host = to.Host
	}}
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(late): // it is what is tested: nothing waits for it
			pass.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(slow.Close)
	s.URL = slow.URL + to.Path
	return s
}

// equip gives the conversation a door, in that way, a foreign server with a tool of the same name, and instructions where the agent takes
// them.
func (l *line) equip(way gives, instructions string) (own, foreign *counter) {
	l.t.Helper()
	q, ok := l.Connection.(runtime.Equipper)
	if !ok {
		l.t.Skip("the agent cannot be given anything")
	}
	e, text := runtime.Equipment{}, ""
	switch l.info.Channel {
	case runtime.ChannelDoor:
		text = instructions
	case runtime.ChannelStart, runtime.ChannelEvery:
		e.Instructions = instructions
	}
	own, foreign = newCounter(l.t, text), newCounter(l.t, "")
	other := foreign.pass.Server()
	other.Name, other.Own = "other", false
	address, command := q.Takes()
	switch {
	case way == directly:
		e.Tools, e.Call = tools, own.call
	case way == byAddress && address:
		e.Servers, e.Listed = []runtime.MCPServer{own.pass.Server(), other}, own.pass.Listed()
	case way == slowly && address:
		e.Servers, e.Listed = []runtime.MCPServer{behind(l.t, own.pass.Server()), other}, own.pass.Listed()
	case way == byCommand && command:
		e.Servers, e.Listed = []runtime.MCPServer{own.pass.Shim(), other}, own.pass.Listed()
	default:
		NotRun(l.t, "it does not take servers in this way")
	}
	if err := q.Equip(e); err != nil {
		l.t.Fatal(err)
	}
	return own, foreign
}

// watched gives the target a model whose requests can be looked at.
func watched(t *testing.T, target Target) (Target, *model.Server) {
	t.Helper()
	if target.Model == nil {
		NotRun(t, "there is no model to look into")
	}
	server, err := model.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() }) // nobody is left to answer
	target.Model = func(testing.TB) string { return server.URL() }
	return target, server
}

// theLayer stands once in everything that reaches the model.
const theLayer = "Always think of the harbour of XMDHAVEN."

// instructions is the workflow's layer: it reaches the model with every turn, once, in this process and in the next.
func instructions(t *testing.T, target Target) {
	t.Run("at once", func(t *testing.T) {
		claim(t, target, colInstructions)
		instructed(t, target, byAddress)
	})
	t.Run("slowly", func(t *testing.T) { instructed(t, target, slowly) })
}

func instructed(t *testing.T, target Target, way gives) {
	target, server := watched(t, target)
	p := newPlace(t, target)
	l := p.start(t)
	if l.info.Channel == runtime.ChannelLead {
		NotRun(t, "it has no place for instructions: they lead the message")
	}
	l.equip(way, theLayer)
	id := l.open("").ID
	l.good("SAY one")
	l.good("SAY two")
	l.end()
	l = p.start(t)
	l.equip(way, theLayer)
	l.open(id)
	l.good("SAY three")
	l.end()
	all := server.Requests()
	if len(all) != 3 {
		t.Errorf("%d requests reached the model, want 3", len(all))
	}
	for i, r := range all {
		if n := strings.Count(string(r.Raw), theLayer); n != 1 {
			t.Errorf("request %d has the instructions %d times", i+1, n)
		}
	}
}

// doors is a tool of the workflow's, called by the agent, in each way in which it can be given one.
func doors(t *testing.T, target Target) {
	if target.Script.Call == nil {
		t.Skip("the target cannot be made to use a server")
	}
	t.Run("by address", func(t *testing.T) { doorTurns(t, target, byAddress) })
	t.Run("slowly", func(t *testing.T) { doorTurns(t, target, slowly) })
	t.Run("by command", func(t *testing.T) { doorTurns(t, target, byCommand) })
	t.Run("directly", func(t *testing.T) {
		if !target.At(t, newPlace(t, target).Place).Agent.Info().OwnTools {
			t.Skip("the agent takes tools from servers only")
		}
		doorTurns(t, target, directly)
	})
}

// doorTurns calls the tool in a new conversation and in a loaded one.
func doorTurns(t *testing.T, target Target, way gives) {
	p := newPlace(t, target)
	l := p.start(t)
	own, foreign := l.equip(way, "")
	id := l.open("").ID
	l.callsDoor(own, "v1", "received v1")
	l.callsDoor(own, badValue, badAnswer)
	if way != directly {
		l.callsForeign(foreign)
	}
	l.end()
	l = p.start(t)
	own, _ = l.equip(way, "")
	l.open(id)
	l.callsDoor(own, "v2", "received v2")
	l.end()
	p.none(t)
}

// callsDoor has the model call the tool: the call is told as the door's, asked for as such if at all, and what it returns reaches the
// model.
func (l *line) callsDoor(own *counter, value, want string) {
	l.t.Helper()
	before := own.count()
	h := l.prompt(l.p.target.Script.Call(runtime.DoorName, value), byIdentity)
	if h.Stop != "end_turn" || h.Failure != "" || h.Refused != 0 {
		l.t.Fatalf("%s: ended as %q, failure %q, %d refused of %+v", value, h.Stop, h.Failure, h.Refused, h.asked)
	}
	if n := own.count() - before; n != 1 {
		l.t.Errorf("%s: the tool was called %d times", value, n)
	}
	if !strings.Contains(h.answer(), want) {
		l.t.Errorf("%s: the model answers %q, want %q in it", value, h.answer(), want)
	}
	var known []string
	for _, tool := range h.tools {
		known = append(known, tool.Door)
	}
	if len(known) != 1 || known[0] != theTool {
		l.t.Errorf("%s: the calls are told as %q of the door's, want %q", value, known, theTool)
	}
}

// callsForeign has the model call a tool of the same name that another server has: nothing of it is the door's.
func (l *line) callsForeign(foreign *counter) {
	l.t.Helper()
	h := l.prompt(l.p.target.Script.Call("other", "v9"), byIdentity)
	if n := foreign.count(); n != 0 && len(h.asked) > 0 {
		l.t.Errorf("the foreign tool was called %d times though that was refused", n)
	}
	for _, tool := range h.tools {
		if tool.Door != "" {
			l.t.Errorf("a foreign tool is told as the door's: %+v", *tool)
		}
	}
	for _, asked := range h.asked {
		if asked.Request.Door != "" {
			l.t.Errorf("a foreign tool is asked for as the door's: %+v", asked.Request)
		}
	}
	if len(h.tools)+len(h.asked) == 0 {
		l.t.Errorf("the foreign tool was not even tried: %q", h.answer())
	}
}

// byIdentity allows what is the door's and nothing else.
func byIdentity(_ context.Context, r runtime.PermissionRequest) bool { return r.Door != "" }
