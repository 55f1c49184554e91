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
