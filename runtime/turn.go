package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/schema"
	"xmd/runtime/event"
	"xmd/runtime/journal"
)

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

// turn sends the words and takes the reply: one turn, and more where a schema asks again.
func (r *Runner) turn(ctx context.Context, with *partner, n *plan.Prompt, at place, want form, out layout.Sink) (*Error, error) {
	req := request{with: with, at: at, where: at.where(n.Step), words: want.words, whole: n.As != "" || r.o.WholeReplies, resend: n.Resend}
	var err error
	var value any
	var failure *Error
	switch {
	case with.done != nil && with.done.Outcome == outcomeSkipped:
		value = skipped(want)
	case want.schema != nil:
		value, failure, err = r.structured(ctx, want, req)
		if failure == nil && err == nil && n.As == "" {
			err = out.Value(expr.Indented(value))
		}
	case n.As != "":
		req.out, req.captured = layout.Nowhere{}, true
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

// skipped is the value of a prompt that a person went past.
func skipped(want form) any {
	if want.schema != nil {
		return nil
	}
	return ""
}

// request is one turn to be made.
type request struct {
	with  *partner
	at    place
	where event.At
	words string
	own   string // the author's part of the words, for the log of a Conversation; "": all of them are
	out   layout.Sink
	whole bool // the whole reply is kept
	// captured says that the value is the reply itself: it is not recorded beside it.
	captured bool
	resend   bool            // the author wants it sent again when its fate is not known
	schema   json.RawMessage // that the reply should fit, for an agent that can be held to it; nil: none
	// check makes the value of a reply that came to a normal end, or says why it is none; nil: there is no value.
	check func(reply string) (any, *Error)
}

// sendOnce makes one turn, or tells the one on record again. A failure is the turn's own; an error is one of the session, the store or
// the output, thrown wherever it is.
func (r *Runner) sendOnce(ctx context.Context, q request) (value any, failure *Error, err error) {
	if told, value, failure, err := r.tellTurn(ctx, q); told || err != nil {
		r.dropAsked(q.at)
		return value, failure, err
	}
	s, ctx, err := q.with.ready(ctx, q.where)
	if err != nil {
		return nil, nil, thrown(err, q.where)
	}
	if err := r.settleLeft(ctx, s, q.where.Step); err != nil {
		return nil, nil, thrown(err, q.where)
	}
	// While it was attached, the turn may have been found in the conversation.
	if told, value, failure, err := r.tellTurn(ctx, q); told || err != nil {
		return value, failure, err
	}
	q.where = s.at(q.where)
	out, err := r.compose(ctx, s, q)
	if err != nil {
		return nil, nil, thrown(err, q.where)
	}
	t := &turn{
		r: r, s: s, at: q.where, from: q.at, number: s.nextTurn, attempt: 1 + r.o.Past.Sendings(q.where.Step),
		resend: q.resend, words: flightWords(s.conn, out.words), carried: out.carried,
	}
	if s.conv != nil {
		t.minutes = &minutes{root: s.key.Root}
	}
	t.text.whole = q.whole
	t.reply = layout.NewReply(q.out)
	if ctx.Err() != nil {
		return nil, t.failure(stopped(ctx)), nil
	}
	if err := r.spending.take(); err != nil {
		return nil, nil, thrown(err, q.where)
	}
	r.sayResent(s, q.where)
	for _, change := range out.changes {
		r.o.Stream.Emit(event.Handoff, q.where, change)
	}
	if err := t.sent(ctx, out.words); err != nil {
		if ctx.Err() != nil {
			return nil, t.failure(stopped(ctx)), nil
		}
		return nil, nil, thrown(err, q.where)
	}
	s.nextTurn++
	return t.exchange(ctx, q, out)
}

// exchange hands the agent what is on record as sent, and puts on record how that ended.
func (t *turn) exchange(ctx context.Context, q request, out said) (value any, failure *Error, err error) {
	r, s := t.r, t.s
	ctx, t.idle = watchIdle(ctx, r.o.Idle, Errorf(KindLimit, "%s has shown nothing for %s, and its turn was cancelled; --idle-timeout changes the limit", s.info.Shown, r.o.Idle))
	if i, ok := s.conn.(Informer); ok && out.inform != "" {
		i.Inform(out.inform)
	}
	t.begin(ctx)
	result, perr := s.conn.Prompt(ctx, Turn{Words: out.words, Schema: q.schema, Sink: t.update, Ask: t.ask})
	t.over()
	defer t.idle.end()
	t.sayUnheard()
	t.spent(result)
	failure = t.judge(ctx, result, perr)
	if cerr := t.reply.Close(); failure == nil && cerr != nil {
		failure = asError(cerr)
	}
	t.well = failure == nil
	if t.well && q.check != nil {
		if value, failure = q.check(layout.TrimReply(t.text.String())); failure != nil {
			failure = t.failure(failure)
		}
	}
	recorded := value
	if q.captured {
		recorded = nil
	}
	if err := t.ended(ctx, result, failure, recorded); err != nil {
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

// turnEnd is the recorded end of a turn.
type turnEnd struct {
	event.Ended
	Value json.RawMessage `json:"value"`
}

// tellTurn tells a turn that has an end on record: its text goes where it went, its value is what it was. told is false when it has none.
func (r *Runner) tellTurn(ctx context.Context, q request) (told bool, value any, failure *Error, err error) {
	var end turnEnd
	where, found, err := r.o.Past.Last(ctx, q.where.Step, event.PromptEnded, &end)
	if !found || err == nil && r.o.Past.Seq(q.where.Step, event.PromptSent) > r.o.Past.Seq(q.where.Step, event.PromptEnded) {
		if err != nil {
			err = thrown(storeError(err), q.where)
		}
		return false, nil, nil, err
	}
	if value, err = recordedValue(end.Value); err != nil {
		return false, nil, nil, thrown(err, q.where)
	}
	if err := r.tellReply(ctx, q, &end); err != nil {
		return true, nil, nil, thrown(err, q.where)
	}
	end.Ended.Value = value
	r.o.Stream.Replay(event.PromptEnded, where, &end.Ended)
	if failure = recordedError(end.Error, journal.StepOf(q.where.Step)); failure != nil {
		failure.undo = append(failure.undo, Undo{Step: q.where.Step, Turn: true})
	}
	switch {
	case failure != nil:
		return true, nil, failure, nil
	case end.Outcome == outcomeSkipped && end.Value == nil && q.with.n.Schema.Given:
		return true, nil, nil, nil
	case value == nil && q.check != nil:
		// A captured reply; or a turn whose answer did not fit: what was wrong with it is told to the agent next.
		reply, err := r.reply(ctx, q, &end)
		if err != nil {
			return true, nil, nil, thrown(err, q.where)
		}
		value, failure = q.check(reply)
		if failure != nil {
			failure = asError(thrown(failure, where))
		}
	}
	return true, value, failure, nil
}

// reply is the whole reply of a turn on record. One that was adopted has no pieces.
func (r *Runner) reply(ctx context.Context, q request, end *turnEnd) (string, error) {
	if end.Adopted || len(end.Reply) < maxReplyKept-utf8.UTFMax {
		return end.Reply, nil
	}
	text := replyText{whole: true}
	for piece, err := range r.o.Past.Text(ctx, q.where.Step, event.Message, "") {
		if err != nil {
			return "", storeError(err)
		}
		text.add(piece)
	}
	return layout.TrimReply(text.String()), nil
}

// tellReply puts the text of a turn where it went.
func (r *Runner) tellReply(ctx context.Context, q request, end *turnEnd) error {
	if q.check != nil {
		return nil // its value goes there, if anything does
	}
	reply := layout.NewReply(q.out)
	if end.Adopted {
		if err := reply.Value(end.Reply); err != nil {
			return err
		}
		return reply.Close()
	}
	for piece, err := range r.o.Past.Text(ctx, q.where.Step, event.Message, "") {
		if err != nil {
			return storeError(err)
		}
		if err := reply.Value(piece); err != nil {
			return err
		}
	}
	return reply.Close()
}
