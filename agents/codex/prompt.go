package codex

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"xmd/agents/link"
	"xmd/agents/wire"
	"xmd/runtime"
)

type textInput struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type contextEntry struct {
	Value string `json:"value"`
	Kind  string `json:"kind"`
}

// turnParams are those of turn/start. What is not given stays as it is in the thread.
type turnParams struct {
	ThreadID          string                  `json:"threadId"`
	Input             []textInput             `json:"input"`
	AdditionalContext map[string]contextEntry `json:"additionalContext,omitempty"`
	OutputSchema      json.RawMessage         `json:"outputSchema,omitempty"`
	overrides
}

// contextName is the tag in which Codex's model sees what Inform was given.
const contextName = "xmd"

// Inform gives the next turn something of the workflow's own to know; see runtime.Informer.
func (c *conn) Inform(text string) { c.informs = text }

// Prompt sends one turn; see runtime.Connection.
func (c *conn) Prompt(ctx context.Context, req runtime.Turn) (runtime.TurnResult, error) {
	if ctx.Err() != nil {
		return runtime.TurnResult{}, c.Cancelled(ctx)
	}
	t, err := c.begin(req)
	if err != nil {
		return runtime.TurnResult{}, err
	}
	defer c.finish(t)
	answered := t.call.Done()
	for {
		select {
		case <-t.done:
			return c.outcome(t)
		case <-answered:
			answered = nil
			if err := t.startError(); err != nil {
				return c.notStarted(t, err)
			}
		case <-c.Wire.Done():
			return c.gone(t)
		case <-ctx.Done():
			return c.cancel(t)
		}
	}
}

// begin makes the turn known to the reader and sends the words. A turn that runs would take them in.
func (c *conn) begin(req runtime.Turn) (*turn, error) {
	t := &turn{sink: req.Sink, ask: req.Ask, started: make(chan struct{}), done: make(chan struct{}), door: c.equipment.door, own: c.equipment.own}
	p := turnParams{Input: []textInput{{"text", req.Words}}}
	if strict(req.Schema) {
		p.OutputSchema = req.Schema
	}
	if c.informs != "" {
		p.AdditionalContext = map[string]contextEntry{contextName: {c.informs, "application"}}
	}
	p.overrides, t.chosen = c.settings.overrides()
	c.mu.Lock()
	defer c.mu.Unlock() // the reader must not see the first update before it knows of the turn
	if c.running != "" || c.late {
		return nil, c.FailRetryable(runtime.KindBusy, "%s still works on another turn of this conversation; nothing was sent", c.Info.Shown)
	}
	p.ThreadID = c.id
	call, err := c.Wire.Start("turn/start", p)
	if err != nil {
		return nil, c.FailRetryable(runtime.KindFailed, "%s is not running any more, nothing was sent: %w", c.Info.Shown, c.Reason(err))
	}
	t.call, t.before = call, c.total
	t.unsaid, c.unsaid = c.unsaid, nil
	c.turn = t
	return t, nil
}

// finish forgets the turn when everything about it is over.
func (c *conn) finish(t *turn) {
	c.mu.Lock()
	if c.turn == t {
		c.turn = nil
	}
	c.mu.Unlock()
	t.questions.End()
	t.calls.end()
	if t.call.Answered() && t.startError() == nil {
		c.settings.applied, c.informs = t.chosen, ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told {
		c.mu.Lock()
		c.total = t.total
		c.mu.Unlock()
	}
}

// startError is why Codex did not take the turn; nil: it did.
func (t *turn) startError() error {
	_, err := t.call.Wait(context.Background())
	return err
}

// notStarted is the result of a turn that Codex did not take.
func (c *conn) notStarted(t *turn, err error) (runtime.TurnResult, error) {
	var answered *wire.Error
	if !errors.As(err, &answered) {
		return c.gone(t)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	res := t.result()
	res.Stop, res.Failure = "error", link.Words(answered)
	return res, nil
}

// gone is the result of a turn whose process ended: all that it wrote has been handled, maybe the end of the turn too.
func (c *conn) gone(t *turn) (runtime.TurnResult, error) {
	<-c.Wire.Done()
	if t.over() {
		return c.outcome(t)
	}
	return runtime.TurnResult{}, c.Died(&wire.EndedError{Cause: c.Wire.Err()})
}

// outcome is the result of a turn that has ended.
func (c *conn) outcome(t *turn) (runtime.TurnResult, error) {
	t.questions.End()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure != nil && t.failure.signIn() {
		return runtime.TurnResult{}, c.notSignedIn()
	}
	return t.ended(), nil
}

const (
	// cancelWait bounds the wait for the end of a cancelled turn; 10 to 70 ms were seen.
	cancelWait = 10 * time.Second
	// dropWait is how long a turn whose question was dropped may take to end by that alone.
	dropWait = 500 * time.Millisecond
	// interruptPause lies between two interrupts of a turn that Codex does not know yet.
	interruptPause = 100 * time.Millisecond
)

// cancel ends a turn by protocol: first every question is answered, which ends a turn that waits for one. An interrupt before the turn has
// begun is refused, or never answered.
func (c *conn) cancel(t *turn) (runtime.TurnResult, error) {
	ctx, stop := context.WithTimeout(context.Background(), cancelWait)
	defer stop()
	t.calls.end()
	if t.questions.Cancel() {
		t.within(dropWait)
	}
	for !t.over() {
		answered := t.call.Done()
		if t.call.Answered() {
			if err := t.startError(); err != nil {
				return c.notStarted(t, err)
			}
			answered = nil
		}
		select {
		case <-t.started:
			c.interrupt(ctx, t)
		case <-t.done:
		case <-answered:
		case <-c.Wire.Done():
			return c.gone(t)
		case <-ctx.Done():
		}
		if ctx.Err() != nil && !t.over() {
			return c.givenUp(t), nil
		}
	}
	c.terminate(t)
	return c.outcome(t)
}

type interruptParams struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
}

// interrupt asks once for the end of the turn and waits for it, or for a refusal. Some builds do not answer when the turn has just ended.
func (c *conn) interrupt(ctx context.Context, t *turn) {
	call, err := c.Wire.Start("turn/interrupt", interruptParams{c.threadID(), t.turnID()})
	if err != nil {
		return // the connection has ended
	}
	defer call.Abandon()
	select {
	case <-t.done:
	case <-ctx.Done():
	case <-call.Done():
		if _, err := call.Wait(ctx); err != nil {
			t.within(interruptPause)
			return
		}
		select {
		case <-t.done:
		case <-c.Wire.Done():
		case <-ctx.Done():
		}
	}
}

func (c *conn) threadID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// givenUp is the result of a cancelled turn whose end did not come. No other is sent after it.
func (c *conn) givenUp(t *turn) runtime.TurnResult {
	c.late = true
	t.mu.Lock()
	defer t.mu.Unlock()
	res := t.result()
	res.Stop, res.Late = "cancelled", true
	return res
}

// terminateLimit bounds the ending of what an interrupted turn left running.
const terminateLimit = 2 * time.Second

// terminate ends the commands of an interrupted turn: Codex leaves them running. What earlier turns began on purpose goes on.
func (c *conn) terminate(t *turn) {
	left := t.commands()
	if len(left) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), terminateLimit)
	defer stop()
	id := c.threadID()
	result, err := c.Wire.Call(ctx, "thread/backgroundTerminals/list", struct {
		ThreadID string `json:"threadId"`
	}{id})
	if err != nil {
		return // they end with the process
	}
	for terminal := range wire.Elements(wire.Field(result, "data")) {
		item, _ := wire.String(wire.Field(terminal, "itemId"))
		process, _ := wire.String(wire.Field(terminal, "processId"))
		if !left[item] || process == "" {
			continue
		}
		_, _ = c.Wire.Call(ctx, "thread/backgroundTerminals/terminate", struct { // as above
			ThreadID  string `json:"threadId"`
			ProcessID string `json:"processId"`
		}{id, process})
	}
}
