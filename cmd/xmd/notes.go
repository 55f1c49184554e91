package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"

	"xmd/runtime"
	"xmd/runtime/event"
)

// notes writes for people, on stderr: warnings, refusals, a child's stderr, errors. It is a renderer of the event stream.
type notes struct {
	mu      sync.Mutex
	w       io.Writer
	verbose bool
	run     string
	told    bool // failures are told as they happen: the end does not name them again (the REPL)
}

// Event writes what e has to say to a person.
func (n *notes) Event(e *event.Event) {
	switch body := e.Body.(type) {
	case *event.Warn:
		n.line(body.Text)
	case *event.HandedOver:
		n.line(fmt.Sprintf("%s: %s", e.At.Position, handedLine(e.At.Agent, body)))
	case *event.Asked:
		if !body.Allowed {
			n.line(fmt.Sprintf("%s: refused: %s (%s)", e.At.Position, describe(body), body.Reason))
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
			n.line(errorLine(re))
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
func (n *notes) line(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, _ = fmt.Fprintln(n.w, printable(text))
}

// raw writes a child's own bytes.
func (n *notes) raw(b []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, _ = n.w.Write(b)
}

// printable drops control characters except line ends and tabs, and bidi controls.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}
