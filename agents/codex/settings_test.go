package codex

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"xmd/runtime"
)

// configure runs Configure while the test plays Codex, which is asked for its models once.
func (p *peer) configure(want runtime.Settings, play func()) error {
	p.t.Helper()
	done := make(chan error)
	go func() { done <- p.c.Configure(p.t.Context(), want) }()
	play()
	return <-done
}

const models = `{"data":[` +
	`{"id":"m","model":"m","defaultReasoningEffort":"low","supportedReasoningEfforts":[{"reasoningEffort":"low"},{"reasoningEffort":"high"}]},` +
	`{"id":"big-id","model":"big","defaultReasoningEffort":"medium","supportedReasoningEfforts":[{"reasoningEffort":"medium"},{"reasoningEffort":"high"}]},` +
	`{"id":"secret","model":"secret","hidden":true,"defaultReasoningEffort":"low","supportedReasoningEfforts":[]}],"nextCursor":null}`

func (p *peer) models() {
	p.t.Helper()
	if m := p.expect("model/list"); string(m.Params) != `{"includeHidden":true}` {
		p.t.Errorf("%s", m.Params)
	}
	p.answer(models)
}

const (
	onlyAsking = `"approvalPolicy":"untrusted","approvalsReviewer":"user","sandboxPolicy":{"type":"readOnly"}`
	fullAccess = `"approvalPolicy":"never","approvalsReviewer":"user","sandboxPolicy":{"type":"dangerFullAccess"}`
	reset      = `"collaborationMode":{"mode":"default","settings":{"model":"%s","reasoning_effort":null,"developer_instructions":null}}`
)

// What a turn must change so that it works as it is to: nothing that is so already, and what was chosen before is taken back.
func TestOverrides(t *testing.T) {
	type step struct {
		want runtime.Settings
		sent string
	}
	for name, c := range map[string]struct {
		opened string // effort
		model  string
		steps  []step
	}{
		"nothing":       {"", "m", []step{{runtime.Settings{}, ""}, {runtime.Settings{}, ""}}},
		"a model":       {"", "m", []step{{runtime.Settings{Model: "big"}, `"model":"big"`}, {runtime.Settings{Model: "big"}, ""}, {runtime.Settings{}, `"model":"m"`}, {runtime.Settings{}, ""}}},
		"by its id":     {"", "m", []step{{runtime.Settings{Model: "big-id"}, `"model":"big"`}}},
		"a hidden one":  {"", "m", []step{{runtime.Settings{Model: "secret"}, `"model":"secret"`}}},
		"its own":       {"", "private", []step{{runtime.Settings{Model: "private"}, ""}}},
		"an effort":     {"", "m", []step{{runtime.Settings{Effort: "high"}, `"effort":"high"`}, {runtime.Settings{}, `"effort":"low"`}, {runtime.Settings{}, ""}}},
		"both":          {"", "m", []step{{runtime.Settings{Model: "big", Effort: "high"}, `"model":"big","effort":"high"`}, {runtime.Settings{Model: "big"}, `"effort":"medium"`}, {runtime.Settings{}, `"model":"m","effort":"low"`}}},
		"it had one":    {"high", "m", []step{{runtime.Settings{Effort: "low"}, `"effort":"low"`}, {runtime.Settings{}, `"effort":"high"`}, {runtime.Settings{Model: "big"}, `"model":"big"`}}},
		"no catalogue":  {"", "private", []step{{runtime.Settings{Effort: "odd"}, `"effort":"odd"`}, {runtime.Settings{}, fmt.Sprintf(reset, "private")}, {runtime.Settings{}, ""}}},
		"a mode":        {"", "m", []step{{runtime.Settings{Mode: "agent-full-access"}, fullAccess}, {runtime.Settings{Mode: "agent-full-access"}, ""}, {runtime.Settings{}, onlyAsking}}},
		"reviewed":      {"", "m", []step{{runtime.Settings{Mode: "agent"}, `"approvalPolicy":"on-request","approvalsReviewer":"auto_review","sandboxPolicy":{"type":"workspaceWrite"}`}}},
		"the first one": {"", "m", []step{{runtime.Settings{Mode: AskMode}, ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				p := newPeer(t)
				defer p.close()
				if _, err := p.c.opened(fmt.Appendf(nil, `{"thread":{"id":"T"},"model":%q,"reasoningEffort":%q}`, c.model, c.opened)); err != nil {
					t.Fatal(err)
				}
				for i, s := range c.steps {
					play := func() {}
					if i == 0 {
						play = p.models
					}
					if err := p.configure(s.want, play); err != nil {
						t.Fatal(err)
					}
					for _, taken := range []bool{false, true} { // one that is not taken changes nothing
						p.prompt(t.Context(), runtime.Turn{}, func() {
							want := `{"threadId":"T","input":[{"type":"text","text":"words"}]`
							if s.sent != "" {
								want += "," + s.sent
							}
							if m := p.expect("turn/start"); string(m.Params) != want+"}" {
								t.Errorf("step %d: %s, want %s}", i, m.Params, want)
							}
							if !taken {
								p.refuse("no")
								return
							}
							p.answer(`{"turn":{"id":"U"}}`)
							p.say(bound("started", begins), bound("completed", completes))
						})
					}
				}
			})
		})
	}
}

// What is not offered is refused by name, and leaves everything as it was.
func TestNotOffered(t *testing.T) {
	for _, c := range []struct {
		want runtime.Settings
		says string
	}{
		{runtime.Settings{Mode: "yolo"}, `offers no mode "yolo"; it offers untrusted, read-only, workspace-write, agent, agent-full-access`},
		{runtime.Settings{Model: "mm"}, `offers no model "mm"; it offers m, big`},
		{runtime.Settings{Effort: "medium"}, `offers no effort "medium"; it offers low, high`},
		{runtime.Settings{Model: "big", Effort: "low"}, `offers no effort "low"; it offers medium, high`},
	} {
		timed(t, func(t *testing.T) {
			p := onThread(t)
			defer p.close()
			play := p.models
			if c.want.Mode != "" {
				play = func() {}
			}
			before := p.c.settings.wanted
			err := p.configure(c.want, play)
			var e *runtime.Error
			if !errors.As(err, &e) || e.Kind != runtime.KindFailed || !strings.HasSuffix(e.Message, c.says) || p.c.settings.wanted != before {
				t.Errorf("%+v: %v", c.want, err)
			}
		})
	}
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		if err := p.configure(runtime.Settings{Model: "secret", Effort: "odd"}, p.models); err != nil {
			t.Errorf("a model that names no efforts: %v", err)
		}
	})
}

// A list of many pages is read to its end, one that has none is left, and one that fails is said.
func TestModelPages(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		err := p.configure(runtime.Settings{Model: "b"}, func() {
			p.expect("model/list")
			p.answer(`{"data":[{"id":"a","model":"a"}],"nextCursor":"2"}`)
			if m := p.expect("model/list"); string(m.Params) != `{"includeHidden":true,"cursor":"2"}` {
				t.Errorf("%s", m.Params)
			}
			p.answer(`{"data":[{"id":"b","model":"b"}],"nextCursor":"2"}`)
		})
		if err != nil {
			t.Error(err)
		}
	})
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		err := p.configure(runtime.Settings{}, func() { p.expect("model/list"); p.refuse("no list today") })
		if runtime.KindOf(err) != runtime.KindFailed || !strings.Contains(err.Error(), "no list today") {
			t.Errorf("%v", err)
		}
	})
}
