package acp

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"xmd/agents/link"
	"xmd/agents/past"
	"xmd/agents/sim"
	"xmd/runtime"
)

// minutely is the scripted agent that loses what is loaded in the minute it was made in, and a driver that knows it.
func minutely(t *testing.T, home string, notice func(string), loses bool) *conn {
	t.Helper()
	p := simLike()
	p.HomeVar, p.Files, p.MinuteLoses = "SIM", "sessions/session-{minute}-{id8}", loses
	ctx, stop := context.WithCancel(context.Background())
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	proc := &inside{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(proc.done)
		proc.code = sim.Main(ctx, []string{"--home", home, "--fault", "minute-loses"}, in, out, &proc.stderr, func(string) string { return "" })
		out.Close()
		in.Close()
	}()
	info := runtime.AgentInfo{Name: "sim", Shown: "Sim", ConfirmList: true}
	c := &conn{Link: link.Link{Info: info, Proc: proc}, p: &p, root: t.TempDir(), env: []string{"SIM=" + home}, notice: notice}
	connect(c, stdout, stdin, nil)
	t.Cleanup(func() { c.Close(context.Background()) })
	if err := c.initialize(t.Context(), "test", true); err != nil {
		t.Fatal(err)
	}
	return c
}

// Public report 3: a load in the minute in which the conversation was made overwrites it for good. The driver waits that minute out.
func TestReport3SameMinute(t *testing.T) {
	for _, knows := range []bool{true, false} {
		t.Run(fmt.Sprintf("known: %v", knows), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				home := t.TempDir()
				time.Sleep(20 * time.Second) // into the minute
				c := minutely(t, home, nil, knows)
				o, err := c.Open(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Prompt(t.Context(), runtime.Turn{Words: "The codeword is ZEBRA.", Sink: func(runtime.Update) {}}); err != nil {
					t.Fatal(err)
				}
				c.Close(t.Context())
				var told []string
				begun := time.Now()
				l := minutely(t, home, func(s string) { told = append(told, s) }, knows)
				got, err := l.Open(t.Context(), o.ID)
				if !knows {
					wantKind(t, err, runtime.KindMissing, "no conversation") // it is gone: nothing waits for it
					return
				}
				if err != nil || got.History.UserTurns != 1 {
					t.Fatalf("%+v, %v", got, err)
				}
				if took := time.Since(begun); took < 39*time.Second || took > 43*time.Second {
					t.Errorf("it took %s, the minute had 40 s left", took)
				}
				if len(told) != 1 || !strings.Contains(told[0], "minute") {
					t.Errorf("told %q", told)
				}
				l.Close(t.Context())
			})
		})
	}
}

// A wait for the minute ends with its context, and is no failure of the conversation.
func TestMinuteWaitIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home := t.TempDir()
		c := minutely(t, home, nil, true)
		o, err := c.Open(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Prompt(t.Context(), runtime.Turn{Words: "hello there", Sink: func(runtime.Update) {}}); err != nil {
			t.Fatal(err)
		}
		c.Close(t.Context())
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		_, err = minutely(t, home, nil, true).Open(ctx, o.ID)
		wantKind(t, err, runtime.KindCancelled, "")
	})
}

// Files that are made anew in every minute are not waited for without end.
func TestMinuteWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home := t.TempDir()
		p := newPeer(t, Profile{HomeVar: "H", Files: "{minute}-{id8}", MinuteLoses: true})
		p.c.env = []string{"H=" + home}
		for at := range 3 {
			name := time.Now().UTC().Add(time.Duration(at) * time.Minute).Format(minuteFormat)
			if err := os.WriteFile(filepath.Join(home, name+"-s"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		_, err := p.c.Open(t.Context(), "s")
		wantKind(t, err, runtime.KindCouldNot, "anew every minute")
		if took := time.Since(begun); took > minuteLimit {
			t.Errorf("it took %s", took)
		}
		p.end()
	})
}

const (
	geminiHead    = `{"sessionId":"%s","projectHash":"x","startTime":"2026-11-30T19:41:46.851Z","lastUpdated":"2026-11-30T19:41:46.851Z","kind":"main"}` + "\n"
	geminiContext = `{"$set":{"messages":[{"id":"1","type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI.\n</session_context>"}]}]}}` + "\n"
	geminiTurn    = `{"id":"2","timestamp":"2026-11-30T19:41:46.880Z","type":"user","content":[{"text":"hello"}]}` + "\n"
	geminiNow     = `{"$set":{"lastUpdated":"2026-11-30T19:41:46.880Z"}}` + "\n"
)

func TestGeminiFiles(t *testing.T) {
	head := fmt.Sprintf(geminiHead, "a")
	for name, c := range map[string]struct {
		text string
		want geminiFile
	}{
		"a turn":                  {head + geminiContext + geminiTurn + geminiNow, geminiFile{"a", true}},
		"a turn, its end cut off": {head + geminiContext + geminiTurn + `{"id":"3","ty`, geminiFile{"a", true}},
		"made by a load":          {head + geminiContext + head + geminiContext, geminiFile{"a", false}},
		"wiped":                   {head + geminiContext + geminiTurn + geminiContext, geminiFile{"a", false}},
		"loaded":                  {head + geminiContext + `{"$set":{"messages":[{"type":"user","content":"<session_context>x"},{"type":"user","content":"hi"}]}}`, geminiFile{"a", true}},
		"an answer alone":         {head + `{"id":"2","type":"gemini","content":"hi"}`, geminiFile{"a", true}},
		"empty":                   {"", geminiFile{}},
		"not one of these":        {"hello", geminiFile{"", true}},
		"no head":                 {geminiContext + geminiTurn, geminiFile{"", true}},
		"a strange message":       {head + `{"type":"user","content":{"x":1}}`, geminiFile{"a", true}},
	} {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readGemini(file); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

// twins is a home with the files of two conversations of Gemini's, as loads leave them.
func twins(t *testing.T) (*conn, func() string) {
	t.Helper()
	home := t.TempDir()
	head, other := fmt.Sprintf(geminiHead, "aaaaaaaa-1"), fmt.Sprintf(geminiHead, "bbbbbbbb-1")
	for name, text := range map[string]string{
		"p/chats/session-2026-11-30T19-41-aaaaaaaa.jsonl": head + geminiContext + geminiTurn,
		"p/chats/session-2026-11-30T19-42-aaaaaaaa.jsonl": head + geminiContext,
		"p/chats/session-2026-11-30T19-43-aaaaaaaa.jsonl": strings.Replace(head, "a-1", "a-2", 1) + geminiContext, // another id that begins so
		"p/chats/session-2026-11-30T19-42-bbbbbbbb.jsonl": other + geminiContext + geminiTurn,
		"p/chats/session-2026-11-30T19-44-bbbbbbbb.jsonl": other + geminiContext + geminiContext,
		"p/chats/session-2026-11-30T19-45-cccccccc.jsonl": fmt.Sprintf(geminiHead, "cccccccc-1") + geminiContext, // no other file has it
		"q/chats/session-2026-11-30T19-45-aaaaaaaa.jsonl": head + geminiContext,                                  // of another folder
	} {
		file := filepath.Join(home, "tmp", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &conn{p: &Profile{HomeVar: "H", Files: "tmp/*/chats/session-{minute}-{id8}.json*", Twins: true}, env: []string{"H=" + home}}
	return c, func() string {
		left, _ := filepath.Glob(filepath.Join(home, "tmp", "*", "chats", "*"))
		var names []string
		for _, name := range left {
			names = append(names, name[len(name)-len("q/chats/session-2026-11-30T19-45-aaaaaaaa.jsonl"):][:1]+name[len(name)-len("45-aaaaaaaa.jsonl"):len(name)-len("aaaaaaa.jsonl")])
		}
		return strings.Join(names, " ")
	}
}

func TestDropTwins(t *testing.T) {
	for id, want := range map[string]string{
		"aaaaaaaa-1": "p41-a p42-b p43-a p44-b p45-c q45-a",
		every:        "p41-a p42-b p43-a p45-c q45-a",
		"":           "p41-a p42-a p42-b p43-a p44-b p45-c q45-a",
		"aaaa*":      "p41-a p42-a p42-b p43-a p44-b p45-c q45-a",
	} {
		c, left := twins(t)
		c.dropTwins(id)
		if got := left(); got != want {
			t.Errorf("%q: left %s, want %s", id, got, want)
		}
	}
	c, left := twins(t)
	c.p.Twins = false
	c.dropTwins(every)
	if got := left(); !strings.Contains(got, "p42-a") {
		t.Errorf("of an agent that makes none: left %s", got)
	}
}

// An error that also means something else means that a conversation is gone only where no file has anything of it.
func TestMissingByFiles(t *testing.T) {
	const refused = `{"code":-32603,"message":"Internal error","data":{"details":"No previous sessions found for this project."}}`
	for id, kind := range map[string]runtime.Kind{"aaaaaaaa-1": runtime.KindCouldNot, "cccccccc-1": runtime.KindMissing, "dddddddd-1": runtime.KindMissing} {
		c, _ := twins(t)
		p := newPeer(t, *c.p)
		p.c.env = c.env
		p.c.p.Missing, p.c.p.Unlisted = []Shape{{Code: -32603, Member: "data.details", Prefix: "No previous sessions found"}}, true
		go func() {
			p.expect("session/load")
			p.say(fmt.Sprintf(`{"id":%s,"error":%s}`, p.last, refused))
		}()
		_, err := p.c.Open(t.Context(), id)
		wantKind(t, err, kind, "")
		p.end()
	}
}

// geminiLike is how Gemini shows a history: every piece of a user's is one message, without an id.
var geminiLike = &Profile{
	Forms:      past.Forms{Synthetic: []past.Frame{{Open: "<session_context>", Close: "</session_context>"}, {Open: "[Function Response: ", Close: "]"}}},
	WholeTurns: true,
	Unsaid:     []past.Frame{{Open: "[Function Call: ", Close: "]"}},
	Noise:      []string{"[MODE_UPDATE] "},
}

func TestHistoryOfWholeTurns(t *testing.T) {
	l := loading{p: geminiLike, past: past.New(&geminiLike.Forms)}
	for _, frame := range []string{
		asked("", "<session_context>\nx</session_context>"), asked("", "one"),
		answered("", "[Function Call: run_shell_command]"), aTool, asked("", "[Function Response: run_shell_command]"),
		asked("", "[Function Response: run_shell_command]"), answered("", "first"), answered("", "[MODE_UPDATE] plan"),
		asked("", "unanswered"), asked("", "two"), answered("", "sec"), answered("", "ond"),
	} {
		u, ok := parseUpdate([]byte(frame))
		if !ok {
			t.Fatal(frame)
		}
		l.replayed(&u)
	}
	h := l.past.History(true)
	if h.UserTurns != 3 {
		t.Fatalf("%d turns", h.UserTurns)
	}
	wantTurn(t, h.Newest[0], "one", "first")
	wantTurn(t, h.Newest[1], "unanswered", "")
	wantTurn(t, h.Newest[2], "two", "second")
}

// What an agent says of its mode in the middle of a turn is no answer, and no failure.
func TestNoise(t *testing.T) {
	p := newPeer(t, Profile{NoFence: true, Noise: []string{"[MODE_UPDATE] "}})
	p.c.id = "s"
	go func() {
		p.expect("session/prompt")
		p.update(answered("", "yes"))
		p.update(answered("", "[MODE_UPDATE] plan"))
		p.answer(`{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":3,"output_tokens":4}}}}`)
	}()
	var said, notices string
	res, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "hello", Sink: func(u runtime.Update) {
		switch u.Kind {
		case runtime.UpdateMessage:
			said += u.Text
		case runtime.UpdateNotice:
			notices += u.Text
		}
	}})
	if err != nil || res.Failure != "" || said != "yes" || notices != "[MODE_UPDATE] plan" {
		t.Errorf("%+v, %v, said %q, notices %q", res, err, said, notices)
	}
	if u := res.Usage; u == nil || *u.InputTokens != 3 || *u.OutputTokens != 4 {
		t.Errorf("usage %+v", u)
	}
	p.end()
}

// A model's own error answer, handed on as it came, is said in its words.
func TestModelsAnswerAsError(t *testing.T) {
	p := newPeer(t, Profile{NoFence: true})
	p.c.id = "s"
	go func() {
		p.expect("session/prompt")
		p.say(fmt.Sprintf(`{"id":%s,"error":{"code":400,"message":"{\"error\":{\"code\":400,\"message\":\"no such model\"}}"}}`, p.last))
	}()
	res, err := p.c.Prompt(t.Context(), runtime.Turn{Words: "hello"})
	if err != nil || res.Failure != "no such model" {
		t.Errorf("%+v, %v", res, err)
	}
	p.end()
}

func TestHomeBelowAnotherTop(t *testing.T) {
	p := Profile{HomeTop: "TOP", HomeDir: ".x"}
	for want, env := range map[string][]string{"/h/.x": {"HOME=/h"}, "/t/.x": {"HOME=/h", "TOP=/t"}} {
		if got := p.Home(env); got != filepath.FromSlash(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A person who has Gemini delete conversations is told once that it deletes those of xmd too. By default nothing is said.
func TestRetentionWarning(t *testing.T) {
	for settings, warns := range map[string]bool{
		"": false, "{": false, `{"general":{}}`: false,
		`{"general":{"sessionRetention":{"enabled":false,"maxAge":"2d"}}}`: false,
		`{"general":{"sessionRetention":{"enabled":true}}}`:                false,
		`{"general":{"sessionRetention":{"maxAge":"2d"}}}`:                 true,
		`{"general":{"sessionRetention":{"enabled":true,"maxCount":5}}}`:   true,
	} {
		home := t.TempDir()
		if settings != "" {
			if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p := newPeer(t, Profile{HomeVar: "H", Twins: true})
		var told []string
		p.c.env, p.c.notice = []string{"H=" + home}, func(s string) { told = append(told, s) }
		go func() {
			p.expect("session/new")
			p.answer(`{"sessionId":"s"}`)
		}()
		if _, err := p.c.Open(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if (len(told) == 1) != warns {
			t.Errorf("%s: told %q", settings, told)
		}
		p.end()
	}
}
