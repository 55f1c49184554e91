package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"xmd/cmd/xmd/term"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/secret"
)

// notes writes for people, on stderr: warnings, refusals, a child's stderr, errors. It is a renderer of the event stream.
type notes struct {
	mu      sync.Mutex
	w       io.Writer
	rules   term.Rules
	verbose bool
	told    bool // failures are told as they happen: the end does not name them again (the REPL)
}

// notes writes for people where errors go, without the secrets; secrets may be nil.
func (p *program) notes(c *call, secrets *secret.Set) *notes {
	return &notes{w: hidden(p.errorsTo(), secrets), rules: p.face.rules, verbose: c.Bool("v")}
}

// Event writes what e has to say to a person.
func (n *notes) Event(e *event.Event) {
	switch body := e.Body.(type) {
	case *event.Warn:
		n.colored(term.Yellow, body.Text)
	case *event.HandedOver:
		n.line(fmt.Sprintf("%s: %s", e.At.Position, handedLine(e.At.Agent, body)))
	case *event.Asked:
		if !body.Allowed {
			n.colored(term.Yellow, fmt.Sprintf("%s: refused: %s (%s)", e.At.Position, describe(body), body.Reason))
		}
	case *event.Tool:
		if e.Type == event.ToolEnded && n.rules.Tools && !e.Replayed {
			n.action(e.At.Agent, body)
		}
	case *event.Delta:
		if e.Type == event.ExecOutput && body.Stream == "stderr" {
			n.raw([]byte(body.Text))
		} else if e.Type == event.Notice && n.verbose {
			n.notice(e.At.Agent, body)
		}
	case *event.End:
		n.end(body)
	}
}

// action writes one line about a tool call that has ended.
func (n *notes) action(agent string, t *event.Tool) {
	style := term.Faint
	if t.Outcome != "done" {
		style = term.Yellow
	}
	n.colored(style, fmt.Sprintf("%s: %s (%s, %s)", first(agent, "the agent"), term.Action(t), t.Outcome, term.Took(time.Duration(t.Milliseconds)*time.Millisecond)))
}

// notice writes what an adapter said, or text that a document does not write.
func (n *notes) notice(agent string, d *event.Delta) {
	text := strings.TrimSpace(d.Text)
	if agent != "" {
		text = agent + ": " + text
	}
	n.line(text)
}

func describe(a *event.Asked) string {
	what := a.Subject
	if what == "" {
		what = a.Title
	}
	if a.Kind == "" {
		return fmt.Sprintf("%q", what)
	}
	return fmt.Sprintf("%s %q", a.Kind, what)
}

// end names every failure once, and says how the run can go on.
func (n *notes) end(end *event.End) {
	if end.ExitCode == exitOutputClosed {
		return // whoever read the output has gone; this end is silent
	}
	if !n.told {
		for _, e := range end.Errors {
			re := &runtime.Error{Kind: runtime.Kind(e.Kind), Retryable: e.Retryable, Message: e.Message, Position: e.Position}
			n.colored(term.Red, errorLine(re))
		}
	}
	if end.Resume != "" && !slices.ContainsFunc(end.Errors, saysHow) {
		n.line("go on with: " + end.Resume)
	}
}

// saysHow says whether an error names by itself how the run goes on.
func saysHow(e *event.Error) bool {
	return e.Kind == string(runtime.KindWaiting) || e.Kind == string(runtime.KindUnsettled)
}

// line writes one message; what agents worded is made harmless for a terminal first.
func (n *notes) line(text string) { n.colored(term.Plain, text) }

func (n *notes) colored(style term.Style, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, _ = fmt.Fprintln(n.w, term.Paint(n.rules.Color, style, printable(text)))
}

// raw writes a child's own bytes.
func (n *notes) raw(b []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, _ = n.w.Write(b)
}

// printable makes harmless for a terminal what agents and programs worded.
func printable(s string) string { return term.Printable(s) }
