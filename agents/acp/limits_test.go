package acp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime"
)

// Each wait for an answer that does not come ends at its limit, and the error says what was waited for and how long.
func TestSilenceEverywhere(t *testing.T) {
	answered := func(p *peer, method, result string) {
		p.expect(method)
		p.answer(result)
	}
	cases := map[string]struct {
		id    string
		play  func(p *peer)
		then  func(c *conn) error
		limit time.Duration
		kind  runtime.Kind
		says  string
	}{
		"new":          {"", func(p *peer) { p.expect("session/new") }, nil, DefaultNewLimit, runtime.KindUnavailable, "X did not answer session/new within 1m0s"},
		"mode of new":  {"", func(p *peer) { answered(p, "session/new", `{"sessionId":"s"}`); p.expect("session/set_mode") }, nil, DefaultNewLimit, runtime.KindUnavailable, "X did not answer session/set_mode within 1m0s"},
		"load":         {"s", func(p *peer) { p.expect("session/load") }, nil, DefaultLoadLimit, runtime.KindCouldNot, "nothing came for 1m0s"},
		"mode of load": {"s", func(p *peer) { answered(p, "session/load", `{}`); p.expect("session/set_mode") }, nil, DefaultNewLimit, runtime.KindCouldNot, "X did not answer session/set_mode within 1m0s"},
		"option": {"", func(p *peer) {
			answered(p, "session/new", `{"sessionId":"s","configOptions":[{"id":"allow_all","currentValue":"on"}]}`)
			answered(p, "session/set_mode", `{}`)
			p.expect("session/set_config_option")
		}, nil, DefaultNewLimit, runtime.KindUnavailable, "X did not answer session/set_config_option within 1m0s"},
		"model": {"", func(p *peer) {
			answered(p, "session/new", `{"sessionId":"s","models":{"currentModelId":"a","availableModels":[{"modelId":"a"},{"modelId":"b"}]}}`)
			answered(p, "session/set_mode", `{}`)
			p.expect("session/set_model")
		}, func(c *conn) error { return c.Configure(context.Background(), runtime.Settings{Model: "b"}) }, DefaultNewLimit, runtime.KindUnavailable, "X did not answer session/set_model within 1m0s"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t, Profile{NoFence: true, Mode: "ask", Options: []Option{{ID: "allow_all", Value: "off"}}})
				go c.play(p)
				began := time.Now()
				_, err := p.c.Open(t.Context(), c.id)
				if c.then != nil && err == nil {
					err = c.then(p.c)
				}
				wantKind(t, err, c.kind, c.says)
				if e := err.(*runtime.Error); !e.Retryable {
					t.Error("it is not retryable, though nothing was sent")
				}
				if took := time.Since(began); took < c.limit || took >= 2*c.limit {
					t.Errorf("given up after %s", took)
				}
				p.end()
			})
		})
	}
}

// A list that is not answered is one that is not offered: the load still succeeds.
func TestSilentList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, Profile{NoFence: true})
		p.c.shakes.list = true
		go func() {
			p.expect("session/load")
			p.answer(`{}`)
			p.expect("session/list")
		}()
		began := time.Now()
		o, err := p.c.Open(t.Context(), "s")
		if err != nil || o.Listed != runtime.ListNotOffered || time.Since(began) != DefaultLoadLimit {
			t.Errorf("%+v, %v, after %s", o, err, time.Since(began))
		}
		p.end()
	})
}

// In a real process: silence at each point is an error after its limit and leaves nothing, and a load that is slow but says something is
// waited for.
func TestSilentProcess(t *testing.T) {
	const limit = 400 * time.Millisecond
	p := simLike()
	p.Mode = "ask"
	p.StartLimit, p.NewLimit, p.LoadLimit, p.EOFWait = 20*time.Second, limit, limit, 50*time.Millisecond
	home := t.TempDir()
	begin := func(fault string, p Profile) (runtime.Connection, error) {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return start(t, agentOf(p, self, "sim", "--home", home, "--fault", fault), runtime.StartOptions{Root: home})
	}
	c, err := begin("version=1", p)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := c.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if _, err := c.Prompt(t.Context(), runtime.Turn{Words: "words"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for fault, want := range map[string]struct {
		id   string
		kind runtime.Kind
		says string
	}{
		"unanswered=new":  {"", runtime.KindUnavailable, "did not answer session/new within 400ms"},
		"unanswered=mode": {"", runtime.KindUnavailable, "did not answer session/set_mode within 400ms"},
		"load-hangs":      {opened.ID, runtime.KindCouldNot, "nothing came for 400ms"},
		"load-slow=150":   {opened.ID, "", ""},
	} {
		t.Run(fault, func(t *testing.T) {
			c, err := begin(fault, p)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err = c.Open(t.Context(), want.id)
			took := time.Since(began)
			if want.kind == "" && (err != nil || took < 2*limit) {
				t.Errorf("%v after %s", err, took)
			}
			if want.kind != "" {
				wantKind(t, err, want.kind, want.says)
			}
			pid := c.(*conn).Proc.(interface{ Pid() int }).Pid()
			if err := c.Close(t.Context()); err != nil || syscall.Kill(pid, 0) == nil {
				t.Errorf("%v, or process %d is still there", err, pid)
			}
		})
	}
	p.StartLimit = limit
	_, err = begin("unanswered=initialize", p)
	wantKind(t, err, runtime.KindUnavailable, "it did not answer initialize within 400ms")
}

// Case B8: a command that is no ACP agent and says nothing is given up after its limit and named, and no attempt leaves a process.
func TestCaseB8(t *testing.T) {
	root := t.TempDir()
	quick := Profile{StartLimit: 200 * time.Millisecond, EOFWait: 10 * time.Millisecond}
	for range 3 {
		_, err := start(t, agentOf(quick, script(t, "echo $$ >> pids; exec sleep 1000")), runtime.StartOptions{Root: root})
		wantKind(t, err, runtime.KindUnavailable, "does not speak the Agent Client Protocol", "did not answer initialize within 200ms", "agent.sh")
	}
	pids, err := os.ReadFile(filepath.Join(root, "pids"))
	if err != nil || len(strings.Fields(string(pids))) != 3 {
		t.Fatalf("%q, %v", pids, err)
	}
	for _, word := range strings.Fields(string(pids)) {
		pid, err := strconv.Atoi(word)
		if err != nil || syscall.Kill(pid, 0) == nil {
			t.Errorf("%v, or process %d is still there", err, pid)
		}
	}
}

// Report 21: after a cancel a second end of the cancelled turn comes with the next prompt. Each answer is of the request it names.
func TestReport21SecondEnd(t *testing.T) {
	p := newPeer(t, Profile{})
	opened(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		p.expect("session/prompt")
		first := p.last
		cancel()
		p.expect("session/cancel")
		p.say(fmt.Sprintf(`{"id":%s,"result":{"stopReason":"cancelled"}}`, first))
		p.expect("session/prompt")
		p.say(fmt.Sprintf(`{"id":%s,"result":{"stopReason":"cancelled"}}`, first))
		p.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"mine"}}`)
		p.answer(`{"stopReason":"end_turn"}`)
	}()
	if res, err := p.c.Prompt(ctx, runtime.Turn{Words: "one"}); err != nil || res.Stop != "cancelled" {
		t.Fatalf("%+v, %v", res, err)
	}
	text := ""
	res, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "two", Sink: func(u runtime.Update) { text += u.Text }})
	if err != nil || res.Stop != "end_turn" || text != "mine" {
		t.Errorf("%q, %+v, %v", text, res, err)
	}
	p.end()
}
