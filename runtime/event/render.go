package event

import (
	"encoding/json"
	"slices"
	"strings"
)

// StringWriter is what renderers write to; *Output is one.
type StringWriter interface {
	WriteString(s string) (int, error)
	Write(p []byte) (int, error)
}

// TextSink writes the rendered document: the text events joined. Write errors are the writer's to report.
type TextSink struct{ W StringWriter }

// Event writes a text event.
func (t TextSink) Event(e *Event) {
	if e.Type != Text {
		return
	}
	if d, ok := e.Body.(*Delta); ok {
		_, _ = t.W.WriteString(d.Text)
	}
}

// NDJSONSink writes every event as one line of JSON.
type NDJSONSink struct {
	W   StringWriter
	buf []byte
}

// Event writes e.
func (n *NDJSONSink) Event(e *Event) {
	buf, err := e.AppendJSON(n.buf[:0])
	if err != nil {
		// A body that cannot be encoded is a fault of ours; a line is owed all the same.
		buf, _ = (&Event{Seq: e.Seq, Time: e.Time, Run: e.Run, Type: e.Type, At: e.At}).AppendJSON(n.buf[:0])
	}
	n.buf = append(buf, '\n')
	_, _ = n.W.Write(n.buf)
}

// Summary is the one object of --format json.
type Summary struct {
	V             int      `json:"v"`
	Run           *string  `json:"run"`
	Outcome       string   `json:"outcome"`
	Output        *string  `json:"output,omitempty"` // of a text document
	Value         any      `json:"value,omitempty"`  // of a document with returns
	Errors        []*Error `json:"errors"`
	Warnings      []string `json:"warnings"`
	FailedPrompts []*Error `json:"failedPrompts"`
	Waiting       *Waiting `json:"waiting,omitempty"` // of a run that waits for a person
	Usage         []any    `json:"usage"`
	ExitCode      int      `json:"exitCode"`
	Resume        string   `json:"resume,omitempty"`
}

// Waiting is what a run waits for: its questions without an answer, in the order in which they were put.
type Waiting struct {
	Questions []*Open `json:"questions"`
}

// Open is one question without an answer.
type Open struct {
	Questioned
	Step     string `json:"step"`
	Position string `json:"position,omitempty"`
}

// SummarySink gathers a run and writes one JSON object at its end.
type SummarySink struct {
	W   StringWriter
	out strings.Builder
	sum Summary

	open []*Open
}

// Event gathers e; on run.ended it writes.
func (s *SummarySink) Event(e *Event) {
	switch body := e.Body.(type) {
	case *Delta:
		if e.Type == Text {
			s.out.WriteString(body.Text)
		}
	case *Warn:
		s.sum.Warnings = append(s.sum.Warnings, body.Text)
	case *Questioned:
		s.open = append(s.open, &Open{*body, e.At.Step, e.At.Position})
	case *Answered:
		s.open = slices.DeleteFunc(s.open, func(q *Open) bool { return q.Name == body.Name })
	case *Ended:
		if body.Error != nil {
			s.sum.FailedPrompts = append(s.sum.FailedPrompts, body.Error)
		}
		if body.Usage != nil {
			s.sum.Usage = append(s.sum.Usage, body.Usage)
		}
	case *End:
		s.write(e, body)
	}
}

func (s *SummarySink) write(e *Event, end *End) {
	sum := s.sum
	sum.V, sum.Outcome, sum.ExitCode, sum.Resume = Version, end.Outcome, end.ExitCode, end.Resume
	if e.Run != "" {
		sum.Run = &e.Run
	}
	if sum.Errors, sum.Value = end.Errors, end.Value; sum.Value == nil {
		out := s.out.String()
		sum.Output = &out
	}
	if end.Outcome == "waiting" {
		sum.Waiting = &Waiting{append([]*Open{}, s.open...)}
	}
	for _, list := range []*[]*Error{&sum.Errors, &sum.FailedPrompts} {
		if *list == nil {
			*list = []*Error{}
		}
	}
	if sum.Warnings == nil {
		sum.Warnings = []string{}
	}
	if sum.Usage == nil {
		sum.Usage = []any{}
	}
	raw, err := json.Marshal(sum)
	if err != nil {
		raw = []byte(`{"v":1,"run":null,"outcome":"failed"}`)
	}
	_, _ = s.W.Write(append(raw, '\n'))
}
