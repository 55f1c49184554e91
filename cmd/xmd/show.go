package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

func showCommand() *command {
	return &command{
		name: "show", args: "RUN", usage: "show a run and its steps; RUN is an id, the beginning of one, or last",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
			&cli.StringFlag{Name: "state-dir", Usage: "the state folder"},
		},
		run: showMain,
	}
}

func showMain(p *program, c *call) error {
	if err := oneFormat(c); err != nil {
		return err
	}
	if len(c.args) != 1 {
		return &usageError{message: fmt.Sprintf("show takes one run, got %d; xmd runs lists them", len(c.args))}
	}
	return p.withStore(c, func(ctx context.Context, s *store.Store) error {
		d, err := runDetailOf(ctx, s, c.args[0])
		if err != nil {
			return err
		}
		if c.String("format") == "json" {
			return writeJSON(p, d)
		}
		var b strings.Builder
		d.write(&b)
		_, err = fmt.Fprint(p.stdout, printable(b.String()))
		return err
	})
}

// runDetail is a run as `show` tells it.
type runDetail struct {
	V int `json:"v"`
	runView
	Props  json.RawMessage `json:"props,omitempty"`
	Resume string          `json:"resume,omitempty"` // the command that goes on with it
	Errors []*event.Error  `json:"errors"`           // of its end
	Steps  []*stepDetail   `json:"steps"`
}

// stepDetail is what the journal says of one step. Of one that was run more than once it is the last time.
type stepDetail struct {
	Step     string       `json:"step"`
	Position string       `json:"position,omitempty"`
	Kind     string       `json:"kind,omitempty"`
	Outcome  string       `json:"outcome,omitempty"` // empty: it has not ended
	ExitCode *int         `json:"exitCode,omitempty"`
	Agent    string       `json:"agent,omitempty"`
	Session  string       `json:"session,omitempty"`
	Turns    int          `json:"turns,omitempty"`
	Started  string       `json:"started,omitempty"`
	Millis   *int64       `json:"durationMs,omitempty"`
	Times    int          `json:"times,omitempty"` // how often it was started, when more than once
	Error    *event.Error `json:"error,omitempty"`

	begun time.Time
}

func runDetailOf(ctx context.Context, s *store.Store, ref string) (runDetail, error) {
	run, err := s.FindRun(ctx, ref)
	if err != nil {
		return runDetail{}, err
	}
	view, err := viewOfRun(s, run, time.Now())
	if err != nil {
		return runDetail{}, err
	}
	d := runDetail{V: 1, runView: view, Props: run.Props, Errors: []*event.Error{}, Steps: []*stepDetail{}}
	if view.State != "done" && view.State != runRunning {
		d.Resume = "xmd resume " + run.ID
	}
	steps := map[string]*stepDetail{}
	for r, err := range s.Records(ctx, run.ID, 0) {
		if err != nil {
			return d, err
		}
		if err := d.record(r, steps); err != nil {
			return d, runtime.Errorf(runtime.KindRoute, "record %d of run %s is not one that this build can read: %w", r.Seq, run.ID, err)
		}
	}
	return d, nil
}

// turnMark is the number of a turn or a call in an identity.
var turnMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`#\d+`) })

// record takes in one record. Kinds that are not known are of a later build, or concern no step: they still name their step.
func (d *runDetail) record(r store.Record, steps map[string]*stepDetail) error {
	var data struct {
		At   event.At        `json:"at"`
		Body json.RawMessage `json:"body"`
	}
	if r.Data != nil {
		if err := json.Unmarshal(r.Data, &data); err != nil {
			return err
		}
	}
	if event.Type(r.Kind) == event.RunEnded {
		var end event.End
		err := json.Unmarshal(data.Body, &end)
		d.Errors = orNone(end.Errors)
		return err
	}
	id := turnMark().ReplaceAllString(r.Step, "") // a turn or a call belongs to its step
	if id == "" {
		return nil
	}
	step := steps[id]
	if step == nil {
		step = &stepDetail{Step: id}
		steps[id] = step
		d.Steps = append(d.Steps, step)
	}
	return step.record(r, data.At, data.Body)
}

func (s *stepDetail) record(r store.Record, at event.At, raw json.RawMessage) error {
	s.Position = first(s.Position, at.Position)
	if at.Agent != "" {
		s.Agent, s.Session = at.Agent, at.Session
	}
	switch event.Type(r.Kind) {
	case event.StepStarted:
		var body event.Step
		if err := json.Unmarshal(raw, &body); err != nil {
			return err
		}
		if s.Kind != "" {
			s.Times = max(s.Times, 1) + 1
		}
		s.Kind, s.begun, s.Started = body.Kind, r.Time, r.Time.UTC().Format(time.RFC3339Nano)
		s.Outcome, s.ExitCode, s.Millis, s.Error, s.Turns = "", nil, nil, nil, 0
	case event.StepEnded:
		var body event.Step
		if err := json.Unmarshal(raw, &body); err != nil {
			return err
		}
		s.Kind = first(s.Kind, body.Kind)
		s.Outcome, s.ExitCode, s.Error = body.Outcome, body.ExitCode, body.Error
		if !s.begun.IsZero() {
			ms := max(0, r.Time.Sub(s.begun).Milliseconds())
			s.Millis = &ms
		}
	case event.PromptSent:
		s.Turns++
	case event.StepDiscarded:
		s.Outcome = "discarded"
	}
	return nil
}

func (d *runDetail) write(w io.Writer) {
	line(w, "run", d.Run)
	line(w, "document", d.Document)
	line(w, "directory", d.Dir)
	if d.Props != nil && string(d.Props) != "{}" && string(d.Props) != "null" {
		line(w, "props", string(d.Props))
	}
	line(w, "started", d.Started)
	state := d.State
	if d.ExitCode != nil {
		state = fmt.Sprintf("%s, exit code %d, after %s", d.State, *d.ExitCode, d.duration())
	}
	line(w, "outcome", state)
	if d.Resume != "" {
		line(w, "goes on with", d.Resume)
	}
	told := map[string]bool{}
	for _, s := range d.Steps {
		if s.Error != nil {
			told[s.Error.Message] = true
		}
	}
	for _, e := range d.Errors {
		if !told[e.Message] {
			line(w, "error", fmt.Sprintf("%s [%s]", e.Message, e.Kind))
		}
	}
	if len(d.Steps) > 0 {
		_, _ = fmt.Fprintln(w)
	}
	for _, s := range d.Steps {
		s.write(w)
	}
}

func (s *stepDetail) write(w io.Writer) {
	took := "-"
	if s.Millis != nil {
		took = shortDuration(time.Duration(*s.Millis) * time.Millisecond)
	}
	who := ""
	if s.Agent != "" {
		who = store.SessionKey{Agent: s.Agent, Session: first(s.Session, store.Unnamed("", ""))}.String()
	}
	if s.Times > 1 {
		who = strings.TrimSpace(fmt.Sprintf("%s  %d times", who, s.Times))
	}
	text := fmt.Sprintf("%-20s %-8s %-10s %8s  %s", first(s.Position, s.Step), s.Kind, first(s.Outcome, "not ended"), took, who)
	_, _ = fmt.Fprintln(w, strings.TrimRight(text, " "))
	if s.Error != nil {
		_, _ = fmt.Fprintf(w, "    %s [%s]\n", s.Error.Message, s.Error.Kind)
	}
}
