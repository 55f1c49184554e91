package codex

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"xmd/agents/link"
	"xmd/agents/wire"
	"xmd/runtime"
)

func (c *conn) notSignedIn() *runtime.Error {
	return c.Fail(runtime.KindNotSignedIn, "%s is not signed in: run `codex login`", c.Info.Shown)
}

// newError classifies why no thread could be made.
func (c *conn) newError(ctx context.Context, err error) *runtime.Error {
	if ctx.Err() != nil {
		return c.Cancelled(ctx)
	}
	var late *link.Unanswered
	var silent *link.Silent
	switch {
	case errors.As(err, &late):
		return c.FailRetryable(runtime.KindUnavailable, "%s %w", c.Info.Shown, late)
	case errors.As(err, &silent):
		return c.FailRetryable(runtime.KindUnavailable, "%s did not make a conversation: %w", c.Info.Shown, silent)
	}
	return c.Fail(runtime.KindUnavailable, "%s could not open a conversation: %w", c.Info.Shown, c.Reason(err))
}

// refusal is the one code of everything that Codex refuses.
const refusal = wire.CodeInvalidRequest

// refused returns the text of such an answer, "" for any other error.
func refused(err error) string {
	var e *wire.Error
	if errors.As(err, &e) && e.Code == refusal {
		return e.Message
	}
	return ""
}

func isBusy(err error) bool {
	text := refused(err)
	return strings.HasPrefix(text, "thread ") && strings.HasSuffix(text, " already has an active writer")
}

func isMissing(err error) bool {
	return strings.HasPrefix(refused(err), "no rollout found for thread id ")
}

func lacksResume(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == wire.CodeMethodNotFound ||
		strings.HasPrefix(refused(err), "Invalid request: unknown variant `thread/resume`")
}

// loadError classifies why a thread could not be loaded. Only one text means that it is gone; a deadline that ends the wait for another
// process leaves it busy.
func (c *conn) loadError(ctx context.Context, id string, err error) *runtime.Error {
	busy := isBusy(err)
	switch {
	case ctx.Err() != nil && !(busy && errors.Is(ctx.Err(), context.DeadlineExceeded)):
		return c.Cancelled(ctx)
	case busy:
		return c.FailRetryable(runtime.KindBusy, "%s has conversation %s open in another process", c.Info.Shown, id)
	case isMissing(err):
		return c.Fail(runtime.KindMissing, "%s has no conversation %s", c.Info.Shown, id)
	case lacksResume(err):
		return c.Fail(runtime.KindUnsupported, "%s %s does not offer thread/resume, which continuing a conversation needs", c.Info.Shown, c.version)
	}
	return c.FailRetryable(runtime.KindCouldNot, "%s could not load conversation %s: %w", c.Info.Shown, id, c.Reason(err))
}

// failure is why a turn failed.
type failure struct {
	text   string
	info   string // the name of codexErrorInfo
	status int    // of HTTP, where it came from there; 0: none
}

// parseFailure reads the error of a turn. What codexErrorInfo says is a name, or an object with one member of that name.
func parseFailure(e []byte) *failure {
	message, ok := wire.String(wire.Field(e, "message"))
	if !ok {
		return nil
	}
	f := &failure{text: failureText(message)}
	if details, _ := wire.String(wire.Field(e, "additionalDetails")); details != "" && !strings.Contains(f.text, details) {
		f.text += ": " + details
	}
	info := wire.Field(e, "codexErrorInfo")
	if f.info, ok = wire.String(info); ok {
		return f
	}
	var named map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	if json.Unmarshal(info, &named) == nil && len(named) == 1 {
		for name, v := range named {
			f.info, f.status = name, v.Status
		}
	}
	return f
}

// failureText is an error's message for people: some are the JSON that the model's provider answered.
func failureText(message string) string {
	if inner, ok := wire.String(wire.Path([]byte(message), "error", "message")); ok && json.Valid([]byte(message)) && inner != "" {
		message = inner
	}
	return link.Words(&wire.Error{Message: message})
}

// signIn says that the model's provider did not know who asked.
func (f *failure) signIn() bool { return f.info == "unauthorized" || f.status == 401 }

// passing are the names of failures of the way to the model or of its capacity.
var passing = map[string]bool{
	"serverOverloaded": true, "internalServerError": true, "rateLimitExceeded": true, "flexUnavailable": true, "policyCapacityUnavailable": true,
	"httpConnectionFailed": true, "responseStreamConnectionFailed": true, "responseStreamDisconnected": true, "responseTooManyFailedAttempts": true,
}

// retryable says whether the same may work again.
func (f *failure) retryable() bool {
	switch {
	case !passing[f.info]:
		return false
	case f.status >= 400 && f.status < 500:
		return f.status == 408 || f.status == 429
	}
	return true
}
