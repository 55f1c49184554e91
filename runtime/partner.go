package runtime

import (
	"context"
	"time"

	"xmd/lang/plan"
	"xmd/runtime/event"
)

// partner is who a prompt is for: the session, taken when the first turn has to be made. Turns on record need none.
type partner struct {
	r     *Runner
	n     *plan.Prompt
	at    place
	done  *ended // the recorded end of the step; nil: it has none
	limit time.Duration

	s    *session
	turn *token          // that is held
	live context.Context // under the prompt's timeout; nil before the first turn
	stop context.CancelFunc
}

// ready gives the session, attached and as the prompt wants it, and the context of the turn. The time of the prompt's timeout begins
// with its first turn: waiting for the session or for the agent's start is not the agent's.
func (p *partner) ready(ctx context.Context, where event.At) (*session, context.Context, error) {
	if p.done != nil { // it ended before this turn was made
		if failure := p.done.failure(); failure != nil {
			return nil, nil, failure
		}
		return nil, nil, Errorf(KindDivergence, "the record of this prompt ends well, and lacks a turn that it needs")
	}
	if err := p.r.mayRun(p.at, where); err != nil {
		return nil, nil, err
	}
	if p.live != nil {
		ctx = p.live
	}
	if err := p.take(ctx); err != nil {
		return nil, nil, err
	}
	if err := p.r.detachBare(ctx, p.s); err != nil {
		return nil, nil, err
	}
	if err := p.r.wear(ctx, p.s, p.r.outfit(p.at)); err != nil {
		return nil, nil, err
	}
	if err := p.r.attach(ctx, p.s, where); err != nil {
		return nil, nil, err
	}
	if err := p.r.configure(ctx, p.s, p.at.settings(p.s.info), where); err != nil {
		return nil, nil, err
	}
	if p.live == nil {
		p.live, p.stop = ctx, func() {}
		if limit, why := p.limits(); limit > 0 {
			p.live, p.stop = context.WithTimeoutCause(ctx, limit, why)
		}
	}
	return p.s, p.live, nil
}

// limits is how long the prompt may take, and why it ends then: its author's timeout, or the limit of the run's prompts. 0: for ever.
func (p *partner) limits() (time.Duration, *Error) {
	shown, most := p.s.info.Shown, p.r.o.PromptLimit
	if most > 0 && (p.limit == 0 || most < p.limit) {
		return most, Errorf(KindLimit, "the prompt was cancelled: %s was not done within %s; --timeout-prompt changes the limit", shown, most)
	}
	return p.limit, Errorf(KindTimeout, "the prompt was cancelled: %s was not done within its timeout of %s", shown, p.limit)
}

// take waits for the session's turn token; in a Conversation for that of the Conversation.
func (p *partner) take(ctx context.Context) error {
	if p.s != nil {
		return nil
	}
	s, err := p.r.sessionOf(p.n, p.at)
	if err != nil {
		return err
	}
	if err := p.r.takeIn(ctx, p.at.caller, s, p.at.begun); err != nil {
		return err
	}
	p.s, p.turn = s, s.queue()
	s.restart, s.bare, s.instructions = p.at.session.restart, false, p.at.offers.last.instructions()
	return nil
}

// shown is the agent's name for people.
func (p *partner) shown() string {
	if p.s == nil {
		return "the agent"
	}
	return p.s.info.Shown
}

func (p *partner) release() {
	if p.stop != nil {
		p.stop()
	}
	if p.s != nil {
		p.turn.give()
	}
}
