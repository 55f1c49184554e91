package acp

import (
	"testing"

	"xmd/runtime"
)

func figures(in, out int64) *runtime.Usage {
	total := in + out
	return &runtime.Usage{InputTokens: &in, OutputTokens: &out, TotalTokens: &total}
}

// Figures that are the sum of the process become those of the turn; a sum that shrinks began anew.
func TestMeter(t *testing.T) {
	turn := &turn{p: &Profile{UsageIsTotal: true}}
	for i, c := range []struct{ now, want *runtime.Usage }{
		{nil, nil},
		{figures(10, 2), figures(10, 2)},
		{figures(10, 2), figures(0, 0)},
		{nil, nil},
		{figures(25, 7), figures(15, 5)},
		{figures(4, 1), figures(4, 1)},
	} {
		got := turn.meter(c.now)
		if (got == nil) != (c.want == nil) {
			t.Fatalf("%d: %+v", i, got)
		}
		if got != nil && (*got.InputTokens != *c.want.InputTokens || *got.OutputTokens != *c.want.OutputTokens || *got.TotalTokens != *c.want.TotalTokens || got.CachedTokens != nil) {
			t.Errorf("%d: in %d, out %d", i, *got.InputTokens, *got.OutputTokens)
		}
	}
}

// A message that begins as the agent's own do is one by what happens around it.
func TestOwnWords(t *testing.T) {
	chunk := func(text string) string {
		return `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}`
	}
	const (
		model = `{"sessionUpdate":"usage_update","used":1,"size":2}`
		begun = `{"sessionUpdate":"tool_call","toolCallId":"a","title":"make","kind":"edit","status":"pending"}`
		ended = `{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"}`
		used  = `{"stopReason":"end_turn","usage":{"inputTokens":5,"outputTokens":1,"totalTokens":6}}`
		none  = `{"stopReason":"end_turn"}`
	)
	for name, c := range map[string]struct {
		updates                []string
		result                 string
		text, notices, failure string
	}{
		"the model is down":           {[]string{model, chunk("Error: 500")}, none, "", "Error: 500", "Error: 500"},
		"the model's own":             {[]string{model, chunk("Error: the file is gone")}, used, "Error: the file is gone", "", ""},
		"the model goes on":           {[]string{model, chunk("Info: x"), chunk(" and y")}, none, "Info: x and y", "", ""},
		"the model uses a tool":       {[]string{model, chunk("Info: x"), begun, ended, model, chunk("done")}, used, "Info: xdone", "", ""},
		"while a tool runs":           {[]string{model, begun, chunk("Info: /a"), ended, model, chunk("done")}, used, "done", "Info: /a", ""},
		"it tries again":              {[]string{model, chunk("Info: again"), model, chunk("done")}, used, "done", "Info: again", ""},
		"it gives up after a tool":    {[]string{model, begun, ended, model, chunk("Error: 500")}, used, "", "Error: 500", "Error: 500"},
		"it gives up after tries":     {[]string{model, chunk("Info: 1"), model, chunk("Info: 2"), model, chunk("Error: 500")}, none, "", "Info: 1Info: 2Error: 500", "Error: 500"},
		"it says two things":          {[]string{model, chunk("Info: 1"), chunk("Error: 500")}, none, "", "Info: 1Error: 500", "Error: 500"},
		"it answers without a model":  {[]string{chunk("Context: 3%")}, none, "Context: 3%", "", ""},
		"an answer after its mistake": {[]string{model, chunk("Error: 500"), model, chunk("done")}, used, "done", "Error: 500", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, notices := "", ""
			turn := &turn{p: &Profile{OwnWords: []string{"Info: ", "Error: "}, Harmless: []string{"Info: "}, UsageIsTotal: true}, sink: func(u runtime.Update) {
				switch u.Kind {
				case runtime.UpdateMessage:
					text += u.Text
				case runtime.UpdateNotice:
					notices += u.Text
					if !u.Accepts {
						t.Error("its conversation has the words by then")
					}
				}
			}}
			for _, raw := range c.updates {
				u, ok := parseUpdate([]byte(raw))
				if !ok {
					t.Fatal(raw)
				}
				turn.deliver(&u)
			}
			if res := turn.ended([]byte(c.result)); text != c.text || notices != c.notices || res.Failure != c.failure {
				t.Errorf("text %q, notices %q, failure %q", text, notices, res.Failure)
			}
		})
	}
}
