package acp

import (
	"context"
	"errors"

	"xmd/agents/link"
	"xmd/agents/wire"
	"xmd/runtime"
)

func (c *conn) unsupported(operation string) *runtime.Error {
	seen := ""
	if v := c.HandshakeVersion(); v != "" {
		seen = " " + v
	}
	return c.Fail(runtime.KindUnsupported, "%s%s does not offer %s, which continuing a conversation needs", c.Info.Shown, seen, operation)
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
	return c.Fail(runtime.KindNotSignedIn, "%s is not signed in: %s", c.Info.Shown, how)
}

// settled is the error of a call about which nothing is left to say but that it was not answered, or that nobody is signed in; nil for any
// other. No prompt has been sent by then, so trying again is safe.
func (c *conn) settled(err error) *runtime.Error {
	var late *link.Unanswered
	if errors.As(err, &late) {
		return c.FailRetryable(runtime.KindUnavailable, "%s %w", c.Info.Shown, late)
	}
	return c.signIn(err)
}

// newError classifies why no conversation could be made.
func (c *conn) newError(ctx context.Context, err error) *runtime.Error {
	if ctx.Err() != nil {
		return c.Cancelled(ctx)
	}
	if e := c.settled(err); e != nil {
		return e
	}
	return c.Fail(runtime.KindUnavailable, "%s could not open a conversation: %w", c.Info.Shown, c.Reason(err))
}

// loadError classifies why a conversation could not be loaded. Only what the profile knows exactly means that it is gone; a
// deadline that ends the wait for another process leaves it busy.
func (c *conn) loadError(ctx context.Context, id string, err error) *runtime.Error {
	var e *wire.Error
	busy := errors.As(err, &e) && fitsAny(c.p.Busy, e)
	if ctx.Err() != nil && !(busy && errors.Is(ctx.Err(), context.DeadlineExceeded)) {
		return c.Cancelled(ctx)
	}
	if e := c.signIn(err); e != nil {
		return e
	}
	var silent *link.Silent
	if errors.As(err, &silent) {
		return c.FailRetryable(runtime.KindCouldNot, "%s did not load conversation %s: %w", c.Info.Shown, id, silent)
	}
	if e != nil {
		switch {
		case busy:
			return c.FailRetryable(runtime.KindBusy, "%s has conversation %s open in another process", c.Info.Shown, id)
		case fitsAny(c.p.Missing, e) && c.unlisted(ctx, id):
			return c.missing(id)
		case e.Code == wire.CodeMethodNotFound:
			return c.unsupported("session/load")
		}
	}
	return c.FailRetryable(runtime.KindCouldNot, "%s could not load conversation %s: %w", c.Info.Shown, id, c.Reason(err))
}

// unlisted says whether the agent's own list, or its files, confirm that a conversation is gone, where the error alone does not.
func (c *conn) unlisted(ctx context.Context, id string) bool {
	if c.p.Unlisted && c.p.Twins {
		return !c.holds(id)
	}
	return !c.p.Unlisted || c.shakes.list && c.listed(ctx, "", id) == runtime.ListOmits
}

// missing is the error of a conversation that the agent does not have.
func (c *conn) missing(id string) *runtime.Error {
	return c.Fail(runtime.KindMissing, "%s has no conversation %s", c.Info.Shown, id)
}
