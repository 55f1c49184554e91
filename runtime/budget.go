package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"xmd/runtime/event"
)

// Budget is what a run may use, all its invocations together. A zero member is no limit. Tokens and cost are what agents report of them; a
// figure that an agent does not report is not known, and never counts as zero or as an estimate.
type Budget struct {
	Turns  int64   // prompts sent, the askings of a schema included
	Tokens int64   // in and out, cached ones too
	Cost   float64 // in the currency that the agents report; of several currencies each by itself
}

// spending is what a run has used so far. Safe for concurrent use.
type spending struct {
	limit Budget

	remembered bool // what earlier invocations used is counted

	mu       sync.Mutex
	turns    int64
	tokens   int64
	cost     map[string]float64 // by currency
	withheld map[string]bool    // agent and figure that it did not report, said once
}

// tokensOf adds up what an agent reported of a turn; false: it did not.
func (u *Usage) tokensOf() (int64, bool) {
	if u == nil {
		return 0, false
	}
	if u.TotalTokens != nil {
		return *u.TotalTokens, true
	}
	var sum int64
	told := false
	for _, n := range []*int64{u.InputTokens, u.OutputTokens, u.CachedTokens} {
		if n != nil {
			sum, told = sum+*n, true
		}
	}
	return sum, told
}

// remember counts, once, what earlier invocations of the run have used.
func (p *spending) remember(ctx context.Context, r *Runner) error {
	if r.o.Past == nil || r.o.Offline || p.limit == (Budget{}) || p.remembered {
		return nil
	}
	p.remembered = true
	for _, step := range r.o.Past.Steps() {
		p.turns += int64(r.o.Past.Sendings(step))
		err := r.o.Past.All(ctx, step, event.PromptEnded, func(_ event.At, body json.RawMessage) error {
			var ended struct{ Usage *Usage }
			if err := json.Unmarshal(body, &ended); err != nil {
				return err
			}
			p.add(ended.Usage)
			return nil
		})
		if err != nil {
			return storeError(err)
		}
	}
	return nil
}

// add counts what was reported of a turn.
func (p *spending) add(u *Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, _ := u.tokensOf()
	p.tokens += n
	if u != nil && u.Cost != nil {
		if p.cost == nil {
			p.cost = map[string]float64{}
		}
		p.cost[u.Currency] += *u.Cost
	}
}

// take counts a turn that is about to be sent, or says which limit is reached.
func (p *spending) take() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.reached(nil); err != nil {
		return err
	}
	if p.limit.Turns > 0 && p.turns >= p.limit.Turns {
		return overBudget("max-turns", fmt.Sprintf("%d turns", p.limit.Turns), fmt.Sprintf("%d were sent", p.turns))
	}
	p.turns++
	return nil
}

// over says which limit the turn that runs has passed with what its agent has reported so far.
func (p *spending) over(so *Usage) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reached(so)
}

// reached judges tokens and cost; the caller holds mu. Without a running turn a limit counts as reached when nothing of it is left.
func (p *spending) reached(running *Usage) error {
	n, _ := running.tokensOf()
	tokens := p.tokens + n
	if limit := p.limit.Tokens; limit > 0 && (tokens > limit || running == nil && tokens >= limit) {
		return overBudget("max-tokens", fmt.Sprintf("%d tokens", limit), fmt.Sprintf("agents reported %d", tokens))
	}
	for currency, cost := range p.costs(running) {
		if limit := p.limit.Cost; limit > 0 && (cost > limit || running == nil && cost >= limit) {
			return overBudget("max-cost", strings.TrimSpace(fmt.Sprintf("%g %s", limit, currency)), strings.TrimSpace(fmt.Sprintf("agents reported %g %s", cost, currency)))
		}
	}
	return nil
}

func (p *spending) costs(running *Usage) map[string]float64 {
	if running == nil || running.Cost == nil {
		return p.cost
	}
	sum := map[string]float64{running.Currency: *running.Cost}
	for currency, cost := range p.cost {
		sum[currency] += cost
	}
	return sum
}

func overBudget(flag, limit, used string) *Error {
	return Errorf(KindLimit, "the run may use %s, and %s; --%s changes the limit", limit, used, flag)
}

// missing says once which figure that a limit needs an agent does not report.
func (p *spending) missing(shown string, u *Usage) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var what []string
	note := func(figure string) {
		if p.withheld == nil {
			p.withheld = map[string]bool{}
		}
		if key := shown + "/" + figure; !p.withheld[key] {
			p.withheld[key] = true
			what = append(what, figure)
		}
	}
	if _, told := u.tokensOf(); p.limit.Tokens > 0 && !told {
		note("tokens")
	}
	if p.limit.Cost > 0 && (u == nil || u.Cost == nil) {
		note("cost")
	}
	if what == nil {
		return ""
	}
	flags := "--max-" + strings.Join(what, " and --max-")
	return fmt.Sprintf("%s did not report its %s: %s cannot be kept for it, what it uses is unknown.", shown, strings.Join(what, " and "), flags)
}

// spent counts a turn that has ended, and says what its agent did not report.
func (t *turn) spent(result TurnResult) {
	t.r.spending.add(result.Usage)
	if result.Failure != "" || result.Stop != "end_turn" {
		return // a turn that failed may have nothing to report
	}
	if line := t.r.spending.missing(t.s.info.Shown, result.Usage); line != "" {
		t.r.warn("budget", line, t.at)
	}
}
