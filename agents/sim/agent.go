package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

var (
	errGone      = errors.New("the client is gone")
	errCancelled = errors.New("cancelled by the client")
)

// agent is the running program. The reader goroutine calls handle; each prompt runs in a goroutine of its own.
type agent struct {
	conn   *conn
	faults faults
	store  store
	home   string
	rules  *script // nil: no script
	stdout io.Writer
	stderr io.Writer

	ctx  context.Context // of all turns
	end  context.CancelCauseFunc
	exit chan int      // the first code sent ends the process
	gone chan struct{} // closed when stdout failed

	turns   sync.WaitGroup // goroutines of turns; joined only through begun
	prompts int            // session/prompt calls so far; the reader's alone

	mu       sync.Mutex
	closing  bool // no more turns begin
	ready    bool // initialize was answered
	sessions map[string]*session
	loads    int // session/load calls so far
}

func newAgent(ctx context.Context, o options, rules *script, stdout, stderr io.Writer) *agent {
	a := &agent{
		faults: o.faults, home: o.home, store: store{filepath.Join(o.home, "sessions")}, rules: rules,
		stdout: stdout, stderr: stderr,
		exit: make(chan int, 1), gone: make(chan struct{}), sessions: map[string]*session{},
	}
	a.ctx, a.end = context.WithCancelCause(ctx)
	a.conn = newConn(stdout, o.faults, func() { close(a.gone) })
	return a
}

// request is one request of the client.
type request struct {
	id     json.RawMessage
	params json.RawMessage
}

// decode fills into from the params; what they lack stays zero.
func (r request) decode(into any) *rpcError {
	if len(r.params) == 0 {
		return nil
	}
	if err := json.Unmarshal(r.params, into); err != nil {
		return invalidParams("%v", err)
	}
	return nil
}

// answers are the methods that answer at once. session/load, session/new and session/prompt are apart: more follows.
var answers = map[string]func(*agent, request) (any, *rpcError){
	"authenticate":              (*agent).authenticate,
	"session/list":              (*agent).list,
	"session/close":             (*agent).close,
	"session/delete":            (*agent).delete,
	"session/set_mode":          (*agent).setMode,
	"session/set_config_option": (*agent).setConfigOption,
}

// unansweredCalls are the words of the fault unanswered.
var unansweredCalls = map[string]string{"initialize": "initialize", "session/new": "new", "session/set_mode": "mode", "session/list": "list"}

// unanswered says whether the fault of that name swallows a call.
func (a *agent) unanswered(method string) bool {
	return a.faults.is("unanswered", unansweredCalls[method])
}

// handle takes one frame, in wire order.
func (a *agent) handle(f frame) {
	r := request{f.ID, f.Params}
	notification := len(f.ID) == 0 || string(f.ID) == "null"
	switch {
	case f.Method == "":
		a.conn.answered(f)
	case f.Method == "session/cancel":
		a.cancel(r)
	case notification: // none other is ours
	case a.unanswered(f.Method):
	case f.Method == "initialize":
		a.initialize(r)
	case !a.isReady():
		a.conn.reply(r.id, nil, &rpcError{Code: -32600, Message: "Not initialized"})
	case f.Method == "session/new":
		a.newSession(r)
	case f.Method == "session/load" && !a.faults.on("no-load"):
		a.load(r, true)
	case f.Method == "session/resume" && !a.faults.on("no-load") && !a.faults.on("no-resume"):
		a.load(r, false)
	case f.Method == "session/prompt":
		a.prompt(r)
	case answers[f.Method] != nil && !(f.Method == "session/list" && a.faults.on("no-list")):
		result, err := answers[f.Method](a, r)
		a.conn.reply(r.id, result, err)
	default:
		a.conn.reply(r.id, nil, &rpcError{Code: -32601, Message: "Method not found: " + f.Method, Data: object{"method": f.Method}})
	}
}

func (a *agent) isReady() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ready
}

// begun counts a new turn in; false if the agent is ending.
func (a *agent) begun() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closing {
		a.turns.Add(1)
	}
	return !a.closing
}

// quit ends the process from any goroutine: nothing more is written, and the calling goroutine ends here.
func (a *agent) quit(code int) {
	a.conn.silenced.Store(true)
	select {
	case a.exit <- code:
	default: // another was first
	}
	runtime.Goexit()
}

func (a *agent) crashAt(point string) {
	if a.faults.is("crash", point) {
		a.quit(crashCode)
	}
}

// crashIn is crashAt for the nth prompt of the process.
func (a *agent) crashIn(nth int, point string) {
	if !a.faults.on("crash-turn") || nth == a.faults.number("crash-turn", 2) {
		a.crashAt(point)
	}
}

// initialize always offers version 1, the one there is here.
func (a *agent) initialize(r request) {
	a.crashAt("initialize")
	if a.faults.on("slow-start") {
		select {
		case <-time.After(milliseconds(a.faults.number("slow-start", 0))):
		case <-a.ctx.Done():
		}
	}
	version := Version
	if v, ok := a.faults["version"]; ok {
		version = v
	}
	sessions := object{"close": object{}, "delete": object{}, "list": object{}, "resume": object{}}
	if a.faults.on("no-list") {
		delete(sessions, "list")
	}
	if a.faults.on("no-load") || a.faults.on("no-resume") {
		delete(sessions, "resume")
	}
	result := object{
		"protocolVersion": 1,
		"agentInfo":       object{"name": "xmd-sim", "title": "Sim", "version": version},
		"agentCapabilities": object{
			"loadSession":         !a.faults.on("no-load"),
			"promptCapabilities":  object{"embeddedContext": true, "image": true},
			"mcpCapabilities":     object{"http": !a.faults.on("no-mcp-http"), "sse": false},
			"sessionCapabilities": sessions,
		},
		"authMethods": a.authMethods(),
	}
	if a.faults.on("no-agent-info") {
		delete(result, "agentInfo")
		result["_meta"] = object{"agentVersion": version}
	}
	a.mu.Lock()
	a.ready = true
	a.mu.Unlock()
	a.conn.reply(r.id, result, nil)
}

func (a *agent) authMethods() []object {
	if !a.faults.on("auth") {
		return []object{}
	}
	return []object{{"id": "sim-login", "name": "Sign in to the scripted agent"}}
}

func (a *agent) authenticate(r request) (any, *rpcError) {
	var p struct {
		MethodID string `json:"methodId"`
	}
	if err := r.decode(&p); err != nil {
		return nil, err
	}
	if !a.faults.on("auth") || p.MethodID != "sim-login" {
		return nil, invalidParams("unknown auth method %q", p.MethodID)
	}
	return object{}, nil
}

// signedOut gives the error of the fault auth at this call, or nil.
func (a *agent) signedOut(call string) *rpcError {
	if !a.faults.is("auth", call) {
		return nil
	}
	return &rpcError{Code: -32000, Message: "Authentication required"}
}

// newSession makes a session that is durable from its first prompt on.
func (a *agent) newSession(r request) {
	a.crashAt("new")
	s, err := a.makeSession(r)
	if err != nil {
		a.conn.reply(r.id, nil, err)
		return
	}
	result := s.state()
	result["sessionId"] = s.id
	a.conn.reply(r.id, result, nil)
	a.announceCommands(s.id)
}

func (a *agent) makeSession(r request) (*session, *rpcError) {
	if err := a.signedOut("new"); err != nil {
		return nil, err
	}
	if err := a.faults.failure("new-error", rpcError{Code: -32603, Message: "Internal error", Data: object{"details": "the simulated agent cannot make a session"}}); err != nil {
		return nil, err
	}
	cwd, err := a.cwd(r)
	if err != nil {
		return nil, err
	}
	s := &session{agent: a, id: newID(), cwd: cwd, mode: a.firstMode(), rules: map[string]int{}}
	specs, err := a.specs(r)
	if err != nil {
		return nil, err
	}
	if err := s.takeLock(); err != nil {
		return nil, err
	}
	s.attach(specs)
	if a.faults.on("durable-new") {
		if err := s.found(); err != nil {
			return nil, internal(err)
		}
	}
	a.add(s)
	return s, nil
}

func internal(err error) *rpcError {
	var e *rpcError
	if errors.As(err, &e) {
		return e
	}
	return &rpcError{Code: -32603, Message: "Internal error", Data: object{"details": err.Error()}}
}

// cwd is the working directory of a new or loaded session: absolute, and there.
func (a *agent) cwd(r request) (string, *rpcError) {
	var p struct {
		Cwd string `json:"cwd"`
	}
	if err := r.decode(&p); err != nil {
		return "", err
	}
	if !filepath.IsAbs(p.Cwd) {
		return "", invalidParams("cwd is not an absolute path: %q", p.Cwd)
	}
	if info, err := os.Stat(p.Cwd); err != nil || !info.IsDir() {
		return "", invalidParams("cwd is no directory: %q", p.Cwd)
	}
	return p.Cwd, nil
}

func (a *agent) add(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions[s.id] = s
}

// open gives the session of the params, if this process has it open.
func (a *agent) open(r request) (*session, *rpcError) {
	var p struct {
		SessionID string `json:"sessionId"`
	}
	if err := r.decode(&p); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[p.SessionID]; s != nil {
		return s, nil
	}
	return nil, invalidParams("session not found: %s", p.SessionID)
}

func (a *agent) announceCommands(id string) {
	if !a.faults.on("no-commands") {
		a.conn.notify("session/update", object{"sessionId": id, "update": object{
			"sessionUpdate": "available_commands_update", "availableCommands": []object{}}}, true)
	}
}

func (a *agent) note(format string, args ...any) {
	fmt.Fprintf(a.stderr, "xmd sim: "+format+"\n", args...)
}
