package acp

import (
	"context"
	"errors"
	"time"

	"xmd/agents/link"
	"xmd/agents/wire"
	"xmd/runtime"
)

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type promptParams struct {
	SessionID string      `json:"sessionId"`
	Prompt    []textBlock `json:"prompt"`
}

// Prompt sends one turn; see runtime.Connection.
func (c *conn) Prompt(ctx context.Context, req runtime.Turn) (runtime.TurnResult, error) {
	c.awaitReady(ctx)
	if ctx.Err() != nil {
		return runtime.TurnResult{}, c.Cancelled(ctx)
	}
	t, err := c.begin(req)
	if err != nil {
		return runtime.TurnResult{}, c.FailRetryable(runtime.KindFailed, "%s is not running any more, nothing was sent: %w", c.Info.Shown, c.Reason(err))
	}
	defer c.finish(t)
	select {
	case <-t.call.Done():
		return c.outcome(t)
	case <-ctx.Done():
	case <-t.foreign: // its words go on in another conversation
	}
	c.cancel(t)
	if !settles(t.call, cancelWait) {
		t.call.Abandon()
		return t.late(), nil
	}
	return c.outcome(t)
}

// begin makes the turn known to the reader and sends the words.
func (c *conn) begin(req runtime.Turn) (*turn, error) {
	t := &turn{p: c.p, sink: req.Sink, ask: req.Ask, spent: c.spent, cost: c.spent, total: c.total, foreign: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock() // the reader must not see the first update before it knows of the turn
	call, err := c.Wire.Start("session/prompt", promptParams{c.id, []textBlock{{"text", req.Words}}})
	if err != nil {
		return nil, err
	}
	t.call = call
	if !c.noDoor {
		t.door = c.equipment.door
	}
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
	t.mu.Lock()
	c.spent, c.total = t.cost, t.total
	t.mu.Unlock()
}

// cancel ends a turn by protocol: first every question is answered, because an agent that waits for one may never end.
func (c *conn) cancel(t *turn) {
	t.questions.Cancel()
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	_ = c.Wire.Notify("session/cancel", struct { // a connection that has ended settles the call itself
		SessionID string `json:"sessionId"`
	}{id})
}

func settles(call *wire.Pending, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-call.Done():
		return true
	case <-timer.C:
		return call.Answered()
	}
}

// outcome reads the answer of a turn.
func (c *conn) outcome(t *turn) (runtime.TurnResult, error) {
	result, err := t.call.Wait(context.Background())
	if err == nil {
		t.questions.End()
		return t.ended(result), nil
	}
	var answered *wire.Error
	if errors.As(err, &answered) {
		if e := c.signIn(err); e != nil {
			t.mu.Lock()
			t.errorText()
			t.mu.Unlock()
			return runtime.TurnResult{}, e
		}
		return t.failed(link.Words(answered)), nil
	}
	var long *wire.OverlongError
	if errors.As(err, &long) {
		return t.failed(long.Error()), nil
	}
	return runtime.TurnResult{}, c.Died(err)
}
