package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"xmd/agents/wire"
	"xmd/runtime"
)

// fail makes an error of this agent.
func (c *conn) fail(kind runtime.Kind, format string, args ...any) *runtime.Error {
	e := runtime.Errorf(kind, format, args...)
	e.Agent = c.info.Name
	return e
}

// retry marks an error as one that may pass.
func (c *conn) retry(e *runtime.Error) *runtime.Error {
	e.Retryable = true
	return e
}

func (c *conn) cancelled(ctx context.Context) *runtime.Error {
	return c.fail(runtime.KindCancelled, "%w", context.Cause(ctx))
}

func (c *conn) unsupported(operation string) *runtime.Error {
	seen := ""
	if v := c.HandshakeVersion(); v != "" {
		seen = " " + v
	}
	return c.fail(runtime.KindUnsupported, "%s%s does not offer %s, which continuing a conversation needs", c.info.Shown, seen, operation)
}

// signIn is the error for "authentication required", nil for any other.
func (c *conn) signIn(err error) *runtime.Error {
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != codeNotSignedIn {
		return nil
	}
	how := "sign in with the agent's own program"
	if c.p.SignIn != "" {
		how = c.p.SignIn
	}
	return c.fail(runtime.KindNotSignedIn, "%s is not signed in: %s", c.info.Shown, how)
}

// newError classifies why no conversation could be made.
func (c *conn) newError(ctx context.Context, err error) *runtime.Error {
	if ctx.Err() != nil {
		return c.cancelled(ctx)
	}
	if e := c.signIn(err); e != nil {
		return e
	}
	return c.fail(runtime.KindUnavailable, "%s could not open a conversation: %w", c.info.Shown, c.reason(err))
}

// loadError classifies why a conversation could not be loaded. Only what the profile knows exactly means that it is gone; a
// deadline that ends the wait for another process leaves it busy.
func (c *conn) loadError(ctx context.Context, id string, err error) *runtime.Error {
	var e *wire.Error
	busy := errors.As(err, &e) && fitsAny(c.p.Busy, e)
	if ctx.Err() != nil && !(busy && errors.Is(ctx.Err(), context.DeadlineExceeded)) {
		return c.cancelled(ctx)
	}
	if e := c.signIn(err); e != nil {
		return e
	}
	if errors.Is(err, errLoadSilent) {
		return c.retry(c.fail(runtime.KindCouldNot, "%s did not load conversation %s: nothing came for %s", c.info.Shown, id, c.p.loadLimit()))
	}
	if e != nil {
		switch {
		case busy:
			return c.retry(c.fail(runtime.KindBusy, "%s has conversation %s open in another process", c.info.Shown, id))
		case fitsAny(c.p.Missing, e):
			return c.missing(id)
		case e.Code == wire.CodeMethodNotFound:
			return c.unsupported("session/load")
		}
	}
	return c.retry(c.fail(runtime.KindCouldNot, "%s could not load conversation %s: %w", c.info.Shown, id, c.reason(err)))
}

// missing is the error of a conversation that the agent does not have.
func (c *conn) missing(id string) *runtime.Error {
	return c.fail(runtime.KindMissing, "%s has no conversation %s", c.info.Shown, id)
}

// died is the error of a turn whose process went away.
func (c *conn) died(err error) *runtime.Error {
	return c.fail(runtime.KindFailed, "%s ended in the middle of a turn: %w", c.info.Shown, c.reason(err))
}

// reason words an error of the connection for people: the agent's own text, or how its process ended with the last lines
// it wrote.
func (c *conn) reason(err error) error {
	var e *wire.Error
	if errors.As(err, &e) {
		return &said{words(e), e}
	}
	var gone *wire.EndedError
	if !errors.As(err, &gone) {
		return err
	}
	text := "its process is gone"
	if how := c.ending(); how != "" {
		text = how
	}
	return &said{text + quoted(c.proc.LastWords(5)), err}
}

// ending says how the process ended, waiting a moment for it: the pipes end first.
func (c *conn) ending() string {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-c.proc.Done():
	case <-timer.C:
	}
	return c.proc.Ending()
}

// said is an error with a text for people and its cause.
type said struct {
	text  string
	cause error
}

func (s *said) Error() string { return s.text }
func (s *said) Unwrap() error { return s.cause }

// words is the text of an error answer: its message, and what the data add where the message says nothing.
func words(e *wire.Error) string {
	text := strings.TrimSpace(e.Message)
	if rest, ok := strings.CutPrefix(text, "Internal error: "); ok {
		text = rest
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

// quoted puts the last lines of an agent behind an error.
func quoted(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintf("; it wrote:\n  %s", strings.Join(lines, "\n  "))
}
