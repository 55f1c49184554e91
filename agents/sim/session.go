package sim

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// session is one conversation that this process has open.
type session struct {
	agent *agent
	id    string
	cwd   string

	mu      sync.Mutex
	mode    string
	model   string
	effort  string
	durable bool           // its file has been begun
	turn    int            // the number of the last turn in the file
	heard   []string       // the words of the user turns it remembers, oldest first
	rules   map[string]int // how often each rule of the script answered in it, earlier processes included
	always  map[string]bool
	running map[*turn]context.CancelCauseFunc // queued ones included
	last    <-chan struct{}                   // closed when the newest prompt has ended
	unlock  func()                            // the fault lock
	servers []*server                         // MCP servers of the client, connected
}

const (
	modeAsk  = "ask"
	modeAuto = "auto"
)

func (a *agent) firstMode() string {
	if a.faults.on("mode-auto") {
		return modeAuto
	}
	return modeAsk
}

// found begins the session's file. s.mu is held, or nobody else has s yet.
func (s *session) found() error {
	if s.durable {
		return nil
	}
	err := s.agent.store.append(s.id, item{Type: "session", Version: 1, ID: s.id, Cwd: s.cwd, Created: now()})
	if err == nil && s.agent.faults.on("minute-loses") {
		err = s.agent.store.noteMinute(s.id)
	}
	s.durable = err == nil
	return err
}

// takeLock takes the one writer's lock, with the fault lock only.
func (s *session) takeLock() *rpcError {
	if !s.agent.faults.on("lock") {
		return nil
	}
	release, err := s.agent.store.lock(s.id)
	if err != nil {
		return internal(err)
	}
	s.unlock = release
	return nil
}

func (s *session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unlock != nil {
		s.unlock()
		s.unlock = nil
	}
}

// dir is the working directory.
func (s *session) dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cwd
}

// state is what session/new, load and resume say of a session.
func (s *session) state() object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return object{"modes": s.modesLocked(), "configOptions": s.configLocked()}
}

func (s *session) modesLocked() object {
	return object{"currentModeId": s.mode, "availableModes": []object{
		{"id": modeAsk, "name": "Ask", "description": "asks before a tool that wants permission"},
		{"id": modeAuto, "name": "Auto", "description": "runs every tool without asking"},
	}}
}

func (s *session) configLocked() []object {
	return []object{
		{"id": "mode", "name": "Mode", "type": "select", "category": "mode", "currentValue": s.mode,
			"options": []object{{"value": modeAsk, "name": "Ask"}, {"value": modeAuto, "name": "Auto"}}},
		{"id": "model", "name": "Model", "type": "select", "category": "model", "currentValue": orFirst(s.model, models), "options": choices(models)},
		{"id": "effort", "name": "Effort", "type": "select", "category": "thought_level", "currentValue": orFirst(s.effort, efforts), "options": choices(efforts)},
	}
}

// What may be chosen beside the mode; the first is what a session has. It changes nothing but the answer to SETTINGS.
var (
	models  = []string{"small", "large"}
	efforts = []string{"low", "high"}
)

func orFirst(s string, list []string) string {
	if s == "" {
		return list[0]
	}
	return s
}

func choices(values []string) []object {
	list := make([]object, len(values))
	for i, v := range values {
		list[i] = object{"value": v, "name": v}
	}
	return list
}

// settings are what the session works with, as SETTINGS says them.
func (s *session) settings() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "mode " + s.mode + ", model " + orFirst(s.model, models) + ", effort " + orFirst(s.effort, efforts)
}

func (a *agent) setMode(r request) (any, *rpcError) {
	var p struct {
		ModeID string `json:"modeId"`
	}
	s, err := a.changeMode(r, &p, func() string { return p.ModeID })
	if err != nil {
		return nil, err
	}
	s.update(object{"sessionUpdate": "current_mode_update", "currentModeId": p.ModeID}, false)
	return object{}, nil
}

func (a *agent) setConfigOption(r request) (any, *rpcError) {
	var p struct {
		ConfigID string `json:"configId"`
		Value    string `json:"value"`
	}
	if err := r.decode(&p); err != nil {
		return nil, err
	}
	var s *session
	var err *rpcError
	switch p.ConfigID {
	case "model":
		s, err = a.choose(r, p.Value, models, func(s *session) *string { return &s.model })
	case "effort":
		s, err = a.choose(r, p.Value, efforts, func(s *session) *string { return &s.effort })
	default:
		s, err = a.changeMode(r, &p, func() string {
			if p.ConfigID != "mode" {
				return ""
			}
			return p.Value
		})
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return object{"configOptions": s.configLocked()}, nil
}

// choose sets the model or the effort of a session.
func (a *agent) choose(r request, value string, among []string, member func(*session) *string) (*session, *rpcError) {
	s, err := a.open(r)
	if err != nil {
		return nil, err
	}
	if a.faults.on("refuse-mode") || !slices.Contains(among, value) {
		return nil, invalidParams("invalid value %q", value)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	*member(s) = value
	return s, nil
}

// changeMode decodes the params into p and sets the mode that they then name.
func (a *agent) changeMode(r request, p any, name func() string) (*session, *rpcError) {
	s, err := a.open(r)
	if err != nil {
		return nil, err
	}
	if err := r.decode(p); err != nil {
		return nil, err
	}
	mode := name()
	if a.faults.on("refuse-mode") || mode != modeAsk && mode != modeAuto {
		return nil, invalidParams("invalid mode or option %q", mode)
	}
	s.mu.Lock()
	s.mode = mode
	s.mu.Unlock()
	if a.faults.on("mode-chunk") {
		s.update(object{"sessionUpdate": "agent_message_chunk", "content": textBlock("[MODE_UPDATE] " + mode)}, false)
	}
	return s, nil
}

// update sends one session/update of this session.
func (s *session) update(update any, flush bool) {
	s.agent.conn.notify("session/update", object{"sessionId": s.id, "update": update}, flush)
}

func textBlock(text string) object { return object{"type": "text", "text": text} }

// close forgets the session in this process; its file stays.
func (a *agent) close(r request) (any, *rpcError) {
	s, err := a.open(r)
	if err != nil {
		return nil, err
	}
	s.cancelAll(errCancelled)
	s.release()
	s.detach()
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, s.id)
	return object{}, nil
}

// delete removes a session and its file, open or not.
func (a *agent) delete(r request) (any, *rpcError) {
	var p struct {
		SessionID string `json:"sessionId"`
	}
	if err := r.decode(&p); err != nil {
		return nil, err
	}
	_, _ = a.close(r) // not open is fine
	if err := a.store.remove(p.SessionID); errors.Is(err, errNoSession) {
		return nil, a.missing(p.SessionID)
	} else if err != nil {
		return nil, internal(err)
	}
	return object{}, nil
}

// cancel is the notification session/cancel: it ends the running prompt of the session and those behind it.
func (a *agent) cancel(r request) {
	s, err := a.open(r)
	if err == nil && !a.faults.on("cancel-ignored") {
		s.cancelAll(errCancelled)
	}
}

func (s *session) cancelAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.running {
		cancel(cause)
	}
}

// list is session/list: pages of 50.
func (a *agent) list(r request) (any, *rpcError) {
	if err := a.faults.failure("list-error", rpcError{Code: -32603, Message: "Internal error", Data: object{"details": "the simulated list is out of order"}}); err != nil {
		return nil, err
	}
	var p struct {
		Cwd    string `json:"cwd"`
		Cursor string `json:"cursor"`
	}
	if err := r.decode(&p); err != nil {
		return nil, err
	}
	page := 50
	if a.faults.on("list-page") {
		page = max(1, a.faults.number("list-page", 1))
	}
	sessions, next, err := a.store.list(p.Cwd, p.Cursor, page)
	if err != nil {
		return nil, internal(err)
	}
	result := object{"sessions": a.omit(sessions)}
	if next != "" {
		result["nextCursor"] = next
	}
	return result, nil
}

// omit applies the fault list-omits.
func (a *agent) omit(sessions []listed) []listed {
	if !a.faults.on("list-omits") {
		return sessions
	}
	kept := []listed{}
	for _, s := range sessions {
		if hidden := a.faults["list-omits"]; hidden != "" && s.ID != hidden {
			kept = append(kept, s)
		}
	}
	return kept
}
