package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"xmd/agents/link"
	"xmd/runtime"
)

// peer is an agent on pipes in memory whose every message a test writes itself.
type peer struct {
	t    *testing.T
	c    *conn
	in   *bufio.Reader
	out  io.WriteCloser
	last json.RawMessage // id of the last request
}

func newPeer(t *testing.T, p Profile) *peer {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	done := make(chan struct{})
	close(done)
	info := runtime.AgentInfo{Name: "x", Shown: "X", ConfirmList: true}
	c := &conn{Link: link.Link{Info: info, Proc: nothingRuns{done}}, p: &p, root: "/r", shakes: handshake{load: true}}
	connect(c, stdout, stdin, nil)
	return &peer{t: t, c: c, in: bufio.NewReader(in), out: out}
}

// expect reads the next message, which must be of that method ("" for an answer), and returns its line.
func (p *peer) expect(method string) string {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Method != method {
		p.t.Fatalf("got %s, want %q", line, method)
	}
	p.last = m.ID
	return line
}

func (p *peer) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) answer(result string) { p.say(fmt.Sprintf(`{"id":%s,"result":%s}`, p.last, result)) }

func (p *peer) update(update string) {
	p.say(`{"method":"session/update","params":{"sessionId":"s","update":` + update + `}}`)
}

func (p *peer) end() {
	p.out.Close()
	p.c.Wire.Close()
}

const userChunk = `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hello"}}`

func TestLoadLimitRestartsOnTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, Profile{NoFence: true})
		go func() {
			p.expect("session/load")
			for range 5 {
				time.Sleep(DefaultLoadLimit - time.Second)
				p.update(userChunk)
			}
		}()
		start := time.Now()
		_, err := p.c.Open(t.Context(), "s")
		wantKind(t, err, runtime.KindCouldNot, "nothing came")
		if !err.(*runtime.Error).Retryable {
			t.Error("it is not retryable")
		}
		if took := time.Since(start); took < 5*(DefaultLoadLimit-time.Second) || took > 8*DefaultLoadLimit {
			t.Errorf("given up after %s", took)
		}
		p.end()
	})
}

// Without a fence two seconds of silence end a replay, and nothing fails.
func TestMissingFence(t *testing.T) {
	for name, c := range map[string]struct {
		profile Profile
		waits   time.Duration
	}{
		"no fence known":           {Profile{}, quiet + time.Second},
		"a fence that never comes": {Profile{Fence: "never"}, quiet + time.Second},
		"the answer is the fence":  {Profile{NoFence: true}, 0},
		"the fence comes":          {Profile{Fence: "current_mode_update"}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t, c.profile)
				go func() {
					p.expect("session/load")
					p.update(`{"sessionUpdate":"current_mode_update"}`) // before the answer it is no fence
					p.update(userChunk)
					p.answer("null")
					if c.waits > 0 {
						time.Sleep(time.Second)
						p.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"late"}}`)
						p.update(`{"sessionUpdate":"current_mode_update"}`)
					}
				}()
				start := time.Now()
				o, err := p.c.Open(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took < c.waits || took > c.waits+quiet {
					t.Errorf("took %s, want %s", took, c.waits)
				}
				want := runtime.Fingerprint{}
				if c.waits > 0 {
					want = runtime.FingerprintOf("late")
				}
				if o.History.UserTurns != 1 || o.History.Newest[0].Reply != want {
					t.Errorf("%+v", o)
				}
				p.end()
			})
		})
	}
}

// The replay goes on behind its fence while a long message is on its way.
func TestReplayTrailsItsFence(t *testing.T) {
	for trails, want := range map[time.Duration]runtime.Fingerprint{
		0:                      {},
		300 * time.Millisecond: runtime.FingerprintOf("it came late"),
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t, Profile{Fence: "current_mode_update", Trails: trails})
			go func() {
				p.expect("session/load")
				p.answer("null")
				p.update(userChunk)
				p.update(`{"sessionUpdate":"current_mode_update"}`)
				for _, text := range []string{"it came", " late"} {
					time.Sleep(200 * time.Millisecond)
					p.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}`)
				}
			}()
			o, err := p.c.Open(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			if o.History.UserTurns != 1 || o.History.Newest[0].Reply != want {
				t.Errorf("waiting %s behind the fence: %+v", trails, o)
			}
			time.Sleep(time.Second) // the peer is done
			p.end()
		})
	}
}

// A line that is too long to be read may have been a turn.
func TestLoadWithALineTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("64 MiB")
	}
	for name, c := range map[string]struct {
		turn  bool
		known bool
	}{"the only one": {false, false}, "behind a turn": {true, true}} {
		p := newPeer(t, Profile{NoFence: true})
		go func() {
			p.expect("session/load")
			if c.turn {
				p.update(userChunk)
			}
			p.say(`{"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("x", 65<<20) + `"}`)
			p.answer("null")
		}()
		o, err := p.c.Open(t.Context(), "s")
		if err != nil || !o.History.Unread || o.History.Known != c.known {
			t.Errorf("%s: %+v, %v", name, o.History, err)
		}
		p.end()
	}
}

// A load may answer null, {}, an echo, or an id of its own.
func TestLoadResults(t *testing.T) {
	for result, c := range map[string]struct {
		asserts bool
		want    string
	}{
		`null`:                         {true, ""},
		`{}`:                           {true, ""},
		`{"sessionId":"s"}`:            {true, ""},
		`{"sessionId":"t"}`:            {false, "t"},
		`{"_meta":{"sessionId":"s"}}`:  {true, "s"},
		`{"_meta":{"sessionId":"s"} }`: {false, ""},
		`{"_meta":{"sessionId":"t"}}`:  {false, "t"},
		`{"sessionId":null,"_meta":3}`: {true, ""},
		`[]`:                           {true, ""},
	} {
		p := newPeer(t, Profile{NoFence: true, Asserts: c.asserts})
		go func() {
			p.expect("session/load")
			p.answer(result)
		}()
		o, err := p.c.Open(t.Context(), "s")
		if err != nil || o.Asserted != c.want || o.ID != "s" {
			t.Errorf("%s: %+v, %v", result, o, err)
		}
		p.end()
	}
}

func opened(t *testing.T, p *peer) {
	t.Helper()
	go func() {
		p.expect("session/new")
		p.answer(`{"sessionId":"s"}`)
	}()
	if _, err := p.c.Open(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
}

// A cancelled turn that never ends is given up after ten seconds.
func TestCancelThatNeverSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, Profile{})
		opened(t, p)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			p.expect("session/prompt")
			cancel()
			p.expect("session/cancel")
		}()
		start := time.Now()
		res, err := p.c.Prompt(ctx, runtime.Turn{Words: "hello"})
		if err != nil || !res.Late || res.Stop != "cancelled" || time.Since(start) != cancelWait {
			t.Errorf("%+v, %v after %s", res, err, time.Since(start))
		}
		p.end()
	})
}

// The end of an earlier turn that comes late is not the end of the next one.
func TestSecondAnswerIsIgnored(t *testing.T) {
	p := newPeer(t, Profile{})
	opened(t, p)
	go func() {
		p.expect("session/prompt")
		p.answer(`{"stopReason":"end_turn"}`)
		first := p.last
		p.expect("session/prompt")
		p.say(fmt.Sprintf(`{"id":%s,"result":{"stopReason":"cancelled"}}`, first))
		p.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"mine"}}`)
		p.say(`{"method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"not mine"}}}}`)
		p.answer(`{"stopReason":"end_turn"}`)
	}()
	if _, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "one"}); err != nil {
		t.Fatal(err)
	}
	text := ""
	res, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "two", Sink: func(u runtime.Update) { text += u.Text }})
	if err != nil || res.Stop != "end_turn" || text != "mine" {
		t.Errorf("%q, %+v, %v", text, res, err)
	}
	p.end()
}

// Words that go on in another conversation than ours end the turn.
func TestForeignConversation(t *testing.T) {
	p := newPeer(t, Profile{})
	opened(t, p)
	go func() {
		p.expect("session/prompt")
		prompt := p.last
		p.say(`{"method":"_claude/sdkMessage","params":{"sessionId":"s","message":{"type":"system","subtype":"init","session_id":"t"}}}`)
		p.expect("session/cancel")
		p.last = prompt
		p.say(`{"method":"_claude/sdkMessage","params":{"sessionId":"s","message":{"type":"result","session_id":"s"}}}`)
		p.answer(`{"stopReason":"cancelled"}`)
	}()
	res, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "hello"})
	if err != nil || res.SessionID != "t" || res.Stop != "cancelled" {
		t.Errorf("%+v, %v", res, err)
	}
	go func() {
		p.expect("session/prompt")
		p.say(`{"method":"_claude/sdkMessage","params":{"sessionId":"s","message":{"session_id":"s"}}}`)
		p.answer(`{"stopReason":"end_turn"}`)
	}()
	if res, err = p.c.Prompt(t.Context(), runtime.Turn{Words: "hello"}); err != nil || res.SessionID != "s" {
		t.Errorf("%+v, %v", res, err)
	}
	p.end()
}

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
