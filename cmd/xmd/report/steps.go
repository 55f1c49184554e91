package report

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"xmd/runtime/event"
	"xmd/runtime/journal"
)

const (
	// mostText bounds, in bytes, each text of a step that a report holds: words, a reply, a tool's output.
	mostText = 64 << 10
	// mostParts bounds what a turn shows of an agent's work.
	mostParts = 2000
)

// step is what a report tells of one step. It is complete when done is called with it.
type step struct {
	Number   int // from 1, in the order in which steps began
	ID       string
	Position string
	Kind     string
	Agent    string
	Session  string
	Start    time.Time
	End      time.Time
	Outcome  string // "": it did not end
	ExitCode *int
	Error    *event.Error
	Replayed bool // told from the record of an earlier invocation
	Turns    []*turn
	Stdout   string // the last of what a program wrote
	Stderr   string
}

// turn is one request to an agent.
type turn struct {
	Words    string
	Reply    string
	Parts    []part
	Adopted  bool
	Identity string
	History  string
	Usage    usage
	Error    *event.Error
	left     int // parts that were left out
	tools    map[string]int
}

// part is one thing of a turn: an action, a permission, a thought, a notice.
type part struct {
	Kind    string // tool, permission, thought, notice
	Name    string
	Subject string
	Outcome string
	Text    string
	Diffs   []diff
}

// diff is one edit of an action.
type diff struct {
	Path string  `json:"path"`
	Old  *string `json:"old"`
	New  string  `json:"new"`
}

// usage is what an agent reported; nil: it did not.
type usage struct {
	Input  *int64   `json:"inputTokens"`
	Output *int64   `json:"outputTokens"`
	Cached *int64   `json:"cachedTokens"`
	Total  *int64   `json:"totalTokens"`
	Cost   *float64 `json:"cost"`
	Unit   string   `json:"currency"`
}

// inner are the kinds of decisions, which are no work of their own.
var inner = map[string]bool{"if": true, "loop": true, "try": true, "agent": true, "tempdir": true}

// steps follows the event stream. What has ended is given away, so that its texts need not be kept.
type steps struct {
	done  func(*step) // called when a step has ended, and for those without an end when the run has
	heavy bool        // texts are kept
	open  map[string]*step
	order []*step
	count int
}

func newSteps(heavy bool, done func(*step)) *steps {
	return &steps{done: done, heavy: heavy, open: map[string]*step{}}
}

// event takes one event.
func (s *steps) event(e *event.Event) {
	switch body := e.Body.(type) {
	case *event.Step:
		s.step(e, body)
	case *event.Sent:
		s.turn(e, true).Words = clip(body.Words)
	case *event.Ended:
		s.answered(s.turn(e, false), body)
	case *event.Delta:
		s.text(e, body)
	case *event.Tool:
		s.tool(e, body)
	case *event.Asked:
		s.asked(e, body)
	case *event.End:
		for _, st := range s.order {
			if s.open[st.ID] == st {
				s.close(st, e.Time)
			}
		}
	}
}

// at is the step that an event belongs to; nil: none.
func (s *steps) at(e *event.Event) *step {
	if e.At.Step == "" {
		return nil
	}
	id := journal.StepOf(e.At.Step)
	st := s.open[id]
	if st == nil {
		s.count++
		st = &step{Number: s.count, ID: id, Position: e.At.Position, Start: e.Time, Replayed: e.Replayed}
		s.open[id] = st
		s.order = append(s.order, st)
	}
	if st.Agent == "" {
		st.Agent, st.Session = e.At.Agent, e.At.Session
	}
	return st
}

func (s *steps) step(e *event.Event, body *event.Step) {
	if inner[body.Kind] || body.Outcome == "left" {
		return
	}
	st := s.at(e)
	if st == nil {
		return
	}
	st.Kind = body.Kind
	if e.Type != event.StepEnded {
		return
	}
	st.Outcome, st.ExitCode, st.Error = body.Outcome, body.ExitCode, body.Error
	s.close(st, e.Time)
}

// close gives a step away. One that begins again, as in the rounds of a REPL, is another.
func (s *steps) close(st *step, at time.Time) {
	st.End = at
	delete(s.open, st.ID)
	s.done(st)
	st.Turns, st.Stdout, st.Stderr = nil, "", ""
	for len(s.order) > 0 && s.open[s.order[0].ID] != s.order[0] {
		s.order = s.order[1:]
	}
}

// turn is the one that an event belongs to: a further one when it is sent, else the newest.
func (s *steps) turn(e *event.Event, sent bool) *turn {
	st := s.at(e)
	if st == nil {
		return &turn{}
	}
	if sent || len(st.Turns) == 0 {
		st.Turns = append(st.Turns, &turn{tools: map[string]int{}})
	}
	return st.Turns[len(st.Turns)-1]
}

func (s *steps) answered(t *turn, body *event.Ended) {
	t.Reply, t.Adopted, t.Error = clip(body.Reply), body.Adopted, body.Error
	t.Identity, t.History = body.Identity, body.History
	if raw, err := json.Marshal(body.Usage); err == nil && body.Usage != nil {
		_ = json.Unmarshal(raw, &t.Usage) // what does not fit was not reported
	}
}

// text takes a piece of what a program, an agent's thought or an adapter said.
func (s *steps) text(e *event.Event, body *event.Delta) {
	if !s.heavy {
		return
	}
	switch e.Type {
	case event.ExecOutput:
		if st := s.at(e); st != nil && body.Stream == "stderr" {
			st.Stderr = tail(st.Stderr, body.Text)
		} else if st != nil {
			st.Stdout = tail(st.Stdout, body.Text)
		}
	case event.Thought, event.Notice:
		if e.At.Step == "" {
			return
		}
		t := s.turn(e, false)
		if n := len(t.Parts); n > 0 && t.Parts[n-1].Kind == string(e.Type) {
			t.Parts[n-1].Text = clip(t.Parts[n-1].Text + body.Text)
			return
		}
		t.add(part{Kind: string(e.Type), Text: clip(body.Text)})
	}
}

func (t *turn) add(p part) {
	if len(t.Parts) >= mostParts {
		t.left++
		return
	}
	t.Parts = append(t.Parts, p)
}

func (s *steps) tool(e *event.Event, body *event.Tool) {
	if !s.heavy {
		return
	}
	t := s.turn(e, false)
	i, seen := t.tools[body.ID]
	if !seen {
		t.add(part{Kind: "tool"})
		if i = len(t.Parts) - 1; t.left > 0 {
			return
		}
		if t.tools != nil {
			t.tools[body.ID] = i
		}
	}
	p := &t.Parts[i]
	if body.Name != "" {
		p.Name = clip(body.Name)
	}
	if body.Subject != "" {
		p.Subject = clip(body.Subject)
	}
	if body.Outcome != "" {
		p.Outcome = body.Outcome
	}
	if body.Output != "" {
		p.Text = clip(body.Output)
	}
	if raw, err := json.Marshal(body.Diffs); err == nil && body.Diffs != nil {
		p.Diffs = nil
		_ = json.Unmarshal(raw, &p.Diffs) // what does not fit is not shown
		for k := range p.Diffs {
			p.Diffs[k].New = clip(p.Diffs[k].New)
			if old := p.Diffs[k].Old; old != nil {
				*old = clip(*old)
			}
		}
	}
}

func (s *steps) asked(e *event.Event, body *event.Asked) {
	if !s.heavy {
		return
	}
	p := part{Kind: "permission", Name: body.Kind, Subject: clip(body.Subject), Outcome: "allowed", Text: clip(body.Reason)}
	if p.Subject == "" {
		p.Subject = clip(body.Title)
	}
	if !body.Allowed {
		p.Outcome = "refused"
	}
	s.turn(e, false).add(p)
}

// clip bounds a text, saying so.
func clip(text string) string {
	if len(text) <= mostText {
		return text
	}
	n := mostText
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "\n… (shortened)"
}

// tail keeps the end of a text that goes on.
func tail(text, more string) string {
	text += more
	if len(text) <= 2*mostText {
		return text
	}
	n := len(text) - mostText
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return strings.Clone(text[n:])
}

// place takes a position apart: file, line and column, "" where it has none.
func place(position string) (file, line, col string) {
	rest, col, ok := cutLast(position)
	if !ok {
		return position, "", ""
	}
	file, line, ok = cutLast(rest)
	if !ok {
		return rest, col, ""
	}
	return file, line, col
}

// cutLast cuts a number off behind the last colon.
func cutLast(s string) (before, number string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i+1 == len(s) || strings.Trim(s[i+1:], "0123456789") != "" {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
