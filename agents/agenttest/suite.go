package agenttest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"xmd/runtime"
)

// Run runs every case against the target. Cases that share a process are in one group; a group starts a process or two. The
// test binary must call proc.GuardianMain first of all in TestMain.
func Run(t *testing.T, target Target) {
	t.Run("turns", func(t *testing.T) { turns(t, target) })
	t.Run("permission", func(t *testing.T) { permissions(t, target) })
	t.Run("cancel", func(t *testing.T) { cancels(t, target) })
	t.Run("continuity", func(t *testing.T) { continuity(t, target) })
	t.Run("missing", func(t *testing.T) { missing(t, target) })
	t.Run("removed", func(t *testing.T) { removed(t, target) })
	t.Run("emptied", func(t *testing.T) { emptied(t, target) })
	t.Run("other id", func(t *testing.T) { swapped(t, target) })
	t.Run("damaged", func(t *testing.T) { damaged(t, target) })
	t.Run("apart", func(t *testing.T) { apart(t, target) })
	t.Run("busy", func(t *testing.T) { busy(t, target) })
	t.Run("instructions", func(t *testing.T) { instructions(t, target) })
	t.Run("door", func(t *testing.T) { doors(t, target) })
	t.Run("teardown", func(t *testing.T) { teardown(t, target) })
}

// turns is start, prompt, stream, thought, tools and failure in one conversation.
func turns(t *testing.T, target Target) {
	doubt(t, target, colStart, colPrompt, colStream, colTools, colFailure)
	p, s := newPlace(t, target), target.Script
	l := p.start(t)
	t.Run("start", func(t *testing.T) {
		claim(t, target, colStart)
		l.on(t).begins()
	})
	t.Run("prompt", func(t *testing.T) {
		claim(t, target, colPrompt)
		h := l.on(t).good(s.Tell)
		if h.answer() != s.Told {
			t.Errorf("answer %q, want %q and none of the adapter's own words", h.answer(), s.Told)
		}
		if !h.accepted {
			t.Error("no update of the turn proves that the words were accepted")
		}
	})
	t.Run("stream", func(t *testing.T) {
		claim(t, target, colStream)
		h := l.on(t).good(need(t, s.Stream))
		if h.answer() != s.Streamed || h.pieces < 2 {
			t.Errorf("%d pieces made %q, want several that make %q", h.pieces, h.answer(), s.Streamed)
		}
	})
	t.Run("thought", func(t *testing.T) {
		h := l.on(t).good(need(t, s.Think))
		if got := h.thoughts.String(); strings.TrimSpace(got) != s.Thought {
			t.Errorf("thought %q, want %q", got, s.Thought)
		}
		if strings.Contains(h.answer(), s.Thought) {
			t.Errorf("the thought is in the answer %q", h.answer())
		}
	})
	t.Run("tools", func(t *testing.T) {
		claim(t, target, colTools)
		l.on(t).tools(need(t, s.Tool))
	})
	t.Run("failure", func(t *testing.T) {
		claim(t, target, colFailure)
		l.on(t).failure(need(t, s.Fail))
	})
	l.end()
	p.none(t)
}

// begins makes a conversation and looks at what is known of the agent then.
func (l *line) begins() {
	if l.info.Name == "" || l.info.Shown == "" || len(l.info.Command) == 0 {
		l.t.Errorf("an agent without a name or a command: %+v", l.info)
	}
	if o := l.open(""); o.ID == "" {
		l.t.Fatal("a new conversation has no id")
	}
	want := l.p.target.Version
	if v, ok := l.Connection.(runtime.HandshakeVersioner); ok && want != "" && v.HandshakeVersion() != want {
		l.t.Errorf("the handshake names version %q, want %s", v.HandshakeVersion(), want)
	}
}

func (l *line) tools(words string) {
	h, s := l.good(words), l.p.target.Script
	done := 0
	for _, tool := range h.tools {
		if tool.Status == "completed" {
			done++
		}
		if tool.ID == "" || tool.Kind == "" {
			l.t.Errorf("a tool call without id or kind: %+v", *tool)
		}
	}
	if done == 0 {
		l.t.Errorf("no tool call was completed: %d calls", len(h.tools))
	}
	if s.ToolSays != "" && !strings.Contains(h.outputs()+h.answer(), s.ToolSays) {
		l.t.Errorf("%q is neither in the tools' output %q nor in the answer %q", s.ToolSays, h.outputs(), h.answer())
	}
	if len(h.asked) > 0 && !s.ToolAsks {
		l.t.Errorf("it asked: %+v", h.asked)
	}
}

// failure: the agent ended the turn, but its model failed; the conversation goes on.
func (l *line) failure(words string) {
	s := l.p.target.Script
	h := l.prompt(words, allow)
	if !strings.Contains(h.Failure, s.Failed) || h.Failure == "" {
		l.t.Errorf("failure %q, want one with %q", h.Failure, s.Failed)
	}
	if strings.Contains(h.answer(), s.Failed) {
		l.t.Errorf("the failure is in the answer %q", h.answer())
	}
	if strings.HasPrefix(words, "HTTP ") && words != modelScript().Fail {
		differs(l.t, "shown with %s, not 500", words)
	}
	if l.showed(`"agent_message_chunk"`, s.Failed) {
		differs(l.t, "it says so as if it were an answer, which xmd keeps out of it")
	}
	if h.Usage != nil {
		differs(l.t, "the failed turn tells of tokens")
	}
	if h := l.good(s.Ask); !strings.Contains(h.answer(), s.Knows) {
		l.t.Errorf("after the failure: %q, want %q", h.answer(), s.Knows)
	}
}

func permissions(t *testing.T, target Target) {
	doubt(t, target, colReject, colCancel)
	if target.Script.Permit == nil {
		NotRun(t, "the target cannot be made to ask")
	}
	p := newPlace(t, target)
	l := p.start(t)
	l.open("")
	l.good(target.Script.Tell)
	t.Run("allowed", func(t *testing.T) { l.on(t).allowed(p.file("allowed.txt")) })
	t.Run("refused", func(t *testing.T) {
		claim(t, target, colReject)
		l.on(t).refused(p.file("refused.txt"), refuse)
	})
	t.Run("nobody to ask", func(t *testing.T) {
		claim(t, target, colReject)
		l.on(t).refused(p.file("nobody.txt"), nil)
	})
	t.Run("cancelled", func(t *testing.T) {
		claim(t, target, colCancel)
		l.on(t).cancelledAsking(p.file("cancelled.txt"))
	})
	t.Run("after them", func(t *testing.T) {
		if h := l.on(t).good(target.Script.Ask); !strings.Contains(h.answer(), target.Script.Knows) {
			t.Errorf("answer %q, want %q", h.answer(), target.Script.Knows)
		}
	})
	l.end()
	p.none(t)
}

func (l *line) allowed(file string) {
	s := l.p.target.Script
	var requests []runtime.PermissionRequest
	h := l.prompt(s.Permit(file), func(_ context.Context, r runtime.PermissionRequest) bool {
		requests = append(requests, r) // questions of one turn come one after another here
		return true
	})
	if h.Stop != "end_turn" || h.Failure != "" || h.Refused != 0 {
		l.t.Errorf("it ended as %q, failure %q, %d refused", h.Stop, h.Failure, h.Refused)
	}
	if len(requests) != 1 || len(h.asked) != 1 || !h.asked[0].Allowed {
		l.t.Fatalf("asked %+v, told %+v; want one question, allowed", requests, h.asked)
	}
	if r := requests[0]; r.CallID == "" || r.Title == "" || r.Kind == "" {
		l.t.Errorf("the question lacks something: %+v", r)
	}
	if s.Makes != exists(file) {
		l.t.Errorf("the file exists: %v", exists(file))
	}
	if !strings.Contains(h.answer(), s.Allowed) {
		l.t.Errorf("answer %q, want %q", h.answer(), s.Allowed)
	}
}

func (l *line) refused(file string, ask func(context.Context, runtime.PermissionRequest) bool) {
	h := l.prompt(l.p.target.Script.Permit(file), ask)
	if h.Refused != 1 || len(h.asked) != 1 || h.asked[0].Allowed {
		l.t.Errorf("%d refused, told %+v; want one question, refused", h.Refused, h.asked)
	}
	if exists(file) {
		l.t.Error("what was refused happened")
	}
	switch {
	case l.info.RejectEnds && h.answer() != "":
		l.t.Errorf("the refusal did not end the turn: %q", h.answer())
	case l.info.RejectEnds:
		differs(l.t, "a refusal ends the turn")
	case h.answer() == "":
		l.t.Errorf("the refusal ended the turn as %q", h.Stop)
	}
	if h.Failure != "" {
		l.t.Errorf("a refusal is no failure: %q", h.Failure)
	}
}

// cancelledAsking ends the turn while the question is open.
func (l *line) cancelledAsking(file string) {
	ctx, cancel := limit(l.t)
	defer cancel()
	h, err := l.promptWithin(ctx, l.p.target.Script.Permit(file), func(ctx context.Context, _ runtime.PermissionRequest) bool {
		cancel()
		<-ctx.Done()
		return true // too late to count
	})
	if err != nil {
		l.t.Fatalf("prompt: %v", err)
	}
	// The question is answered before the cancel is sent. An agent whose turn ends with a refusal may have ended it by then, and says so.
	if ended := h.Stop == "cancelled" || l.info.RejectEnds && h.Stop == "end_turn" && h.answer() == ""; !ended || h.Late {
		l.t.Errorf("it ended as %q, late: %v", h.Stop, h.Late)
	}
	if exists(file) {
		l.t.Error("what was cancelled happened")
	}
}

func cancels(t *testing.T, target Target) {
	claim(t, target, colCancel)
	p, s := newPlace(t, target), target.Script
	words := need(t, s.Slow)
	l := p.start(t)
	l.open("")
	l.good(s.Tell)
	ctx, cancel := limit(t)
	defer cancel()
	h := newHeard()
	go func() {
		select {
		case <-h.first:
		case <-ctx.Done():
		}
		cancel()
	}()
	if _, err := l.run(ctx, h, words, allow); err != nil {
		t.Fatalf("prompt: %v", err)
	}
	if h.Stop != "cancelled" || h.Late || h.Failure != "" {
		t.Fatalf("it ended as %q, late: %v, failure %q", h.Stop, h.Late, h.Failure)
	}
	if h.answer() == "" {
		t.Error("the partial answer is lost")
	}
	if h := l.good(s.Ask); !strings.Contains(h.answer(), s.Knows) {
		t.Errorf("after the cancel: %q, want %q", h.answer(), s.Knows)
	}
	l.end()
	p.none(t)
}

// on makes a subtest's own view of a connection, so that failures are reported where they belong.
func (l *line) on(t *testing.T) *line {
	return &line{t: t, p: l.p, Connection: l.Connection, info: l.info, prompted: l.prompted, frames: l.frames}
}

func (p *place) file(name string) string { return filepath.Join(p.Root, name) }

// need skips the test if the target has no such prompt.
func need(t *testing.T, words string) string {
	t.Helper()
	if words == "" {
		NotRun(t, "the target has no prompt for this")
	}
	return words
}
