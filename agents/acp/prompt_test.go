package acp

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"xmd/runtime"
)

func TestTurnShapes(t *testing.T) {
	w := newWorld(t)
	c := w.start()
	w.open(c, "")
	for words, check := range map[string]func(*shown) bool{
		"THINK deep":   func(s *shown) bool { return s.thoughts == "deep" && s.text == "done" },
		"PLAN 3":       func(s *shown) bool { return s.count(runtime.UpdateTodo) >= 1 && s.text == "done" },
		"TOOLS 2":      func(s *shown) bool { return s.count(runtime.UpdateTool) >= 4 && s.text == "done" },
		"USAGE 10 100": func(s *shown) bool { return s.text == "done" },
		"CHUNKS 50 20": func(s *shown) bool { return len(s.text) == 1000 },
	} {
		if s := w.prompt(c, words); !check(s) || s.Stop != "end_turn" || s.Failure != "" || !s.accepted {
			t.Errorf("%s: %+v", words, s)
		}
	}
}

func TestToolCallsAreUniform(t *testing.T) {
	w := newWorld(t)
	c := w.start()
	w.open(c, "")
	s := w.prompt(c, "TOOLS 1")
	var first *runtime.ToolCall
	last := ""
	for _, u := range s.updates {
		if u.Kind == runtime.UpdateTool {
			if first == nil {
				first = u.Tool
			}
			if u.Tool.Status != "" {
				last = u.Tool.Status
			}
		}
	}
	if first == nil || first.Name != "Read" || first.Subject == "" || last != "completed" {
		t.Errorf("first %+v, last status %q", first, last)
	}
}

// A turn that the agent ended badly has a Failure; only a turn without an end is an error.
func TestTurnFailures(t *testing.T) {
	for name, c := range map[string]struct {
		fault, words string
		stop         string
		failure      string
		accepted     bool
	}{
		"error as end_turn":        {"error-as-end-turn=model overloaded", "hello there", "end_turn", "model overloaded", false},
		"system error":             {"system-error", "hello there", "end_turn", "system error", true},
		"error before acceptance":  {"prompt-error", "hello there", "error", "overloaded", false},
		"error after the answer":   {"late-error=-32603:cut", "hello there", "error", "cut", true},
		"error code as string":     {"error-code-string", "FAIL -32603 odd", "error", "odd", false},
		"FAIL":                     {"", "FAIL -32603 broken", "error", "broken", false},
		"a result of two MiB":      {"big-result=2MiB", "SAY ok", "end_turn", "", true},
		"harmless notice":          {"noise-chunk=Warning: model metadata not found", "SAY ok", "end_turn", "", true},
		"notice before the answer": {"noise-chunk=something odd", "SAY ok", "end_turn", "", true},
		"an unknown stop reason":   {"stop-reason=refusal", "SAY ok", "refusal", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var faults []string
			if c.fault != "" {
				faults = append(faults, c.fault)
			}
			conn := w.start(faults...)
			w.open(conn, "")
			s := w.prompt(conn, c.words)
			if s.Stop != c.stop || s.accepted != c.accepted || (c.failure == "") != (s.Failure == "") || !strings.Contains(s.Failure, c.failure) {
				t.Errorf("%+v", s)
			}
			if strings.Contains(s.text, "Warning") || strings.Contains(s.text, "odd") || strings.Contains(s.text, "overloaded") {
				t.Errorf("the adapter's words are in the answer: %q", s.text)
			}
		})
	}
}

func TestNotSignedInAtThePrompt(t *testing.T) {
	w := newWorld(t)
	c := w.start("auth=prompt")
	w.open(c, "")
	_, err := w.promptErr(t.Context(), c, "hello", nil)
	wantKind(t, err, runtime.KindNotSignedIn)
}

func TestProcessThatDies(t *testing.T) {
	for _, fault := range []string{"crash=prompt", "crash=mid-turn"} {
		t.Run(fault, func(t *testing.T) {
			w := newWorld(t)
			c := w.start(fault)
			w.open(c, "")
			_, err := w.promptErr(t.Context(), c, "hello there", nil)
			wantKind(t, err, runtime.KindFailed, "middle of a turn", "exit code 7")
			select {
			case <-c.Done():
			case <-time.After(10 * time.Second):
				t.Error("Done is open")
			}
			_, err = w.promptErr(t.Context(), c, "again", nil)
			wantKind(t, err, runtime.KindFailed, "nothing was sent")
		})
	}
}

// An agent that answers and exits has answered.
func TestAnswerThenExit(t *testing.T) {
	w := newWorld(t)
	c := w.start("crash=after-answer")
	w.open(c, "")
	if s := w.prompt(c, "CHUNKS 200 20"); len(s.text) != 4000 || s.Stop != "end_turn" {
		t.Errorf("%d bytes, %q", len(s.text), s.Stop)
	}
}

// Whatever comes over the wire, the answer is the answer.
func TestWireSurvives(t *testing.T) {
	for name, c := range map[string]struct {
		faults []string
		prefix int // bytes of the fault's own before the answer
	}{
		"burst":      {[]string{"burst=20000"}, -1},
		"big line":   {[]string{"big-line=3MiB"}, -1},
		"junk":       {[]string{"junk"}, 0},
		"unknown":    {[]string{"unknown-updates"}, 0},
		"utf-8":      {[]string{"split-utf8=bytes"}, 0},
		"string ids": {[]string{"id-as-string"}, 0},
		"all":        {[]string{"junk", "unknown-updates", "split-utf8", "id-as-string"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			conn := w.start(c.faults...)
			w.open(conn, "")
			s := w.prompt(conn, "SAY grün — 日本 🙂")
			if s.Stop != "end_turn" || s.Failure != "" || !strings.HasSuffix(s.text, "grün — 日本 🙂") {
				t.Errorf("stop %q failure %q text of %d bytes", s.Stop, s.Failure, len(s.text))
			}
			if c.prefix == 0 && s.text != "grün — 日本 🙂" {
				t.Errorf("text %q", s.text)
			}
		})
	}
}

func TestOverlongLineDoesNotEndTheTurn(t *testing.T) {
	if testing.Short() {
		t.Skip("65 MiB")
	}
	w := newWorld(t)
	c := w.start("big-line=65MiB")
	w.open(c, "")
	if s := w.prompt(c, "SAY ok"); s.text != "ok" || s.Stop != "end_turn" {
		t.Errorf("%d bytes, %+v", len(s.text), s.TurnResult)
	}
}

func TestCancel(t *testing.T) {
	for _, words := range []string{"HANG", "SLEEP 60000"} {
		t.Run(words, func(t *testing.T) {
			w := newWorld(t)
			c := w.start()
			w.open(c, "")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			defer context.AfterFunc(ctx, func() {})()
			go cancel()
			s, err := w.promptErr(ctx, c, words, nil)
			if errors.Is(err, context.Canceled) {
				return // before anything was sent
			}
			if err != nil || s.Stop != "cancelled" || s.Late {
				t.Fatalf("%+v, %v", s.TurnResult, err)
			}
			if s := w.prompt(c, "SAY next"); s.text != "next" || s.Stop != "end_turn" {
				t.Errorf("the next turn: %+v", s)
			}
		})
	}
}

// A pending permission is answered before the cancel: an agent may wait for it.
func TestCancelAnswersQuestionsFirst(t *testing.T) {
	w := newWorld(t)
	c := w.start("cancel-waits")
	w.open(c, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := w.promptErr(ctx, c, "PERM execute", func(ask context.Context, _ runtime.PermissionRequest) bool {
		cancel()
		<-ask.Done() // the person never answers
		return true
	})
	if err != nil || s.Stop != "cancelled" || s.Late || s.Refused != 0 {
		t.Errorf("%+v, %v", s.TurnResult, err)
	}
}

func TestPermissions(t *testing.T) {
	for name, c := range map[string]struct {
		faults  []string
		ask     asker
		answer  string
		refused int
		reason  string
	}{
		"allowed":              {nil, always(true), "permission: allow_once", 0, ""},
		"always stands first":  {[]string{"permission-always-first"}, always(true), "permission: allow_once", 0, ""},
		"refused":              {nil, always(false), "permission: reject_once", 1, ""},
		"nobody":               {nil, nil, "permission: reject_once", 1, "nobody to ask"},
		"only always, allowed": {[]string{"permission-always-only"}, always(true), "", 1, "no matching option"}, // answered as cancelled: it ends the turn
		"only always, refused": {[]string{"permission-always-only"}, always(false), "", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			conn := w.start(c.faults...)
			w.open(conn, "")
			s, err := w.promptErr(t.Context(), conn, "PERM execute", c.ask)
			if err != nil {
				t.Fatal(err)
			}
			if s.text != c.answer || s.Refused != c.refused {
				t.Errorf("answer %q, refused %d", s.text, s.Refused)
			}
			var out *runtime.PermissionOutcome
			for _, u := range s.updates {
				if u.Kind == runtime.UpdatePermission {
					out = u.Permission
				}
			}
			if out == nil || out.Reason != c.reason || out.Allowed != (c.refused == 0) || out.Request.Kind != "execute" {
				t.Errorf("outcome %+v", out)
			}
		})
	}
}

// The words are accepted as soon as the agent asks, not when a person has answered.
func TestQuestionAccepts(t *testing.T) {
	w := newWorld(t)
	c := w.start()
	w.open(c, "")
	var mu sync.Mutex
	accepted, atQuestion := false, false
	_, err := c.Prompt(t.Context(), runtime.Turn{
		Words: "PERM edit",
		Sink: func(u runtime.Update) {
			mu.Lock()
			defer mu.Unlock()
			accepted = accepted || u.Accepts
		},
		Ask: func(context.Context, runtime.PermissionRequest) bool {
			mu.Lock()
			defer mu.Unlock()
			atQuestion = accepted
			return true
		},
	})
	if err != nil || !atQuestion {
		t.Errorf("accepted at the question: %v, %v", atQuestion, err)
	}
}

func TestRejectThatEndsTheTurn(t *testing.T) {
	w := newWorld(t)
	c := w.start("reject-ends=cancelled")
	w.open(c, "")
	s, err := w.promptErr(t.Context(), c, "PERM execute", always(false))
	if err != nil || s.Stop != "cancelled" || s.Refused != 1 {
		t.Errorf("%+v, %v", s.TurnResult, err)
	}
}

// The id that a result states is looked at where the profile says that it is the provider's own.
func TestTurnStatesItsID(t *testing.T) {
	for fault, asserts := range map[string]bool{"turn-id=another": true, "turn-id=other": false} {
		w := newWorld(t)
		p := simLike()
		p.Asserts = asserts
		c := w.startAs(p, fault)
		w.open(c, "")
		want := ""
		if asserts {
			want = "another"
		}
		if s := w.prompt(c, "SAY ok"); s.SessionID != want {
			t.Errorf("%s: stated %q, want %q", fault, s.SessionID, want)
		}
	}
}

// What follows a turn's result belongs to no turn.
func TestLateUpdates(t *testing.T) {
	for _, kind := range []string{"late-update=chunk", "late-update=info"} {
		w := newWorld(t)
		c := w.start(kind)
		w.open(c, "")
		for turn := range int64(3) {
			for c.dropped.Load()+c.unknown.Load() < turn+1 { // the commands of a new conversation, then what is late
				goruntime.Gosched()
			}
			if s := w.prompt(c, "SAY one"); s.text != "one" {
				t.Errorf("%s: %q", kind, s.text)
			}
		}
	}
}
