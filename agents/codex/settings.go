package codex

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"xmd/agents/wire"
	"xmd/runtime"
)

// sandbox is a sandboxPolicy of turn/start.
type sandbox struct {
	Type string `json:"type"`
}

// mode is a pair of approval policy and sandbox under a name, with who answers the questions.
type mode struct {
	name     string
	policy   string
	reviewer string
	sandbox  sandbox
}

// modes are the names that <Agent mode> takes. All but the first are those of Codex's adapter for ACP and mean the same there. In the
// first, Codex asks for every command and every change of a file; in the others it acts unasked within the sandbox.
var modes = []mode{
	{AskMode, "untrusted", "user", sandbox{"readOnly"}},
	{"read-only", "on-request", "user", sandbox{"readOnly"}},
	{"workspace-write", "on-request", "user", sandbox{"workspaceWrite"}},
	{"agent", "on-request", "auto_review", sandbox{"workspaceWrite"}},
	{"agent-full-access", "never", "user", sandbox{"dangerFullAccess"}},
}

// AskMode is the mode in which every conversation is opened.
const AskMode = "untrusted"

// untrusted is that mode.
var untrusted = modes[0]

// choice is how a thread works.
type choice struct {
	model  string
	effort string // "": none was ever chosen, so it is the model's own
	mode   string
}

// settings are how the thread was opened, how it works since its last turn, and how the next one is to work.
type settings struct {
	opened, applied, wanted choice
	models                  []model // as Codex offers them; nil: not asked for yet
}

func settingsOf(t thread) settings {
	now := choice{t.Model, t.ReasoningEffort, AskMode}
	return settings{opened: now, applied: now, wanted: now}
}

// overrides are the members of turn/start that change how the thread works, from that turn on.
type overrides struct {
	Model             string         `json:"model,omitempty"`
	Effort            string         `json:"effort,omitempty"`
	ApprovalPolicy    string         `json:"approvalPolicy,omitempty"`
	ApprovalsReviewer string         `json:"approvalsReviewer,omitempty"`
	SandboxPolicy     *sandbox       `json:"sandboxPolicy,omitempty"`
	CollaborationMode *collaboration `json:"collaborationMode,omitempty"`
}

// collaboration is the one way to take an effort back where the model's own is not known. It costs a line in the conversation.
type collaboration struct {
	Mode     string `json:"mode"`
	Settings struct {
		Model        string  `json:"model"`
		Effort       *string `json:"reasoning_effort"`
		Instructions *string `json:"developer_instructions"`
	} `json:"settings"`
}

// overrides says what the next turn must change, and how the thread works then.
func (s *settings) overrides() (o overrides, now choice) {
	now = s.wanted
	if now.model != s.applied.model {
		o.Model = now.model
	}
	if m := modeNamed(now.mode); now.mode != s.applied.mode {
		o.ApprovalPolicy, o.ApprovalsReviewer, o.SandboxPolicy = m.policy, m.reviewer, &m.sandbox
	}
	if now.effort == "" && s.applied.effort != "" {
		now.effort = s.ownEffort(now.model)
	}
	switch {
	case now.effort == s.applied.effort:
	case now.effort != "":
		o.Effort = now.effort
	default:
		o.CollaborationMode = &collaboration{Mode: "default"}
		o.CollaborationMode.Settings.Model = now.model
	}
	return o, now
}

func modeNamed(name string) mode {
	for _, m := range modes {
		if m.name == name {
			return m
		}
	}
	return untrusted
}

// model is one that Codex offers.
type model struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Hidden  bool   `json:"hidden"`
	Effort  string `json:"defaultReasoningEffort"`
	Efforts []struct {
		Name string `json:"reasoningEffort"`
	} `json:"supportedReasoningEfforts"`
}

func (s *settings) find(name string) (model, bool) {
	for _, m := range s.models {
		if m.Model == name || m.ID == name {
			return m, true
		}
	}
	return model{}, false
}

// ownEffort is the effort of a model that none was chosen for; "" when Codex does not know the model.
func (s *settings) ownEffort(name string) string {
	m, _ := s.find(name)
	return m.Effort
}

// Configure chooses model, effort and mode of the next turn; see runtime.Configurer. Codex itself takes any name.
func (c *conn) Configure(ctx context.Context, want runtime.Settings) error {
	next := c.settings.opened
	if want.Mode != "" {
		next.mode = want.Mode
		if modeNamed(want.Mode).name != want.Mode {
			return c.noSuch("mode", want.Mode, modeNames())
		}
	}
	if err := c.offered(ctx); err != nil {
		return err
	}
	if want.Model != "" {
		m, ok := c.settings.find(want.Model)
		switch {
		case ok:
			next.model = m.Model
		case want.Model != c.settings.opened.model:
			return c.noSuch("model", want.Model, c.settings.modelNames())
		}
	}
	if want.Effort != "" {
		next.effort = want.Effort
		m, ok := c.settings.find(next.model)
		if efforts := m.efforts(); ok && len(efforts) > 0 && !slices.Contains(efforts, want.Effort) {
			return c.noSuch("effort", want.Effort, efforts)
		}
	}
	c.settings.wanted = next
	return nil
}

func (c *conn) noSuch(what, name string, offered []string) error {
	if len(offered) == 0 {
		return c.Fail(runtime.KindFailed, "%s offers no %s %q", c.Info.Shown, what, name)
	}
	return c.Fail(runtime.KindFailed, "%s offers no %s %q; it offers %s", c.Info.Shown, what, name, strings.Join(offered, ", "))
}

func modeNames() []string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = m.name
	}
	return names
}

// modelNames are the models that Codex shows to people, and the conversation's own.
func (s *settings) modelNames() []string {
	var names []string
	for _, m := range s.models {
		if !m.Hidden {
			names = append(names, m.Model)
		}
	}
	if own := s.opened.model; own != "" && !slices.Contains(names, own) {
		names = append(names, own)
	}
	return names
}

func (m model) efforts() []string {
	names := make([]string, len(m.Efforts))
	for i, e := range m.Efforts {
		names[i] = e.Name
	}
	return names
}

const (
	// settingsLimit is how long Codex may take to list its models.
	settingsLimit = 60 * time.Second
	// maxPages bounds a list that has no end.
	maxPages = 100
)

// offered asks once which models there are.
func (c *conn) offered(ctx context.Context) error {
	if c.settings.models != nil {
		return nil
	}
	models := []model{}
	var cursor string
	for range maxPages {
		result, err := c.Within(ctx, settingsLimit, "model/list", struct {
			Hidden bool   `json:"includeHidden"`
			Cursor string `json:"cursor,omitempty"`
		}{true, cursor})
		switch {
		case ctx.Err() != nil:
			return c.Cancelled(ctx)
		case err != nil:
			return c.Fail(runtime.KindFailed, "%s did not tell which models it offers: %w", c.Info.Shown, c.Reason(err))
		}
		var page []model
		_ = json.Unmarshal(wire.Field(result, "data"), &page) // what does not fit is not offered
		models = append(models, page...)
		next, _ := wire.String(wire.Field(result, "nextCursor"))
		if next == "" || next == cursor {
			break
		}
		cursor = next
	}
	c.settings.models = models
	return nil
}
