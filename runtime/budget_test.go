package runtime_test

import (
	"context"
	"strings"
	"testing"

	"xmd/runtime"
	"xmd/runtime/event"
)

// A run ends at its budget before the next prompt is sent, or in the turn that passes it. What was reported counts, and nothing else; a figure
// that is not reported is said once.
func TestBudget(t *testing.T) {
	num := func(n int64) *int64 { return &n }
	money := func(f float64) *float64 { return &f }
	const three = `<Prompt text="one"/><Prompt text="two"/><Prompt text="three"/>`
	for name, c := range map[string]struct {
		budget runtime.Budget
		usage  *runtime.Usage
		sent   int
		says   string // the error; "": none
		warns  string
	}{
		"none":                    {runtime.Budget{}, nil, 3, "", ""},
		"turns":                   {runtime.Budget{Turns: 2}, nil, 2, "may use 2 turns, and 2 were sent; --max-turns", ""},
		"just enough turns":       {runtime.Budget{Turns: 3}, nil, 3, "", ""},
		"tokens":                  {runtime.Budget{Tokens: 25}, &runtime.Usage{TotalTokens: num(10)}, 3, "", ""},
		"tokens are used up":      {runtime.Budget{Tokens: 20}, &runtime.Usage{TotalTokens: num(10)}, 2, "may use 20 tokens, and agents reported 20", ""},
		"tokens by their parts":   {runtime.Budget{Tokens: 20}, &runtime.Usage{InputTokens: num(4), OutputTokens: num(5), CachedTokens: num(1)}, 2, "agents reported 20", ""},
		"cost":                    {runtime.Budget{Cost: 0.5}, &runtime.Usage{Cost: money(0.25), Currency: "USD"}, 2, "may use 0.5 USD, and agents reported 0.5 USD", ""},
		"cost that nobody tells":  {runtime.Budget{Cost: 0.5, Tokens: 5}, &runtime.Usage{OutputTokens: num(1)}, 3, "", "did not report its cost: --max-cost cannot be kept"},
		"nothing that is told":    {runtime.Budget{Cost: 0.5, Tokens: 5}, nil, 3, "", "did not report its tokens and cost: --max-tokens and --max-cost cannot be kept"},
		"turns hold without more": {runtime.Budget{Turns: 1, Tokens: 5}, nil, 1, "--max-turns", "did not report its tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.opts = func(o *runtime.Options) { o.Budget = c.budget }
			sent := 0
			b.agents["fake"].onTurn = func(_ context.Context, _ string, turn runtime.Turn) (runtime.TurnResult, error) {
				sent++
				turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: "."})
				return runtime.TurnResult{Stop: "end_turn", Usage: c.usage}, nil
			}
			r := b.run(`<Try>` + three + `<Catch>caught</Catch></Try>`)
			if sent != c.sent || r.out != strings.Repeat(".", c.sent) {
				t.Errorf("%d prompts were sent, %q", sent, r.out)
			}
			if c.says == "" && r.err != nil || c.says != "" && (runtime.KindOf(r.err) != runtime.KindLimit || !strings.Contains(r.err.Error(), c.says)) {
				t.Errorf("%v", r.err)
			}
			var warned []string
			for _, e := range r.events {
				if w, ok := e.Body.(*event.Warn); ok && w.Code == "budget" {
					warned = append(warned, w.Text)
				}
			}
			if got := strings.Join(warned, "|"); !strings.Contains(got, c.warns) || c.warns == "" && got != "" || len(warned) > 1 {
				t.Errorf("warned %q", got)
			}
		})
	}
}

// A turn whose agent reports on the way that it has passed the budget is cancelled.
func TestBudgetInATurn(t *testing.T) {
	b := newBench(t)
	b.opts = func(o *runtime.Options) { o.Budget.Tokens = 100 }
	b.agents["fake"].onTurn = func(ctx context.Context, _ string, turn runtime.Turn) (runtime.TurnResult, error) {
		for n := int64(40); ; n += 40 {
			turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: "."})
			turn.Sink(runtime.Update{Kind: runtime.UpdateUsage, Usage: &runtime.Usage{TotalTokens: &n}})
			if ctx.Err() != nil {
				return runtime.TurnResult{Stop: "cancelled", Usage: &runtime.Usage{TotalTokens: &n}}, nil
			}
		}
	}
	r := b.run(`<Prompt text="go on for ever"/>`)
	if runtime.KindOf(r.err) != runtime.KindLimit || !strings.Contains(r.err.Error(), "may use 100 tokens, and agents reported 120") || r.out != "..." {
		t.Errorf("%q, %v", r.out, r.err)
	}
}
