package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// turn is one prompt and all that is done for it. Its methods are called by its own goroutine only.
type turn struct {
	agent   *agent
	session *session
	ctx     context.Context // ends with session/cancel, with errCancelled as the cause
	request request
	nth     int // of the prompts of the process, from 1

	number int
	blocks []json.RawMessage
	words  string // the text of the blocks

	answer   *rule // the script's, or nil
	captures map[string]any

	messages int // messages begun
	tools    int
	kind     string          // of the message that is open: agent or thought; "" none
	said     strings.Builder // its text so far
	written  int             // bytes of answer text in this turn
	usage    object          // what <Usage> says of input and output tokens
}

// endTurn is an error that ends a turn well, with this stop reason.
type endTurn struct{ reason string }

func (e endTurn) Error() string { return "the turn ends: " + e.reason }

// prompt is session/prompt. Prompts of one session wait for each other.
func (a *agent) prompt(r request) {
	a.prompts++
	a.crashIn(a.prompts, "prompt")
	var p struct {
		Prompt []json.RawMessage `json:"prompt"`
	}
	s, err := a.open(r)
	if err == nil {
		err = a.signedOut("prompt")
	}
	if err == nil {
		err = r.decode(&p)
	}
	if err == nil {
		err = a.faults.failure("prompt-error", rpcError{Code: -32603, Message: "Internal error", Data: object{"details": "the simulated model is overloaded"}})
	}
	if err != nil {
		a.conn.reply(r.id, nil, err)
		return
	}
	if !a.begun() {
		return
	}
	t := &turn{agent: a, session: s, request: r, nth: a.prompts, blocks: p.Prompt, words: blocksText(p.Prompt)}
	ctx, cancel := context.WithCancelCause(a.ctx)
	t.ctx = ctx
	done := make(chan struct{})
	s.mu.Lock()
	before := s.last
	s.last = done
	if s.running == nil {
		s.running = map[*turn]context.CancelCauseFunc{}
	}
	s.running[t] = cancel
	s.mu.Unlock()
	go func() {
		defer a.turns.Done()
		defer close(done)
		defer cancel(nil)
		if before != nil {
			<-before
		}
		t.run()
	}()
}

// run does the turn and answers the prompt.
func (t *turn) run() {
	err := t.begin()
	if err == nil {
		t.crashAt("stored")
		err = t.reply()
	}
	t.closeMessage()
	if err == nil {
		t.crashAt("said")
	}
	if cause := context.Cause(t.ctx); errors.Is(cause, errGone) || cause != nil && t.agent.ctx.Err() != nil {
		return // nobody is there to be answered
	}
	t.session.mu.Lock()
	delete(t.session.running, t)
	t.session.mu.Unlock()
	t.finish(err)
}

func (t *turn) crashAt(point string) { t.agent.crashIn(t.nth, point) }

// begin records the words: from here on they are in the history.
func (t *turn) begin() error {
	s := t.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := context.Cause(t.ctx); err != nil {
		return err // cancelled while it was queued: never accepted
	}
	s.turn++
	t.number = s.turn
	t.answer, t.captures = t.agent.rules.match(t.texts(), s.rules)
	items := []item{{Type: "user", Turn: t.number, MessageID: fmt.Sprintf("user-%d", t.number), Content: t.blocks}}
	if t.answer != nil {
		s.rules[t.answer.name]++
		items = append(items, item{Type: "rule", Turn: t.number, Rule: t.answer.name})
	} else if t.agent.rules != nil {
		t.agent.note("no WhenPrompt matches %q: answered as without a script", title(t.words))
	}
	if err := s.found(); err != nil {
		return err
	}
	return t.agent.store.append(s.id, items...)
}

// reply streams the answer.
func (t *turn) reply() error {
	if t.agent.faults.is("silence", "start") {
		return t.hang()
	}
	if err := t.disturb(); err != nil {
		return err
	}
	var err error
	switch {
	case t.agent.faults.on("error-as-end-turn"):
		t.unsigned(t.agent.faults.text("error-as-end-turn", "Error: the simulated model could not be reached"))
	case t.answer != nil:
		err = t.answer.play(t)
	default:
		err = t.builtIn()
	}
	if err == nil {
		t.closeMessage()
		t.crashAt("mid-turn") // nothing was said: this is the last point inside the turn
	}
	if failure := t.agent.faults.failure("late-error", rpcError{Code: -32603, Message: "Internal error", Data: object{"details": "the simulated model failed"}}); err == nil && failure != nil {
		return failure
	}
	return err
}

// finish answers the prompt with how it ended, and remembers it.
func (t *turn) finish(err error) {
	stop := "end_turn"
	var failure *rpcError
	var end endTurn
	switch {
	case err == nil:
		stop = t.agent.faults.text("stop-reason", stop)
	case errors.Is(err, errCancelled):
		stop = "cancelled"
		if t.agent.faults.on("cancel-hangs") {
			<-t.agent.ctx.Done()
			return
		}
	case errors.As(err, &end):
		stop = end.reason
	default:
		failure, stop = internal(err), "error"
	}
	if t.number > 0 {
		t.remember(t.endAs(stop))
	}
	t.crashAt("ended")
	if t.agent.faults.on("junk") {
		t.agent.junk()
	}
	if t.agent.faults.on("system-error") {
		t.session.update(object{"sessionUpdate": "session_info_update", "_meta": object{"codex": object{"threadStatus": object{"type": "systemError"}}}}, false)
	}
	if failure != nil {
		t.agent.conn.reply(t.request.id, nil, failure)
	} else {
		t.agent.conn.reply(t.request.id, t.result(stop), nil)
	}
	t.crashAt("after-answer")
	t.lateUpdate()
}

// endAs is the end that is kept: an agent that dresses a failure up as a normal end knows better.
func (t *turn) endAs(stop string) string {
	if t.agent.faults.on("error-as-end-turn") || t.agent.faults.on("system-error") {
		return "error"
	}
	return stop
}

// remember makes the turn part of what the session knows, and writes its end.
func (t *turn) remember(stop string) {
	t.session.mu.Lock()
	t.session.heard = append(t.session.heard, t.words)
	t.session.mu.Unlock()
	t.record(item{Type: "end", Stop: stop})
}

func (t *turn) result(stop string) object {
	result := object{"stopReason": stop}
	if !t.agent.faults.on("error-as-end-turn") {
		result["usage"] = t.tokens()
	}
	meta := object{}
	if t.agent.faults.on("turn-id") {
		meta["sessionId"] = t.agent.faults.text("turn-id", t.session.id)
		result["_meta"] = meta
	}
	if t.agent.faults.on("big-result") {
		meta["padding"], result["_meta"] = "", meta
		line := encode(object{"jsonrpc": "2.0", "id": t.request.id, "result": result})
		meta["padding"] = strings.Repeat("x", max(0, t.agent.faults.number("big-result", 0)-len(line)+1))
	}
	return result
}

// tokens is the usage of the turn: a token for each four bytes, begun ones counted, unless the script says otherwise.
func (t *turn) tokens() object {
	in, out := (len(t.words)+3)/4, (t.written+3)/4
	if n, ok := t.usage["input"].(int); ok {
		in = n
	}
	if n, ok := t.usage["output"].(int); ok {
		out = n
	}
	return object{"inputTokens": in, "outputTokens": out, "totalTokens": in + out}
}

func (t *turn) lateUpdate() {
	switch {
	case t.agent.faults.is("late-update", "info"):
		t.session.update(object{"sessionUpdate": "session_info_update", "title": title(t.words)}, true)
	case t.agent.faults.is("late-update", "chunk"):
		t.session.update(t.agent.chunk("agent_message_chunk", "late", textBlock("(too late)")), true)
	}
}

// hang waits for the end of the turn, which only a cancel or the end of the program brings.
func (t *turn) hang() error {
	<-t.ctx.Done()
	return context.Cause(t.ctx)
}

// record appends items of this turn to the session's file.
func (t *turn) record(items ...item) {
	for i := range items {
		items[i].Turn = t.number
	}
	if err := t.agent.store.append(t.session.id, items...); err != nil {
		t.agent.note("session %s: %v", t.session.id, err)
	}
}

// blocksText is the text of a prompt: its text blocks and the text of embedded resources, a line end between blocks.
func blocksText(blocks []json.RawMessage) string { return strings.Join(blockTexts(blocks), "\n") }

func blockTexts(blocks []json.RawMessage) []string {
	var texts []string
	for _, raw := range blocks {
		var b struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			Resource struct {
				Text string `json:"text"`
			} `json:"resource"`
		}
		if json.Unmarshal(raw, &b) != nil {
			continue
		}
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "resource":
			texts = append(texts, b.Resource.Text)
		}
	}
	return texts
}

// ahead are the blocks that xmd puts in front of the words of a prompt.
var ahead = []string{"</earlier-conversation>\n\n", "</workflow-instructions>\n\n"}

// texts is what a rule or command is looked for in: the whole prompt, then its last block, before which a client may
// have put instructions or a handoff.
func (t *turn) texts() []string {
	texts := []string{t.words}
	if blocks := blockTexts(t.blocks); len(blocks) > 1 {
		texts = append(texts, blocks[len(blocks)-1])
	}
	last := texts[len(texts)-1]
	for _, end := range ahead {
		if at := strings.LastIndex(last, end); at >= 0 && strings.HasPrefix(last, "<") {
			last = last[at+len(end):]
			texts = append(texts, last)
		}
	}
	return texts
}
