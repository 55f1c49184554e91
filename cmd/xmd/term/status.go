package term

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"xmd/runtime/event"
)

// Status follows the event stream and words the status line: what is at work or waited for, and for how long. It is a Sink; its methods may
// be called from any goroutine.
type Status struct {
	now     func() time.Time
	changed func()

	mu   sync.Mutex
	work []*work // in the order of their beginning
}

// work is one step that has begun and not ended.
type work struct {
	step, place, kind string
	agent, session    string
	shown             string // the agent's name for people
	began             time.Time
	phase             string
	calls             []call // that go on
	tokens            int64  // 0: not reported
}

// call is one action of an agent.
type call struct{ id, words string }

// NewStatus makes the sink. changed is called when another line may be wanted, with nothing held; it must be quick.
func NewStatus(now func() time.Time, changed func()) *Status {
	return &Status{now: now, changed: changed}
}

// waits are the kinds of steps that take time, with what is awaited. What asks a person or has the terminal to itself is none of them.
var waits = map[string]string{
	"prompt": "waiting for the session and its agent",
	"exec":   "waiting for the program to end",
	"fetch":  "waiting for the server",
}

// Event takes one event.
func (s *Status) Event(e *event.Event) {
	if e.Replayed && e.Type != event.StepStarted { // of a step that goes on the start is told again
		return
	}
	if s.take(e) {
		s.changed()
	}
}

// take says whether e changes the line.
func (s *Status) take(e *event.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Type {
	case event.StepStarted:
		return s.begin(e)
	case event.StepEnded:
		n := len(s.work)
		s.work = slices.DeleteFunc(s.work, func(w *work) bool { return w.step == e.At.Step })
		return n != len(s.work)
	case event.RunEnded:
		s.work = nil
		return true
	}
	w := s.find(e.At.Step)
	if w == nil {
		return false
	}
	w.agent, w.session = or(e.At.Agent, w.agent), or(e.At.Session, w.session)
	return w.take(e)
}

func (s *Status) begin(e *event.Event) bool {
	body, ok := e.Body.(*event.Step)
	if !ok || waits[body.Kind] == "" {
		return false
	}
	s.work = append(s.work, &work{
		step: e.At.Step, place: e.At.Position, kind: body.Kind, agent: e.At.Agent, session: e.At.Session, began: s.now(), phase: waits[body.Kind],
	})
	return true
}

// find is the step's work. A second asking of a prompt, "…#2", belongs to it.
func (s *Status) find(step string) *work {
	own, _, _ := strings.Cut(step, "#")
	for _, w := range s.work {
		if w.step == step || w.step == own {
			return w
		}
	}
	return nil
}

func (w *work) take(e *event.Event) bool {
	switch body := e.Body.(type) {
	case *event.Agent:
		w.shown, w.phase = body.Shown, "waiting for "+body.Shown+" to open the conversation"
	case *event.Sent:
		w.phase = "waiting for " + w.name() + " to begin"
	case *event.Accepted:
		w.phase = "at work"
	case *event.Delta:
		if e.Type != event.Message && e.Type != event.Thought || w.phase == "at work" {
			return false
		}
		w.phase = "at work"
	case *event.Tool:
		w.phase = "at work"
		w.action(e.Type, body)
	case *event.Used:
		w.used(body.Usage)
	case *event.Ended:
		w.phase, w.calls = "closing the turn", nil
		w.used(body.Usage)
	default:
		return false
	}
	return true
}

func (w *work) name() string { return or(w.shown, w.agent, "the agent") }

// action keeps the calls that go on, the last one last.
func (w *work) action(t event.Type, body *event.Tool) {
	w.calls = slices.DeleteFunc(w.calls, func(c call) bool { return c.id == body.ID })
	if t == event.ToolStarted {
		w.calls = append(w.calls, call{body.ID, Action(body)})
	}
}

// used takes what an agent reported; a figure that is not there is not known, which is not zero.
func (w *work) used(usage any) {
	raw, err := json.Marshal(usage)
	if err != nil || usage == nil {
		return
	}
	var u struct {
		Input  *int64 `json:"inputTokens"`
		Output *int64 `json:"outputTokens"`
		Total  *int64 `json:"totalTokens"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return
	}
	switch {
	case u.Total != nil:
		w.tokens = *u.Total
	case u.Input != nil && u.Output != nil:
		w.tokens = *u.Input + *u.Output
	}
}

// Line is the status line wanted now; "" when nothing is at work.
func (s *Status) Line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.work) == 0 {
		return ""
	}
	w := s.work[0]
	parts := []string{w.place}
	if w.agent != "" {
		parts = append(parts, strings.TrimSuffix(w.agent+"/"+w.session, "/"))
	}
	parts = append(parts, elapsed(s.now().Sub(w.began)))
	if n := len(w.calls); n > 0 {
		parts = append(parts, w.calls[n-1].words)
	} else {
		parts = append(parts, w.phase)
	}
	if w.tokens > 0 {
		parts = append(parts, tokens(w.tokens))
	}
	if more := len(s.work) - 1; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return oneLine(strings.Join(parts, " · "))
}

// Action words a tool call in one line: its name, and what it is about.
func Action(t *event.Tool) string {
	words := or(t.Name, t.Kind, "tool")
	if t.Subject != "" && t.Subject != words {
		words += " " + t.Subject
	}
	return Fit(oneLine(words), mostActionColumns)
}

// mostActionColumns bounds the words of a tool call.
const mostActionColumns = 120

// Took words how long something took, in the unit that tells it best.
func Took(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return elapsed(d)
}

func elapsed(d time.Duration) string {
	d = d.Truncate(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0:
		return fmt.Sprintf("%dh%02dm", h, m)
	case m > 0:
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%ds", s)
}

func tokens(n int64) string {
	if n < 10_000 {
		return fmt.Sprintf("%d tokens", n)
	}
	return fmt.Sprintf("%dk tokens", n/1000)
}

// or is the first text that is not empty.
func or(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
