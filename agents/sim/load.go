package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// otherID is what the fault load-other-id states when it names no id.
const otherID = "0badc0de-0000-4000-8000-000000000000"

// load is session/load, and without replay session/resume.
func (a *agent) load(r request, replay bool) {
	a.crashAt("load")
	if a.faults.on("load-hangs") {
		return
	}
	var p struct {
		SessionID string `json:"sessionId"`
	}
	err := r.decode(&p)
	var s *session
	var items []item
	if err == nil {
		s, items, err = a.loadSession(r, p.SessionID)
	}
	if err != nil {
		a.conn.reply(r.id, nil, err)
		return
	}
	var updates []json.RawMessage
	if replay {
		updates = a.replay(items)
	}
	a.answerLoad(r, s, updates, a.loadResult(s, items))
}

// loadSession reads a session and opens it here, as the faults have it. items are what is to be replayed.
func (a *agent) loadSession(r request, id string) (*session, []item, *rpcError) {
	if err := a.refuseLoad(id); err != nil {
		return nil, nil, err
	}
	cwd, failure := a.cwd(r)
	if failure != nil {
		return nil, nil, failure
	}
	specs, failure := a.specs(r)
	if failure != nil {
		return nil, nil, failure
	}
	items, err := a.store.read(id)
	if err == nil && a.faults.on("minute-loses") && a.store.loseMinute(id) {
		err = errNoSession
	}
	switch {
	case errors.Is(err, errNoSession) && a.faults.on("load-unknown"):
		items = []item{{Type: "session", ID: id, Cwd: cwd}}
	case errors.Is(err, errNoSession):
		return nil, nil, a.missing(id)
	case err != nil:
		return nil, nil, internal(err)
	case a.faults.on("cwd-bound") && items[0].Cwd != cwd:
		return nil, nil, a.missing(id)
	}
	s, failure := a.reopen(id, cwd, items)
	if failure != nil {
		return nil, nil, failure
	}
	items, failure = a.distort(items, id)
	if failure != nil {
		return nil, nil, failure
	}
	s.remember(items)
	s.attach(specs)
	return s, items, nil
}

// refuseLoad gives the error of a fault that refuses every load.
func (a *agent) refuseLoad(id string) *rpcError {
	if err := a.signedOut("load"); err != nil {
		return err
	}
	a.mu.Lock()
	a.loads++
	nth := a.loads
	a.mu.Unlock()
	if a.faults.on("busy") && (a.faults["busy"] == "" || nth <= a.faults.number("busy", 0)) {
		return busyError(id)
	}
	if a.faults.on("load-missing") {
		return a.missing(id)
	}
	return a.faults.failure("load-error", rpcError{Code: -32603, Message: "Internal error", Data: object{"details": "no space left on device"}})
}

// missing says that there is no such session, in the way of the agent that the fault load-missing names.
func (a *agent) missing(id string) *rpcError {
	internally := func(details string) *rpcError {
		return &rpcError{Code: -32603, Message: "Internal error", Data: object{"details": details}}
	}
	switch a.faults.text("load-missing", missingShapes[0]) {
	case "codex":
		return internally("no rollout found for thread id " + id)
	case "gemini":
		return internally(fmt.Sprintf("Invalid session identifier %q.\n  Searched for sessions in %s", id, a.store.dir))
	case "gemini-empty":
		return internally("No previous sessions found for this project.")
	case "copilot":
		return &rpcError{Code: -32002, Message: "Resource not found: Session " + id + " not found", Data: object{"uri": id}}
	case "grok":
		return &rpcError{Code: -32603, Message: "Path not found.", Data: object{"detail": "No such file or directory (os error 2)", "code": "FS_NOT_FOUND"}}
	case "opencode":
		return &rpcError{Code: -32603, Message: "Internal error: OpenCode service failure", Data: object{"service": "session"}}
	default:
		return &rpcError{Code: -32002, Message: "Resource not found: " + id, Data: object{"uri": id}}
	}
}

// reopen makes the session object of a load. A session that is open here keeps its lock and its queue of prompts.
func (a *agent) reopen(id, cwd string, items []item) (*session, *rpcError) {
	a.mu.Lock()
	s := a.sessions[id]
	a.mu.Unlock()
	if s == nil {
		s = &session{agent: a, id: id}
		if err := s.takeLock(); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.cwd, s.mode = cwd, a.firstMode()
	s.durable = len(items) > 0 && items[0].Version > 0
	s.turn, s.rules = 0, map[string]int{}
	for _, it := range items {
		s.turn = max(s.turn, it.Turn)
		if it.Type == "rule" {
			s.rules[it.Rule]++
		}
	}
	s.mu.Unlock()
	a.add(s)
	return s, nil
}

// remember makes the user turns of items what the session knows; nothing, with the fault amnesia.
func (s *session) remember(items []item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = nil
	if s.agent.faults.on("amnesia") {
		return
	}
	for _, it := range items {
		if it.Type == "user" {
			s.heard = append(s.heard, blocksText(it.Content))
		}
	}
}

// distort applies the faults that change the history of a load.
func (a *agent) distort(items []item, id string) ([]item, *rpcError) {
	switch {
	case a.faults.on("other-history"):
		return a.otherSession(id)
	case a.faults.on("empty-history"):
		return items[:1], nil
	case a.faults.on("short-history"):
		keep := a.faults.number("short-history", 1)
		var kept []item
		for _, it := range items {
			if it.Turn <= keep {
				kept = append(kept, it)
			}
		}
		return kept, nil
	case a.faults.on("compacted"):
		return compact(items, 0), nil
	case a.faults.on("compact-keep"):
		return compact(items, a.faults.number("compact-keep", 1)), nil
	}
	return items, nil
}

// otherSession gives the newest session of the home that is not id.
func (a *agent) otherSession(id string) ([]item, *rpcError) {
	all, _, err := a.store.list("", "", 1<<30)
	if err != nil {
		return nil, internal(err)
	}
	for _, l := range all {
		if l.ID != id {
			items, err := a.store.read(l.ID)
			if err != nil {
				return nil, internal(err)
			}
			return items, nil
		}
	}
	return nil, &rpcError{Code: -32603, Message: "Internal error", Data: object{"details": "the fault other-history needs a second session"}}
}

// compact replaces all turns but the newest by one user turn that sums them up; it holds their words, as a model's summary would.
func compact(items []item, keep int) []item {
	last := 0
	for _, it := range items {
		last = max(last, it.Turn)
	}
	summary, turns := "", 0
	var kept []item
	for _, it := range items {
		switch {
		case it.Turn > last-keep:
			kept = append(kept, it)
		case it.Type == "user":
			turns++
			summary += "\n- " + title(blocksText(it.Content))
		}
	}
	words := fmt.Sprintf("This conversation goes on from an earlier one of %d turns. What was asked:%s", turns, summary)
	block := json.RawMessage(encode(textBlock(words)))
	return append([]item{items[0], {Type: "user", Turn: 1, MessageID: "summary", Content: []json.RawMessage{block}}}, kept...)
}

// loadResult is the answer to a load. A good agent's states no id: it has only the one it was asked for.
func (a *agent) loadResult(s *session, items []item) object {
	result := s.state()
	meta := object{}
	state := func(id string) { result["sessionId"] = id; meta["sessionId"] = id }
	if a.faults.on("load-id") {
		stored := items[0].ID // with other-history, the other's: what was really loaded
		if !a.faults.is("load-id", "meta") {
			result["sessionId"] = stored
		}
		if !a.faults.is("load-id", "result") {
			meta["sessionId"] = stored
		}
	}
	if a.faults.on("load-echo-id") {
		result["sessionId"] = s.id
	}
	if a.faults.on("load-other-id") {
		state(a.faults.text("load-other-id", otherID))
	}
	if len(meta) > 0 {
		result["_meta"] = meta
	}
	return result
}

// replay gives the updates that show a history.
func (a *agent) replay(items []item) []json.RawMessage {
	var updates []json.RawMessage
	add := func(update any) { updates = append(updates, encode(update)) }
	began := 0 // the turn of the newest user item
	if a.faults.on("noise-chunk") {
		add(a.noise())
	}
	for _, it := range items {
		switch it.Type {
		case "user":
			began = it.Turn
			for _, block := range it.Content {
				add(a.chunk("user_message_chunk", it.MessageID, block))
			}
		case "agent":
			add(a.chunk("agent_message_chunk", it.MessageID, textBlock(it.Text)))
		case "thought":
			add(a.chunk("agent_thought_chunk", it.MessageID, textBlock(it.Text)))
		case "tool", "plan":
			add(it.Update)
		case "end":
			if n := len(updates) - 1; n >= 0 && it.Turn == began && it.Stop == "end_turn" && a.faults.on("keeps-ends") {
				updates[n] = withMark(updates[n])
			}
		}
	}
	return updates
}

// withMark says in an update that its turn came to its normal end.
func withMark(update json.RawMessage) json.RawMessage {
	var members object
	if json.Unmarshal(update, &members) != nil {
		return update
	}
	members["_meta"] = object{"completed": true}
	return encode(members)
}

// chunk is one message update.
func (a *agent) chunk(kind, messageID string, content any) object {
	u := object{"sessionUpdate": kind, "content": content}
	if messageID != "" && !a.faults.on("no-messageid") {
		u["messageId"] = messageID
	}
	return u
}

// answerLoad writes the replay, the answer and the commands: the replay first, unless a fault says otherwise.
func (a *agent) answerLoad(r request, s *session, updates []json.RawMessage, result object) {
	before := len(updates)
	if a.faults.on("replay-after-answer") {
		before = min(1, before)
	}
	for _, u := range updates[:before] {
		if slow := a.faults.number("load-slow", 0); slow > 0 {
			select {
			case <-time.After(milliseconds(slow)):
			case <-a.ctx.Done():
			}
			a.conn.flush()
		}
		s.update(u, false)
	}
	a.conn.reply(r.id, result, nil)
	rest := func() {
		for _, u := range updates[before:] {
			s.update(u, false)
		}
		a.announceCommands(s.id)
		a.conn.flush()
	}
	wait := a.faults.number("replay-after-answer", 0)
	if wait == 0 {
		rest()
		return
	}
	if !a.begun() {
		return
	}
	go func() { // a prompt that does not wait for the rest gets it mixed into its answer
		defer a.turns.Done()
		select {
		case <-time.After(milliseconds(wait)):
			rest()
		case <-a.ctx.Done():
		}
	}()
}
