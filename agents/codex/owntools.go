package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"xmd/agents/wire"
	"xmd/lang/expr"
	"xmd/lang/schema"
	"xmd/runtime"
)

// ownTools are the tools that Codex was told directly, and what answers their calls. Read-only once made.
type ownTools struct {
	schemas map[string]*schema.Schema
	call    func(context.Context, runtime.ToolUse) runtime.ToolAnswer
}

func ownToolsOf(e runtime.Equipment) (ownTools, error) {
	own := ownTools{schemas: map[string]*schema.Schema{}, call: e.Call}
	for _, t := range e.Tools {
		v, err := expr.ParseJSON(string(schemaOf(t)))
		if err != nil {
			return own, fmt.Errorf("the schema of %s: %w", t.Name, err)
		}
		s, faults := schema.Compile(v)
		if s == nil {
			return own, fmt.Errorf("the schema of %s: %s", t.Name, faults[0])
		}
		own.schemas[t.Name] = s
	}
	return own, nil
}

// has says whether a call without a namespace, by that name, is one of these.
func (o ownTools) has(namespace, tool string) bool { return namespace == "" && o.schemas[tool] != nil }

// answer carries out one call. What is wrong with it is told to the model.
func (o ownTools) answer(ctx context.Context, namespace string, use runtime.ToolUse) runtime.ToolAnswer {
	if !o.has(namespace, use.Name) || o.call == nil {
		return runtime.ToolAnswer{Text: "there is no tool " + strings.TrimPrefix(namespace+"."+use.Name, "."), Failed: true}
	}
	args, err := expr.ParseJSON(string(use.Args))
	if err != nil {
		return runtime.ToolAnswer{Text: "the arguments are not JSON: " + err.Error(), Failed: true}
	}
	if faults := o.schemas[use.Name].Validate(args); len(faults) > 0 {
		return runtime.ToolAnswer{Text: "the arguments do not fit the tool: " + faults[0].String(), Failed: true}
	}
	return o.call(ctx, use)
}

// calls are the calls of such tools that a turn waits for. The zero value is ready; it is safe for concurrent use.
type calls struct {
	mu      sync.Mutex
	running map[string]context.CancelFunc // by the id of Codex's request
	closed  bool
	idle    sync.WaitGroup
}

// begin notes a call and makes its context; false: the turn is over.
func (c *calls) begin(id json.RawMessage) (context.Context, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false
	}
	ctx, cancel := context.WithCancel(context.Background())
	if c.running == nil {
		c.running = map[string]context.CancelFunc{}
	}
	c.running[string(id)] = cancel
	c.idle.Add(1)
	return ctx, true
}

// withdraw ends the call of that request, which Codex does not wait for any more, or which has been answered.
func (c *calls) withdraw(id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[string(id)]; cancel != nil {
		cancel()
		delete(c.running, string(id))
	}
}

// end ends all of them and waits until they have answered; later ones are not begun.
func (c *calls) end() {
	c.mu.Lock()
	c.closed = true
	for _, cancel := range c.running {
		cancel()
	}
	c.mu.Unlock()
	c.idle.Wait()
}

// toolCall is the method with which Codex has a tool of this side carried out.
const toolCall = "item/tool/call"

// called takes a call of one of the workflow's tools on the reader. t is nil when it belongs to no running turn.
func (c *conn) called(t *turn, m *wire.Message, reply wire.Reply) {
	var p struct {
		Namespace string          `json:"namespace"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(m.Params, &p) // what does not fit stays empty, and is no tool
	if t == nil {
		answerCall(reply, runtime.ToolAnswer{Text: "no turn of this conversation runs", Failed: true})
		return
	}
	ctx, ok := t.calls.begin(m.ID)
	if !ok {
		answerCall(reply, runtime.ToolAnswer{Text: "the turn was ended", Failed: true})
		return
	}
	own := c.equipment.own
	go func() {
		defer t.calls.idle.Done()
		a := own.answer(ctx, p.Namespace, runtime.ToolUse{Name: p.Tool, Args: p.Arguments})
		t.calls.withdraw(m.ID)
		answerCall(reply, a)
	}()
}

// answerCall sends what a tool returned. Nothing but the text tells the model of a failure.
func answerCall(reply wire.Reply, a runtime.ToolAnswer) {
	if a.Failed {
		a.Text = "error: " + a.Text
	}
	_ = reply(struct { // a connection that has ended fails the turn itself
		ContentItems []textInput `json:"contentItems"`
		Success      bool        `json:"success"`
	}{[]textInput{{"inputText", a.Text}}, !a.Failed}, nil)
}
