//go:build unix

package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"xmd/runtime"
)

// script is what the client did in a recording.
type script struct {
	load  string // the id that was loaded; "" for a new conversation
	turns []scriptTurn
}

type scriptTurn struct {
	words       string
	answers     []bool // to the permission requests; one that is missing was cancelled
	cancelAfter int    // message chunks; -1: not cancelled while it streamed
}

func scriptOf(frames []recorded) script {
	var s script
	chunks := 0
	for _, r := range frames {
		var m struct {
			rpcMessage
			Params struct {
				SessionID string                  `json:"sessionId"`
				Prompt    []struct{ Text string } `json:"prompt"`
				Update    struct {
					SessionUpdate string `json:"sessionUpdate"`
				} `json:"update"`
			} `json:"params"`
			Result struct {
				Outcome *struct {
					OptionID string `json:"optionId"`
				} `json:"outcome"`
			} `json:"result"`
		}
		_ = json.Unmarshal(r.Frame, &m)
		last := len(s.turns) - 1
		switch {
		case m.Method == "session/load" && s.load == "":
			s.load = m.Params.SessionID
		case m.Method == "session/prompt":
			s.turns = append(s.turns, scriptTurn{words: m.Params.Prompt[0].Text, cancelAfter: -1})
			chunks = 0
		case r.Dir == "in" && m.Params.Update.SessionUpdate == "agent_message_chunk":
			chunks++
		case r.Dir == "out" && m.Method == "" && last >= 0 && m.Result.Outcome != nil && m.Result.Outcome.OptionID != "":
			id := m.Result.Outcome.OptionID
			allowed := strings.HasPrefix(id, "allow") || id == "once" || id == "proceed_once"
			s.turns[last].answers = append(s.turns[last].answers, allowed)
		case m.Method == "session/cancel" && last >= 0:
			s.turns[last].cancelAfter = chunks
		}
	}
	return s
}

// showing writes down what a turn shows.
type showing struct {
	mu     sync.Mutex
	out    strings.Builder
	text   string
	reply  string
	other  int
	chunks int
	enough func() // called when the recorded client cancelled
	after  int
}

func (s *showing) sink(u runtime.Update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.Kind == runtime.UpdateMessage {
		s.reply += u.Text
		s.text += u.Text
	} else if u.Kind != runtime.UpdateOther {
		s.flush()
	}
	accepts := ""
	if !u.Accepts && u.Kind != runtime.UpdateOther {
		accepts = " (accepts nothing)"
	}
	switch u.Kind {
	case runtime.UpdateOther:
		s.other++
	case runtime.UpdateThought:
		fmt.Fprintf(&s.out, "  thought %q%s\n", u.Text, accepts)
	case runtime.UpdateNotice:
		fmt.Fprintf(&s.out, "  notice %q%s\n", u.Text, accepts)
	case runtime.UpdateTool:
		data, _ := json.Marshal(u.Tool)
		fmt.Fprintf(&s.out, "  tool %s%s\n", data, accepts)
	case runtime.UpdatePermission:
		data, _ := json.Marshal(u.Permission)
		fmt.Fprintf(&s.out, "  permission %s\n", data)
	case runtime.UpdateUsage, runtime.UpdateTodo:
		data, _ := json.Marshal(u.Usage)
		fmt.Fprintf(&s.out, "  usage %s\n", data)
	case runtime.UpdateCompaction:
		fmt.Fprintf(&s.out, "  compaction\n")
	}
	if u.Kind == runtime.UpdateMessage || u.Kind == runtime.UpdateNotice {
		if s.chunks++; s.after >= 0 && s.chunks == s.after {
			s.enough()
		}
	}
}

func (s *showing) flush() {
	if s.text != "" {
		fmt.Fprintf(&s.out, "  message %q\n", s.text)
		s.text = ""
	}
}

func runTurn(t *testing.T, c runtime.Connection, turn scriptTurn) string {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &showing{enough: cancel, after: turn.cancelAfter}
	asked := 0
	res, err := c.Prompt(ctx, runtime.Turn{Words: turn.words, Sink: s.sink, Ask: func(ctx context.Context, _ runtime.PermissionRequest) bool {
		if asked == len(turn.answers) {
			cancel()
			<-ctx.Done()
			return false
		}
		asked++
		return turn.answers[asked-1]
	}})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	var out strings.Builder
	fmt.Fprintf(&out, "prompt %q\n%s", turn.words, s.out.String())
	if err != nil {
		fmt.Fprintf(&out, "  error [%s] %v\n", runtime.KindOf(err), err)
		return out.String()
	}
	data, _ := json.Marshal(res)
	fmt.Fprintf(&out, "  result %s\n", data)
	return out.String()
}
