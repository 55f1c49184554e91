package link

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"xmd/agents/wire"
	"xmd/runtime"
)

// Fail makes an error of this agent.
func (l *Link) Fail(kind runtime.Kind, format string, args ...any) *runtime.Error {
	e := runtime.Errorf(kind, format, args...)
	e.Agent = l.Info.Name
	return e
}

// FailRetryable is Fail for what may pass.
func (l *Link) FailRetryable(kind runtime.Kind, format string, args ...any) *runtime.Error {
	e := l.Fail(kind, format, args...)
	e.Retryable = true
	return e
}

// Cancelled is the error of what ctx ended.
func (l *Link) Cancelled(ctx context.Context) *runtime.Error {
	return l.Fail(runtime.KindCancelled, "%w", context.Cause(ctx))
}

// Died is the error of a turn whose process went away.
func (l *Link) Died(err error) *runtime.Error {
	return l.Fail(runtime.KindFailed, "%s ended in the middle of a turn: %w", l.Info.Shown, l.Reason(err))
}

// Reason words an error of the connection for people: the agent's own text, or how its process ended with the last lines
// it wrote.
func (l *Link) Reason(err error) error {
	var e *wire.Error
	if errors.As(err, &e) {
		return &said{Words(e), e}
	}
	var gone *wire.EndedError
	if !errors.As(err, &gone) {
		return err
	}
	text := "its process is gone"
	if how := l.Ending(); how != "" {
		text = how
	}
	return &said{text + l.Quoted(), err}
}

// Ending says how the process ended, waiting a moment for it: the pipes end first. "" while it runs.
func (l *Link) Ending() string {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-l.Proc.Done():
	case <-timer.C:
	}
	return l.Proc.Ending()
}

// NoAgent is the error of a command that does not speak the protocol.
func (l *Link) NoAgent(protocol, why string, cause error) *runtime.Error {
	if n := l.Wire.Stats().NotJSON; n > 0 {
		why += fmt.Sprintf(", and wrote %d lines on stdout that are not JSON", n)
	}
	e := l.Fail(runtime.KindUnavailable, "%s cannot be started: the command does not speak %s: %s: %s%s",
		l.Info.Shown, protocol, why, l.Command(), l.Quoted())
	e.Err = cause
	return e
}

// ShakeReason says what a command did instead of answering a handshake.
func (l *Link) ShakeReason(err error) string {
	var answered *wire.Error
	if errors.As(err, &answered) {
		return "it answered " + Words(answered)
	}
	if how := l.Ending(); how != "" {
		return "it ended with " + how
	}
	return "it ended"
}

// said is an error with a text for people and its cause.
type said struct {
	text  string
	cause error
}

func (s *said) Error() string { return s.text }
func (s *said) Unwrap() error { return s.cause }

// Words is the text of an error answer: its message, and what the data add where the message says nothing.
func Words(e *wire.Error) string {
	text := strings.TrimSpace(e.Message)
	if rest, ok := strings.CutPrefix(text, "Internal error: "); ok {
		text = rest
	}
	if inner, ok := wire.String(wire.Path([]byte(text), "error", "message")); ok {
		text = inner // a model's own answer, handed on as it came
	}
	detail, ok := wire.String(e.Data)
	for _, member := range []string{"details", "message", "reason", "error"} {
		if ok {
			break
		}
		detail, ok = wire.String(wire.Field(e.Data, member))
	}
	detail = strings.TrimSpace(detail)
	switch {
	case detail == "" || strings.Contains(text, detail):
	case text == "" || strings.EqualFold(text, "internal error"):
		text = detail
	default:
		text += ": " + detail
	}
	return (&wire.Error{Message: text}).Error() // one line, bounded
}

// Quoted is what stands behind an error of the last lines that the agent wrote; "" when there are none.
func (l *Link) Quoted() string {
	lines := l.Proc.LastWords(5)
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintf("; it wrote:\n  %s", strings.Join(lines, "\n  "))
}
