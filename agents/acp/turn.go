package acp

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"xmd/agents/asking"
	"xmd/agents/past"
	"xmd/agents/wire"
	"xmd/runtime"
)

// turn is the state of one running prompt. The reader delivers into it, its permission goroutine emits outcomes, and a
// cancel closes it for questions; mu orders them, so the sink is never called twice at once.
type turn struct {
	p    *Profile
	door string // the server that is the workflow's door; "": there is none
	sink func(runtime.Update)
	ask  func(context.Context, runtime.PermissionRequest) bool
	call *wire.Pending // set before the reader can see the turn

	mu          sync.Mutex
	tools       map[string]*tool
	held        string   // a message that is an error's text if an error follows
	heldOwn     bool     // what is held is the agent's own word unless the model's answer goes on after it
	calls       int      // how often the model was asked, where the agent says so
	notices     []string // since the last content, without the harmless ones
	systemError bool
	usage       runtime.Usage
	spent       float64       // what the process had cost before this turn, where its figures are sums
	cost        float64       // the newest figure as it came
	total       runtime.Usage // the newest figures of a result, where they are sums
	refused     int
	sessionID   string        // as the provider states it
	foreign     chan struct{} // closed when that is not ours

	questions asking.Queue
}

// emit hands one update to the caller. The turn is locked.
func (t *turn) emit(u runtime.Update) {
	if t.sink != nil {
		t.sink(u)
	}
}

// content says that something of the model's came: what was held is an ordinary message, and notices before it were no
// failure of the turn.
func (t *turn) content() {
	t.release()
	t.notices = t.notices[:0]
}

// notice takes a word of the adapter's.
func (t *turn) notice(text string) {
	if t.p.CompactNotice != "" && strings.HasPrefix(text, t.p.CompactNotice) {
		t.emit(runtime.Update{Kind: runtime.UpdateCompaction})
		return
	}
	if !past.BeginsAny(text, t.p.Harmless) {
		t.notices = append(t.notices, strings.TrimSpace(text))
	}
	t.emit(runtime.Update{Kind: runtime.UpdateNotice, Text: text})
}

// mayBeError says whether a message is held until the turn shows whether it is an error's text.
func (t *turn) mayBeError(text string) bool {
	return past.BeginsAny(text, t.p.ErrorText)
}

// release lets a held message pass as one.
func (t *turn) release() {
	if t.held == "" {
		return
	}
	text := t.held
	t.held, t.heldOwn = "", false
	t.emit(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: text})
}

// reportCost notes what the turn has cost so far.
func (t *turn) reportCost(amount float64, currency string) {
	t.cost = amount
	if t.p.CostIsTotal && amount >= t.spent {
		amount -= t.spent
	}
	t.usage.Cost, t.usage.Currency = &amount, currency
}

// ended makes the result of a turn that the agent answered.
func (t *turn) ended(result json.RawMessage) runtime.TurnResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.meter(resultUsage(result))
	t.judgeOwn(u)
	t.release()
	res := t.result()
	res.Stop, _ = wire.String(wire.Field(result, "stopReason"))
	if u != nil {
		u.Cost, u.Currency = t.usage.Cost, t.usage.Currency
		res.Usage = u
	}
	if id, ok := wire.String(wire.Path(result, "_meta", "sessionId")); ok && t.p.Asserts {
		res.SessionID = id
	}
	switch {
	case res.Stop == "":
		res.Failure = "the agent answered the prompt without saying how the turn ended"
	case res.Stop == "end_turn" && len(t.notices) > 0:
		res.Failure = strings.Join(t.notices, "\n")
	case res.Stop == "end_turn" && t.systemError:
		res.Failure = "the agent reported a system error"
	}
	return res
}

// failed makes the result of a turn that ended with an error answer, or with one that could not be read.
func (t *turn) failed(words string) runtime.TurnResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own := t.errorText(); own != "" {
		words = own
	}
	res := t.result()
	res.Stop, res.Failure = "error", words
	return res
}

// errorText takes a held message as what it is when an error follows: the agent's own words for it, not an answer.
func (t *turn) errorText() string {
	text := strings.TrimSpace(t.held)
	if text != "" {
		t.emit(runtime.Update{Kind: runtime.UpdateNotice, Accepts: true, Text: t.held})
		t.held, t.heldOwn = "", false
	}
	return text
}

// late makes the result of a cancelled turn whose end did not come.
func (t *turn) late() runtime.TurnResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release()
	res := t.result()
	res.Stop, res.Late = "cancelled", true
	return res
}

func (t *turn) result() runtime.TurnResult {
	res := runtime.TurnResult{Refused: t.refused, SessionID: t.sessionID}
	if t.usage != (runtime.Usage{}) {
		usage := t.usage
		res.Usage = &usage
	}
	return res
}
