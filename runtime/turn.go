package runtime

import (
	"context"
	"fmt"
	"time"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/schema"
	"xmd/runtime/event"
)

// ready attaches the session and makes it work as the Agents around the prompt say.
func (r *Runner) ready(ctx context.Context, s *session, at place, where event.At) error {
	if err := r.attach(ctx, s, where); err != nil {
		return err
	}
	return r.configure(ctx, s, at.settings(s.info.Name), where)
}

// form is what a prompt asks for.
type form struct {
	words   string
	schema  *schema.Schema // nil: the reply is text
	retries int
	limit   time.Duration // 0: none
}

// form evaluates all but the words, before anything is done for them.
func (at place) form(n *plan.Prompt) (form, error) {
	want := form{retries: defaultRetries}
	var err error
	if want.schema, err = at.schema(n.Schema, n.Step); err != nil {
		return want, err
	}
	if n.Retries.Given {
		if want.retries, err = at.whole(n.Retries, n.Step, "retries", 0, mostRetries); err != nil {
			return want, err
		}
	}
	want.limit, err = at.duration(n.TimeoutMS, n.Timeout, n.Step)
	return want, err
}

// turn sends the words and takes the reply: one turn, and more where a schema asks again. The session is attached and its turn token
// held. The time begins here: waiting for the session or for the agent's start is not the agent's.
func (r *Runner) turn(ctx context.Context, s *session, n *plan.Prompt, at place, want form, out layout.Sink) (*Error, error) {
	if want.limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, want.limit, Errorf(KindTimeout, "the prompt was cancelled: %s was not done within its timeout of %s", s.info.Shown, want.limit))
		defer stop()
	}
	req := request{s: s, at: at, where: s.at(at.where(n.Step)), words: want.words, whole: n.As != "" || r.o.WholeReplies}
	var err error
	var value any
	var failure *Error
	switch {
	case want.schema != nil:
		value, failure, err = r.structured(ctx, want, req)
		if failure == nil && err == nil && n.As == "" {
			err = out.Value(expr.Indented(value))
		}
	case n.As != "":
		req.out = &layout.Buffer{}
		req.check = func(reply string) (any, *Error) { return reply, nil }
		value, failure, err = r.sendOnce(ctx, req)
	default:
		req.out = out
		_, failure, err = r.sendOnce(ctx, req)
	}
	switch {
	case err != nil:
		return nil, err
	case failure != nil && (thrownAnywhere[failure.Kind] || at.throwing(n)):
		return nil, failure
	case failure == nil && n.As != "":
		at.vars.set(n.As, value)
	}
	return failure, nil
}

// request is one turn to be made.
type request struct {
	s     *session
	at    place
	where event.At
	words string
	out   layout.Sink
	whole bool // the whole reply is kept
	// check makes the value of a reply that came to a normal end, or says why it is none; nil: there is no value.
	check func(reply string) (any, *Error)
}

// sendOnce makes one turn. A failure is the turn's own; an error is one of the store or the output, thrown wherever it is.
func (r *Runner) sendOnce(ctx context.Context, q request) (value any, failure *Error, err error) {
	s := q.s
	t := &turn{r: r, s: s, at: q.where, policy: q.at.policy, number: s.nextTurn, words: FingerprintOf(q.words)}
	t.text.whole = q.whole
	t.reply = layout.NewReply(q.out)
	if ctx.Err() != nil {
		return nil, t.failure(stopped(ctx)), nil
	}
	if err := t.sent(ctx, q.words); err != nil {
		if ctx.Err() != nil {
			return nil, t.failure(stopped(ctx)), nil
		}
		return nil, nil, thrown(err, q.where)
	}
	s.nextTurn++
	result, perr := s.conn.Prompt(ctx, Turn{Words: q.words, Sink: t.update, Ask: t.ask})
	failure = t.judge(ctx, result, perr)
	if cerr := t.reply.Close(); failure == nil && cerr != nil {
		failure = asError(cerr)
	}
	t.well = failure == nil
	if t.well && q.check != nil {
		if value, failure = q.check(trimmed(t.text.String())); failure != nil {
			failure = t.failure(failure)
		}
	}
	if err := t.ended(ctx, result, failure, value); err != nil {
		return nil, nil, thrown(err, q.where)
	}
	if result.Late || (perr != nil && !s.alive()) {
		if cerr := s.conn.Close(context.WithoutCancel(ctx)); cerr != nil {
			r.notice(fmt.Sprintf("closing %s: %v", s.info.Shown, cerr))
		}
		s.conn = nil
	}
	return value, failure, nil
}
