package codex

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime"
)

func always(yes bool) func(context.Context, runtime.PermissionRequest) bool {
	return func(context.Context, runtime.PermissionRequest) bool { return yes }
}

// What belongs to another turn or thread, comes early or late, or is no message at all, changes nothing.
func TestInterleavings(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		p.say(`{"method":"warning","params":{"threadId":"T","message":"before"}}`)
		synctest.Wait()
		h := p.prompt(t.Context(), runtime.Turn{}, func() {
			p.expect("turn/start")
			p.say("junk {", `[]`, delta("early"), `{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"OLD","itemId":"x","delta":"late"}}`)
			p.say(bound("started", begins), delta("a"))
			p.answer(`{"turn":{"id":"U"}}`)
			p.say(`{"method":"warning","params":{"threadId":null,"message":"a warning"}}`,
				`{"method":"warning","params":{"threadId":"OTHER","message":"another thread's"}}`,
				`{"method":"item/agentMessage/delta","params":{"threadId":"OTHER","turnId":"U","itemId":"m","delta":"not ours"}}`,
				`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"OLD","status":"failed"}}}`,
				`{"method":"nonsense/of/next/year","params":{"threadId":"T","turnId":"U"}}`,
				`{"method":"item/agentMessage/delta"}`, delta("b"),
				itemFrame("completed", `{"type":"agentMessage","id":"m","text":"abc"}`),
				bound("completed", completes), bound("completed", `{"id":"U","status":"failed"}`))
		})
		if h.err != nil || h.Stop != "end_turn" || h.Failure != "" || h.text(runtime.UpdateMessage) != "abc" {
			t.Errorf("%+v, %v: %q", h.TurnResult, h.err, h.text(runtime.UpdateMessage))
		}
		if got := h.text(runtime.UpdateNotice); got != "beforea warning" {
			t.Errorf("notices %q", got)
		}
	})
}

// How turns end.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		turn      string
		stop      string
		failure   string
		retryable bool
		kind      runtime.Kind
	}{
		"completed":        {completes, "end_turn", "", false, ""},
		"interrupted":      {interrupted, "cancelled", "", false, ""},
		"no status":        {`{"id":"U"}`, "error", "without saying how", false, ""},
		"a new status":     {`{"id":"U","status":"paused"}`, "error", "without saying how", false, ""},
		"failed":           {`{"id":"U","status":"failed","error":null}`, "error", "did not say why", false, ""},
		"overloaded":       {failedWith(`"busy now"`, `"serverOverloaded"`), "error", "busy now", true, ""},
		"too long":         {failedWith(`"too long"`, `"contextWindowExceeded"`), "error", "too long", false, ""},
		"no quota":         {failedWith(`"no quota"`, `"usageLimitExceeded"`), "error", "no quota", false, ""},
		"429":              {failedWith(`"slow"`, `{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`), "error", "slow", true, ""},
		"403":              {failedWith(`"no"`, `{"httpConnectionFailed":{"httpStatusCode":403}}`), "error", "no", false, ""},
		"cut":              {failedWith(`"cut"`, `{"responseStreamDisconnected":{"httpStatusCode":null}}`), "error", "cut", true, ""},
		"401":              {failedWith(`"who?"`, `{"httpConnectionFailed":{"httpStatusCode":401}}`), "", "", false, runtime.KindNotSignedIn},
		"unauthorized":     {failedWith(`"who?"`, `"unauthorized"`), "", "", false, runtime.KindNotSignedIn},
		"the provider's":   {failedWith(`"{\"error\":{\"message\":\"bad model\"}}\n"`, `"other"`), "error", "bad model", false, ""},
		"strange info":     {failedWith(`"x"`, `["a"]`), "error", "x", false, ""},
		"an empty message": {failedWith(`""`, `"other"`), "error", "error without a message", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				p := onThread(t)
				defer p.close()
				h := p.prompt(t.Context(), runtime.Turn{}, func() {
					p.begun()
					p.say(bound("completed", c.turn))
				})
				if c.kind != "" {
					if runtime.KindOf(h.err) != c.kind {
						t.Errorf("%v, want %s", h.err, c.kind)
					}
					return
				}
				if h.err != nil || h.Stop != c.stop || !strings.Contains(h.Failure, c.failure) || (c.failure == "") != (h.Failure == "") || h.Retryable != c.retryable {
					t.Errorf("%+v, %v", h.TurnResult, h.err)
				}
			})
		})
	}
}

func failedWith(message, info string) string {
	return `{"id":"U","status":"failed","error":{"message":` + message + `,"codexErrorInfo":` + info + `}}`
}

// What is tried again is told, and is no failure of the turn.
func TestRetries(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		h := p.prompt(t.Context(), runtime.Turn{}, func() {
			p.begun()
			p.say(notify("error", `"willRetry":true,"error":{"message":"Reconnecting... 1/5","additionalDetails":"no route","codexErrorInfo":"other"}`),
				delta("done"), bound("completed", completes))
		})
		if h.Failure != "" || h.text(runtime.UpdateNotice) != "Reconnecting... 1/5: no route" || h.text(runtime.UpdateMessage) != "done" {
			t.Errorf("%+v %+v", h.TurnResult, h.updates)
		}
	})
}

// A turn is accepted by the person's own item or what follows it, not by what Codex does before.
func TestAcceptance(t *testing.T) {
	for name, c := range map[string]struct {
		frames []string
		want   bool
	}{
		"nothing":               {nil, false},
		"warnings":              {[]string{notify("warning", `"message":"x"`), notify("error", `"willRetry":true,"error":{"message":"x"}`)}, false},
		"usage":                 {[]string{notify("thread/tokenUsage/updated", `"tokenUsage":{"total":{"totalTokens":5},"last":{"totalTokens":5}}`)}, false},
		"a compaction":          {[]string{itemFrame("started", `{"type":"contextCompaction","id":"c"}`), itemFrame("completed", `{"type":"contextCompaction","id":"c"}`)}, false},
		"a hook":                {[]string{itemFrame("started", `{"type":"hookPrompt","id":"h"}`)}, false},
		"a plan":                {[]string{notify("turn/plan/updated", `"plan":[]`)}, false},
		"the words":             {[]string{itemFrame("started", userItem)}, true},
		"a kind of next year":   {[]string{itemFrame("started", `{"type":"dream","id":"d"}`)}, true},
		"an answer":             {[]string{delta("x")}, true},
		"a thought":             {[]string{notify("item/reasoning/textDelta", `"itemId":"r","delta":"x"`)}, true},
		"the output of a thing": {[]string{notify("item/commandExecution/outputDelta", `"itemId":"c","delta":"x"`)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				p := onThread(t)
				defer p.close()
				h := p.prompt(t.Context(), runtime.Turn{}, func() {
					p.expect("turn/start")
					p.answer(`{"turn":{"id":"U"}}`)
					p.say(bound("started", begins))
					p.say(c.frames...)
					p.say(bound("completed", completes))
				})
				got := false
				for _, u := range h.updates {
					got = got || u.Accepts
				}
				if got != c.want {
					t.Errorf("accepted: %v; %+v", got, h.updates)
				}
			})
		})
	}
}

// A turn that Codex does not take, and one whose process goes away at each point.
func TestNoEnd(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		h := p.prompt(t.Context(), runtime.Turn{}, func() {
			p.expect("turn/start")
			p.refuse("thread not found: T")
		})
		if h.err != nil || h.Stop != "error" || h.Failure != "thread not found: T" || len(h.updates) != 0 {
			t.Errorf("refused: %+v, %v", h.TurnResult, h.err)
		}
	})
	for name, frames := range map[string][]string{"unanswered": nil, "answered": {`{"id":1,"result":{"turn":{"id":"U"}}}`}} {
		timed(t, func(t *testing.T) {
			p := onThread(t)
			h := p.prompt(t.Context(), runtime.Turn{}, func() {
				p.expect("turn/start")
				p.say(frames...)
				p.close()
			})
			if runtime.KindOf(h.err) != runtime.KindFailed || !strings.Contains(h.err.Error(), "in the middle of a turn: signal: killed; it wrote:\n  its last word") {
				t.Errorf("%s: %v", name, h.err)
			}
			if _, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "more"}); !errors.As(err, new(*runtime.Error)) || !strings.Contains(err.Error(), "nothing was sent") {
				t.Errorf("%s, afterwards: %v", name, err)
			}
		})
	}
	for range 30 { // whichever is seen first
		timed(t, func(t *testing.T) {
			p := onThread(t)
			h := p.prompt(t.Context(), runtime.Turn{}, func() {
				p.begun()
				p.say(delta("all of it"), bound("completed", completes))
				p.close()
			})
			if h.err != nil || h.Stop != "end_turn" || h.text(runtime.UpdateMessage) != "all of it" {
				t.Errorf("ended, then died: %+v, %v", h.TurnResult, h.err)
			}
		})
	}
}

// While a turn runs that Codex began by itself, nothing is sent: the words would go into that one.
func TestForeignTurn(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		p.say(bound("started", `{"id":"GOAL"}`))
		synctest.Wait()
		_, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "x"})
		var e *runtime.Error
		if !errors.As(err, &e) || e.Kind != runtime.KindBusy || !e.Retryable {
			t.Errorf("%v", err)
		}
		p.say(bound("completed", `{"id":"GOAL","status":"completed"}`))
		synctest.Wait()
		if h := p.prompt(t.Context(), runtime.Turn{}, func() { p.begun(); p.say(bound("completed", completes)) }); h.err != nil {
			t.Errorf("afterwards: %v", h.err)
		}
	})
}

// Figures are of the turn: of a thread's first one in this process without what it had used before, and what was cached apart.
func TestUsage(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		figures := func(total, last string) string {
			return notify("thread/tokenUsage/updated", `"tokenUsage":{"total":`+total+`,"last":`+last+`}`)
		}
		first := p.prompt(t.Context(), runtime.Turn{}, func() {
			p.begun()
			p.say(figures(`{"totalTokens":115,"inputTokens":110,"cachedInputTokens":100,"outputTokens":5}`, `{"totalTokens":15,"inputTokens":10,"cachedInputTokens":4,"outputTokens":5}`),
				figures(`{"totalTokens":135,"inputTokens":125,"cachedInputTokens":110,"outputTokens":10}`, `{"totalTokens":20,"inputTokens":15,"cachedInputTokens":10,"outputTokens":5}`),
				bound("completed", completes))
		})
		if u := first.Usage; u == nil || *u.InputTokens != 11 || *u.CachedTokens != 14 || *u.OutputTokens != 10 || *u.TotalTokens != 35 {
			t.Errorf("first: %+v", u)
		}
		second := p.prompt(t.Context(), runtime.Turn{}, func() {
			p.begun()
			p.say(figures(`{"totalTokens":145,"inputTokens":134,"cachedInputTokens":112,"outputTokens":11}`, `{"totalTokens":0}`), bound("completed", completes))
		})
		if u := second.Usage; u == nil || *u.InputTokens != 7 || *u.CachedTokens != 2 || *u.OutputTokens != 1 || *u.TotalTokens != 10 {
			t.Errorf("second: %+v", u)
		}
		none := p.prompt(t.Context(), runtime.Turn{}, func() { p.begun(); p.say(bound("completed", completes)) })
		if none.Usage != nil {
			t.Errorf("none: %+v", none.Usage)
		}
	})
}

// A thought is shown once, whichever way it comes.
func TestThoughts(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		part := func(id, text string) string {
			return notify("item/reasoning/summaryTextDelta", `"itemId":"`+id+`","delta":"`+text+`","summaryIndex":0`)
		}
		h := p.prompt(t.Context(), runtime.Turn{}, func() {
			p.begun()
			p.say(notify("item/reasoning/summaryPartAdded", `"itemId":"r","summaryIndex":0`), part("r", "one"), notify("item/reasoning/textDelta", `"itemId":"r","delta":"raw"`),
				notify("item/reasoning/summaryPartAdded", `"itemId":"r","summaryIndex":1`), part("r", "two"),
				itemFrame("completed", `{"type":"reasoning","id":"r","summary":["one","two"]}`),
				itemFrame("completed", `{"type":"reasoning","id":"s","summary":["three"]}`),
				itemFrame("completed", `{"type":"reasoning","id":"t","summary":[],"content":["raw"]}`), bound("completed", completes))
		})
		if got := h.text(runtime.UpdateThought); got != "one\n\ntwothreeraw" {
			t.Errorf("%q", got)
		}
	})
}

// What is told beside the words goes with the next turn that Codex takes, and with no other.
func TestInform(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		p.c.Inform("first")
		p.c.Inform("second")
		has := func(m message) bool {
			return strings.Contains(string(m.Params), `"additionalContext":{"xmd":{"value":"second","kind":"application"}}`)
		}
		p.prompt(t.Context(), runtime.Turn{}, func() {
			if !has(p.expect("turn/start")) {
				t.Error("it did not go with the turn")
			}
			p.refuse("no")
		})
		p.prompt(t.Context(), runtime.Turn{}, func() {
			if !has(p.begun()) {
				t.Error("it was lost with a turn that was not taken")
			}
			p.say(bound("completed", completes))
		})
		p.prompt(t.Context(), runtime.Turn{}, func() {
			if m := p.begun(); strings.Contains(string(m.Params), "additionalContext") {
				t.Errorf("it went twice: %s", m.Params)
			}
			p.say(bound("completed", completes))
		})
	})
}

// A schema goes with the turn where the model can be held to it.
func TestSchema(t *testing.T) {
	for schema, want := range map[string]bool{`{"type":"object","properties":{},"additionalProperties":false}`: true, `{"type":"object"}`: false, ``: false} {
		timed(t, func(t *testing.T) {
			p := onThread(t)
			defer p.close()
			p.prompt(t.Context(), runtime.Turn{Schema: []byte(schema)}, func() {
				if m := p.begun(); strings.Contains(string(m.Params), `"outputSchema":`+schema) != want && schema != "" || !want && strings.Contains(string(m.Params), "outputSchema") {
					t.Errorf("%s: %s", schema, m.Params)
				}
				p.say(bound("completed", completes))
			})
		})
	}
}

// The sink is called as things come, and a slow one is waited for.
func TestSlowSink(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		var b strings.Builder
		done := make(chan runtime.TurnResult)
		go func() {
			res, _ := p.c.Prompt(t.Context(), runtime.Turn{Words: "w", Sink: func(u runtime.Update) {
				time.Sleep(time.Second)
				b.WriteString(u.Text)
			}})
			done <- res
		}()
		p.begun()
		for range 5 {
			p.say(delta("x"))
		}
		p.say(bound("completed", completes))
		if res := <-done; res.Stop != "end_turn" || b.String() != "xxxxx" {
			t.Errorf("%+v %q", res, b.String())
		}
	})
}
