package codex

import (
	"context"
	"strings"
	"testing"
	"time"

	"xmd/runtime"
)

// cancelled runs a turn that is cancelled when play says so.
func (p *peer) cancelled(turn runtime.Turn, play func(cancel func())) *heard {
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	return p.prompt(ctx, turn, func() { play(cancel) })
}

// end lets the next turn of the connection come to its end.
func (p *peer) end() *heard {
	p.t.Helper()
	return p.prompt(p.t.Context(), runtime.Turn{}, func() { p.begun(); p.say(bound("completed", completes)) })
}

func TestCancel(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		h := p.cancelled(runtime.Turn{}, func(cancel func()) {
			p.begun()
			p.say(delta("partial"))
			cancel()
			m := p.expect("turn/interrupt")
			if string(m.Params) != `{"threadId":"T","turnId":"U"}` {
				t.Errorf("%s", m.Params)
			}
			p.answer("{}")
			p.say(bound("completed", interrupted))
		})
		if h.err != nil || h.Stop != "cancelled" || h.Late || h.text(runtime.UpdateMessage) != "partial" {
			t.Errorf("%+v, %v", h.TurnResult, h.err)
		}
		if h := p.end(); h.Stop != "end_turn" {
			t.Errorf("afterwards: %+v, %v", h.TurnResult, h.err)
		}
	})
}

// An interrupt before Codex has begun the turn is refused, or never answered: none is sent before, and a refused one again.
func TestCancelBeforeTheBeginning(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		h := p.cancelled(runtime.Turn{}, func(cancel func()) {
			p.expect("turn/start")
			start := p.last
			cancel()
			time.Sleep(time.Second)
			p.last = start
			p.answer(`{"turn":{"id":"U"}}`)
			time.Sleep(time.Second)
			if n := p.c.Wire.Stats().FramesOut; n != 1 {
				t.Errorf("%d frames before the turn has begun", n)
			}
			p.say(bound("started", begins))
			p.expect("turn/interrupt")
			p.refuse("no active turn to interrupt")
			p.expect("turn/interrupt")
			p.answer("{}")
			p.say(bound("completed", interrupted))
		})
		if h.Stop != "cancelled" || h.Late {
			t.Errorf("%+v, %v", h.TurnResult, h.err)
		}
	})
}

// What never answers, never begins or never ends is given up after a while, and no other turn is sent into it.
func TestCancelHangs(t *testing.T) {
	for name, play := range map[string]func(p *peer, cancel func()){
		"nothing is answered": func(p *peer, cancel func()) { p.expect("turn/start"); cancel() },
		"it does not begin":   func(p *peer, cancel func()) { p.expect("turn/start"); p.answer(`{"turn":{"id":"U"}}`); cancel() },
		"no answer":           func(p *peer, cancel func()) { p.begun(); cancel(); p.expect("turn/interrupt") },
		"it does not end":     func(p *peer, cancel func()) { p.begun(); cancel(); p.expect("turn/interrupt"); p.answer("{}") },
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				p := onThread(t)
				defer p.close()
				began := time.Now()
				h := p.cancelled(runtime.Turn{}, func(cancel func()) { play(p, cancel) })
				if h.err != nil || h.Stop != "cancelled" || !h.Late || time.Since(began) != cancelWait {
					t.Errorf("%+v, %v, after %s", h.TurnResult, h.err, time.Since(began))
				}
				if _, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "x"}); runtime.KindOf(err) != runtime.KindBusy {
					t.Errorf("another turn: %v", err)
				}
			})
		})
	}
}

// An interrupt that is not answered, of a turn that ends all the same, is forgotten.
func TestInterruptUnanswered(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		h := p.cancelled(runtime.Turn{}, func(cancel func()) {
			p.begun()
			cancel()
			p.expect("turn/interrupt")
			p.say(bound("completed", completes))
		})
		if h.err != nil || h.Stop != "end_turn" || h.Late {
			t.Errorf("%+v, %v", h.TurnResult, h.err)
		}
		if h := p.end(); h.Stop != "end_turn" {
			t.Errorf("afterwards: %+v, %v", h.TurnResult, h.err)
		}
	})
}

func TestCancelOfATurnThatIsNotTaken(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		h := p.cancelled(runtime.Turn{}, func(cancel func()) {
			p.expect("turn/start")
			cancel()
			p.refuse("no")
		})
		if h.Stop != "error" || h.Failure != "no" {
			t.Errorf("%+v, %v", h.TurnResult, h.err)
		}
	})
	timed(t, func(t *testing.T) {
		p := onThread(t)
		h := p.cancelled(runtime.Turn{}, func(cancel func()) {
			p.begun()
			cancel()
			p.expect("turn/interrupt")
			p.close()
		})
		if runtime.KindOf(h.err) != runtime.KindFailed {
			t.Errorf("died: %+v, %v", h.TurnResult, h.err)
		}
	})
}

// A pending question is answered before the turn is interrupted, so that Codex does not ask its model once more; when that ends the turn,
// nothing else is sent.
func TestCancelWhileAsking(t *testing.T) {
	for name, ends := range map[string]bool{"the answer ends it": true, "the answer does not": false} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				p := onThread(t)
				defer p.close()
				var cancel func()
				ask := func(ctx context.Context, _ runtime.PermissionRequest) bool {
					cancel()
					<-ctx.Done()
					return true // too late to count
				}
				h := p.cancelled(runtime.Turn{Ask: ask}, func(c func()) {
					cancel = c
					p.begun()
					p.say(itemFrame("started", aCommand), question(7, "item/commandExecution/requestApproval", `"itemId":"c"`))
					if m := p.expect(""); string(m.ID) != "7" || string(m.Result) != `{"decision":"cancel"}` {
						t.Errorf("answered %s", m.Result)
					}
					if !ends {
						p.expect("turn/interrupt")
						p.answer("{}")
					}
					p.say(itemFrame("completed", strings.Replace(aCommand, "inProgress", "declined", 1)), bound("completed", interrupted))
				})
				if h.err != nil || h.Stop != "cancelled" || h.Refused != 0 {
					t.Errorf("%+v, %v", h.TurnResult, h.err)
				}
				if n := p.c.Wire.Stats().FramesOut; n != map[bool]int64{true: 2, false: 3}[ends] {
					t.Errorf("%d frames", n)
				}
			})
		})
	}
}

// The commands that a cancelled turn leaves running are ended, and no others.
func TestCancelEndsItsCommands(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		h := p.cancelled(runtime.Turn{}, func(cancel func()) {
			p.begun()
			p.say(itemFrame("started", `{"type":"commandExecution","id":"before","status":"inProgress"}`),
				itemFrame("completed", `{"type":"commandExecution","id":"before","status":"completed"}`), itemFrame("started", aCommand))
			cancel()
			p.expect("turn/interrupt")
			p.answer("{}")
			p.say(bound("completed", interrupted))
			p.expect("thread/backgroundTerminals/list")
			p.answer(`{"data":[{"itemId":"older","processId":"1"},{"itemId":"before","processId":"2"},{"itemId":"c","processId":"3"}]}`)
			if m := p.expect("thread/backgroundTerminals/terminate"); string(m.Params) != `{"threadId":"T","processId":"3"}` {
				t.Errorf("%s", m.Params)
			}
			p.answer(`{"terminated":true}`)
		})
		if h.err != nil || h.Stop != "cancelled" {
			t.Errorf("%+v, %v", h.TurnResult, h.err)
		}
	})
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		began := time.Now()
		h := p.cancelled(runtime.Turn{}, func(cancel func()) {
			p.begun()
			p.say(itemFrame("started", aCommand))
			cancel()
			p.expect("turn/interrupt")
			p.answer("{}")
			p.say(bound("completed", interrupted))
			p.expect("thread/backgroundTerminals/list")
		})
		if h.Stop != "cancelled" || time.Since(began) != terminateLimit {
			t.Errorf("no list: %+v, %v, after %s", h.TurnResult, h.err, time.Since(began))
		}
	})
}
