package acp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime"
)

const questionLine = `{"id":%d,"method":"session/request_permission","params":{"sessionId":"%s","toolCall":{"toolCallId":"c"},"options":[{"kind":"allow_always","optionId":"a"},{"kind":"reject_once","optionId":"r"},{"kind":"allow_once","optionId":"o"}]}}`

func TestQuestionsWithoutATurn(t *testing.T) {
	p := newPeer(t, Profile{})
	opened(t, p)
	p.say(fmt.Sprintf(questionLine, 7, "s"))
	if got := p.expect(""); !strings.Contains(got, `"optionId":"r"`) {
		t.Errorf("no turn: %s", got)
	}
	asked := false
	go func() {
		p.expect("session/prompt")
		prompt := p.last
		p.say(fmt.Sprintf(questionLine, 8, "other"))
		if got := p.expect(""); !strings.Contains(got, `"optionId":"r"`) {
			t.Errorf("another conversation: %s", got)
		}
		p.say(`{"id":9,"method":"fs/read_text_file","params":{"sessionId":"s"}}`)
		if got := p.expect(""); !strings.Contains(got, "-32601") {
			t.Errorf("an unknown request: %s", got)
		}
		p.last = prompt
		p.answer(`{"stopReason":"end_turn"}`)
	}()
	_, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "x", Ask: func(context.Context, runtime.PermissionRequest) bool { asked = true; return true }})
	if err != nil || asked {
		t.Errorf("asked %v, %v", asked, err)
	}
	p.end()
}

// Questions are decided one after the other in wire order, and one the agent takes back is not asked any more.
func TestQuestionsInOrderAndWithdrawn(t *testing.T) {
	p := newPeer(t, Profile{})
	opened(t, p)
	go func() {
		p.expect("session/prompt")
		prompt := p.last
		for id := range 3 {
			p.say(fmt.Sprintf(questionLine, id, "s"))
		}
		p.say(`{"method":"$/cancel_request","params":{"requestId":0}}`)
		for id, want := range []string{`"outcome":"cancelled"`, `"optionId":"o"`, `"optionId":"o"`} {
			got := p.expect("")
			if string(p.last) != fmt.Sprint(id) || !strings.Contains(got, want) {
				t.Errorf("answer %d: %s", id, got)
			}
		}
		p.last = prompt
		p.answer(`{"stopReason":"end_turn"}`)
	}()
	n := 0
	res, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "x", Ask: func(ctx context.Context, _ runtime.PermissionRequest) bool {
		if n++; n == 1 {
			<-ctx.Done()
		}
		return true
	}})
	if err != nil || n != 3 || res.Refused != 0 {
		t.Errorf("%d asked, %+v, %v", n, res, err)
	}
	p.end()
}

func TestResultWithoutStopReason(t *testing.T) {
	for _, result := range []string{`null`, `{}`, `{"stopReason":3}`} {
		p := newPeer(t, Profile{})
		opened(t, p)
		go func() {
			p.expect("session/prompt")
			p.answer(result)
		}()
		res, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "x"})
		if err != nil || res.Failure == "" {
			t.Errorf("%s: %+v, %v", result, res, err)
		}
		p.end()
	}
}

// What Codex's adapter does when the model fails: the error is a chunk without id, the end an ordinary one.
func TestFailureNotices(t *testing.T) {
	chunk := func(id, text string) string {
		if id != "" {
			id = `"messageId":"` + id + `",`
		}
		return `{"sessionUpdate":"agent_message_chunk",` + id + `"content":{"type":"text","text":"` + text + `"}}`
	}
	status := func(s string) string {
		return `{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"` + s + `"}}}}`
	}
	profile := Profile{NoticeWithoutID: true, Harmless: []string{"Warning: "}, CompactNotice: "*Context compacted"}
	for name, c := range map[string]struct {
		updates []string
		failure string
	}{
		"warning then answer":    {[]string{chunk("", "Warning: x"), chunk("m", "ok")}, ""},
		"answer then warning":    {[]string{chunk("m", "ok"), chunk("", "Warning: x")}, ""},
		"error only":             {[]string{chunk("", "boom\\n\\n")}, "boom"},
		"partial, then error":    {[]string{chunk("m", "par"), chunk("", "boom")}, "boom"},
		"error, then answer":     {[]string{chunk("", "odd"), chunk("m", "ok")}, ""},
		"error, then a plan":     {[]string{chunk("", "odd"), `{"sessionUpdate":"plan","entries":[]}`}, ""},
		"error, then a tool":     {[]string{chunk("", "odd"), `{"sessionUpdate":"tool_call","toolCallId":"c","kind":"read"}`}, ""},
		"system error":           {[]string{chunk("m", "ok"), status("systemError")}, "system error"},
		"system error with text": {[]string{status("systemError"), chunk("", "boom"), status("idle")}, "boom"},
		"recovered":              {[]string{status("systemError"), status("active"), chunk("m", "ok"), status("idle")}, ""},
		"compacted at the end":   {[]string{chunk("m", "ok"), chunk("", "*Context compacted to fit*")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, profile)
			opened(t, p)
			go func() {
				p.expect("session/prompt")
				for _, u := range c.updates {
					p.update(u)
				}
				p.answer(`{"stopReason":"end_turn"}`)
			}()
			res, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "x"})
			if err != nil || (c.failure == "") != (res.Failure == "") || !strings.Contains(res.Failure, c.failure) {
				t.Errorf("%+v, %v", res, err)
			}
			p.end()
		})
	}
}

// A list is read to its end; one of another folder names nothing here, and one without an end is none.
func TestLists(t *testing.T) {
	page := func(cwd, id, next string) string {
		return fmt.Sprintf(`{"sessions":[{"sessionId":"x","cwd":"/r"},{"sessionId":%q,"cwd":%q}],"nextCursor":%s}`, id, cwd, next)
	}
	for name, c := range map[string]struct {
		pages []string
		want  runtime.Listed
	}{
		"on the first page":   {[]string{page("/r", "s", `"2"`)}, runtime.ListNames},
		"on the last page":    {[]string{page("/r", "a", `"2"`), page("/r", "s", `null`)}, runtime.ListNames},
		"nowhere":             {[]string{page("/r", "a", `"2"`), page("/r", "b", `""`)}, runtime.ListOmits},
		"of another folder":   {[]string{page("/other", "s", `null`)}, runtime.ListOmits},
		"the same page again": {[]string{page("/r", "a", `"2"`), page("/r", "b", `"2"`)}, runtime.ListNotOffered},
		"no list":             {[]string{`{}`}, runtime.ListOmits},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, Profile{NoFence: true})
			p.c.shakes.list = true
			go func() {
				p.expect("session/load")
				p.answer(`{}`)
				for _, text := range c.pages {
					p.expect("session/list")
					p.answer(text)
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			o, err := p.c.Open(ctx, "s")
			if err != nil || o.Listed != c.want {
				t.Errorf("%+v, %v", o, err)
			}
			p.end()
		})
	}
}

const busyAnswer = `{"id":%s,"error":{"code":-32600,"message":"busy","data":{"reason":"thread_active_writer"}}}`

// A conversation that is open elsewhere is waited for, said once, and loaded when it is free.
func TestBusyIsWaitedFor(t *testing.T) {
	busy := Profile{NoFence: true, BusyWait: 90 * time.Second, Busy: []Shape{{Code: -32600, Member: "data.reason", Prefix: "thread_active_writer"}}}
	for name, c := range map[string]struct {
		refusals int
		limit    time.Duration // of the caller; 0: none
		kind     runtime.Kind
		took     time.Duration
	}{
		"freed":              {3, 0, "", 3 * busyPause},
		"never":              {1000, 0, runtime.KindBusy, 88 * time.Second},
		"the caller's limit": {1000, 5 * time.Second, runtime.KindBusy, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t, busy)
				var said []string
				p.c.notice = func(s string) { said = append(said, s) }
				ctx, cancel := context.WithCancel(t.Context())
				if c.limit > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), c.limit)
				}
				defer cancel()
				go func() {
					for range c.refusals {
						if _, err := p.in.Peek(1); err != nil {
							return
						}
						p.expect("session/load")
						p.say(fmt.Sprintf(busyAnswer, p.last))
					}
					p.expect("session/load")
					p.update(userChunk)
					p.answer(`{}`)
				}()
				start := time.Now()
				o, err := p.c.Open(ctx, "s")
				if took := time.Since(start); took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
				if len(said) != 1 || !strings.Contains(said[0], "another process") {
					t.Errorf("said %q", said)
				}
				if c.kind != "" {
					wantKind(t, err, c.kind)
				} else if err != nil || o.History.UserTurns != 1 {
					t.Errorf("%+v, %v", o, err)
				}
				p.end()
			})
		})
	}
}
