package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// pieceSize is how many characters of an answer go into one chunk.
const pieceSize = 64

// say streams text as part of the answer: in n chunks, or for 0 in chunks of pieceSize.
func (t *turn) say(text string, n int) error { return t.speak("agent", text, n) }

// think streams a thought.
func (t *turn) think(text string, n int) error { return t.speak("thought", text, n) }

func (t *turn) speak(kind, text string, n int) error {
	for _, piece := range pieces(text, n) {
		if err := context.Cause(t.ctx); err != nil {
			return err
		}
		t.openMessage(kind)
		t.said.WriteString(piece)
		if kind == "agent" {
			t.written += len(piece)
		}
		t.session.update(t.agent.chunk("agent_"+chunkKinds[kind], t.messageID(), textBlock(piece)), true)
		if err := t.afterFirst(); err != nil {
			return err
		}
	}
	return nil
}

var chunkKinds = map[string]string{"agent": "message_chunk", "thought": "thought_chunk"}

// afterFirst is the place of the faults that strike once something was said.
func (t *turn) afterFirst() error {
	t.crashAt("mid-turn")
	if t.agent.faults.is("silence", "mid") {
		return t.hang()
	}
	return nil
}

// openMessage begins a message, unless one of this kind is open.
func (t *turn) openMessage(kind string) {
	if t.kind == kind {
		return
	}
	t.closeMessage()
	t.kind = kind
	t.messages++
}

func (t *turn) messageID() string { return fmt.Sprintf("msg-%d-%d", t.number, t.messages) }

// closeMessage puts the open message into the history.
func (t *turn) closeMessage() {
	if t.kind == "" {
		return
	}
	t.record(item{Type: t.kind, MessageID: t.messageID(), Text: t.said.String()})
	t.kind = ""
	t.said.Reset()
}

// pieces cuts text into n parts of about the same number of characters, or for 0 into parts of pieceSize.
func pieces(text string, n int) []string {
	if text == "" {
		return nil
	}
	length := pieceSize
	if n > 0 {
		length = (utf8.RuneCountInString(text) + n - 1) / n
	}
	var parts []string
	for text != "" {
		end := 0
		for i := 0; i < length && end < len(text); i++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		parts = append(parts, text[:end])
		text = text[end:]
	}
	return parts
}

// repeat says the same piece n times, as fast as the pipe takes it.
func (t *turn) repeat(piece string, n int) error {
	if n == 0 {
		return nil
	}
	if err := t.say(piece, 1); err != nil {
		return err
	}
	line := encode(object{"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": t.session.id,
		"update": t.agent.chunk("agent_message_chunk", t.messageID(), textBlock(piece))}})
	for i := 1; i < n; i++ {
		if i%1024 == 0 && t.ctx.Err() != nil {
			break
		}
		t.agent.conn.write(line, false)
		t.said.WriteString(piece)
		t.written += len(piece)
	}
	t.agent.conn.flush()
	return context.Cause(t.ctx)
}

// unsigned sends a message chunk without a messageId. It is no part of the history.
func (t *turn) unsigned(text string) {
	t.session.update(t.agent.chunk("agent_message_chunk", "", textBlock(text)), true)
}

// wait lets time pass, unless the turn ends.
func (t *turn) wait(ms int) error {
	timer := time.NewTimer(milliseconds(ms))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	}
}

// planEntry is one entry of a plan update.
type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"` // pending, in_progress, completed
}

func (t *turn) plan(entries []planEntry) {
	t.show("plan", object{"sessionUpdate": "plan", "entries": entries})
}

// show sends an update and puts it into the history.
func (t *turn) show(kind string, update object) {
	t.closeMessage()
	raw := json.RawMessage(bytes.TrimSpace(encode(update)))
	t.record(item{Type: kind, Update: raw})
	t.session.update(raw, true)
}

// reportUsage sends a usage_update; a cost below zero is left out.
func (t *turn) reportUsage(used, size int, cost float64) {
	u := object{"sessionUpdate": "usage_update", "used": used, "size": size}
	if cost >= 0 {
		u["cost"] = object{"amount": cost, "currency": "USD"}
	}
	t.session.update(u, true)
}

// toolCall is one use of a tool.
type toolCall struct {
	kind, title string
	input       any // rawInput; nil: none
	diff        any // {path, oldText, newText}; nil: none
	output      string
	outcome     string // completed, failed, or none: no end is sent
	ask         bool
	meta        object // _meta of the call; nil: none
	// do does what the call says, once it is allowed, and gives output and outcome; nil: those above. id is the call's.
	do func(id string) (output string, failed bool)
}

// use runs a tool call: announced, asked for if need be, ended. It gives the kind of the option that a permission
// request was answered with, "cancelled", or "" if none was made. A refusal is no error unless it ends the turn.
func (t *turn) use(c toolCall) (string, error) {
	if err := context.Cause(t.ctx); err != nil {
		return "", err
	}
	t.tools++
	id := fmt.Sprintf("call-%d-%d", t.number, t.tools)
	call := object{"toolCallId": id, "title": c.title, "kind": c.kind, "status": "pending"}
	if c.input != nil {
		call["rawInput"] = c.input
	}
	if content := c.content(false); content != nil {
		call["content"] = content
	}
	if c.meta != nil {
		call["_meta"] = c.meta
	}
	announced := object{"sessionUpdate": "tool_call"}
	for k, v := range call {
		announced[k] = v
	}
	t.show("tool", announced)
	if err := t.afterFirst(); err != nil {
		return "", err
	}
	answer, err := t.mayUse(c, call)
	switch {
	case err != nil:
		t.endTool(id, "failed", object{"rawOutput": object{"message": "the turn was cancelled"}})
		return answer, err
	case answer != "" && !strings.HasPrefix(answer, "allow"):
		t.endTool(id, "failed", object{"rawOutput": object{"message": "permission to run this tool was refused"}})
		if answer == "cancelled" { // by the protocol this says that the turn was cancelled, not that the tool was refused
			return answer, endTurn{answer}
		}
		if t.agent.faults.on("reject-ends") {
			return answer, endTurn{t.agent.faults["reject-ends"]}
		}
		return answer, nil
	}
	if c.do != nil {
		var failed bool
		c.output, failed = c.do(id)
		c.outcome = map[bool]string{false: "completed", true: "failed"}[failed]
	}
	if c.outcome == "none" {
		return answer, nil
	}
	end := object{}
	if content := c.content(true); content != nil {
		end["content"] = content
	}
	if c.output != "" {
		end["rawOutput"] = object{"output": c.output}
	}
	t.endTool(id, c.outcome, end)
	return answer, nil
}

func (t *turn) endTool(id, status string, more object) {
	more["sessionUpdate"], more["toolCallId"], more["status"] = "tool_call_update", id, status
	t.show("tool", more)
}

// content is the diff, and at the end also the output, as ACP content; nil if there is neither.
func (c toolCall) content(ended bool) []any {
	var content []any
	if d, ok := c.diff.(map[string]any); ok {
		shown := object{"type": "diff"}
		for k, v := range d {
			shown[k] = v
		}
		content = append(content, shown)
	}
	if ended && c.output != "" {
		content = append(content, object{"type": "content", "content": textBlock(c.output)})
	}
	return content
}

// mayUse asks for permission where the call wants it, the mode is not auto, and no "always" was answered before.
func (t *turn) mayUse(c toolCall, call object) (string, error) {
	s := t.session
	s.mu.Lock()
	allowed, decided := s.always[c.kind]
	auto := s.mode == modeAuto
	s.mu.Unlock()
	switch {
	case !c.ask || auto:
		return "", nil
	case decided && allowed:
		return "allow_always", nil
	case decided:
		return "reject_always", nil
	}
	answer, err := t.ask(call)
	if err == nil && strings.HasSuffix(answer, "_always") {
		s.mu.Lock()
		if s.always == nil {
			s.always = map[string]bool{}
		}
		s.always[c.kind] = strings.HasPrefix(answer, "allow")
		s.mu.Unlock()
	}
	return answer, err
}

// ask sends session/request_permission and gives the kind of the option selected, or "cancelled". An answer that is
// an error or names no option of ours counts as cancelled.
func (t *turn) ask(call object) (string, error) {
	ctx := t.ctx
	if t.agent.faults.on("cancel-waits") {
		ctx = t.agent.ctx
	}
	f, err := t.agent.conn.call(ctx, "session/request_permission",
		object{"sessionId": t.session.id, "toolCall": call, "options": t.agent.permissionOptions()})
	if err == nil {
		err = context.Cause(t.ctx) // cancelled while the answer was on its way
	}
	if err != nil {
		return "cancelled", err
	}
	var p struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	_ = json.Unmarshal(f.Result, &p) // an error answer leaves it empty
	kind, ok := strings.CutPrefix(p.Outcome.OptionID, optionPrefix)
	if p.Outcome.Outcome != "selected" || !ok {
		return "cancelled", nil
	}
	return strings.ReplaceAll(kind, "-", "_"), nil
}

// optionPrefix makes an option's id unlike its kind: a client has to go by the kind.
const optionPrefix = "sim:"

func (a *agent) permissionOptions() []object {
	kinds := []string{"allow_once", "allow_always", "reject_once", "reject_always"}
	switch {
	case a.faults.on("permission-always-only"):
		kinds = []string{"allow_always", "reject_always"}
	case a.faults.on("permission-always-first"):
		kinds = []string{"allow_always", "allow_once", "reject_once"}
	}
	names := map[string]string{"allow_once": "Allow", "allow_always": "Always allow", "reject_once": "Reject", "reject_always": "Always reject"}
	var options []object
	for _, k := range kinds {
		options = append(options, object{"optionId": optionPrefix + strings.ReplaceAll(k, "_", "-"), "kind": k, "name": names[k]})
	}
	return options
}
