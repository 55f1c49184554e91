package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"xmd/lang/expr"
	"xmd/lang/resolve"
	"xmd/runtime"
	"xmd/runtime/secret"
	"xmd/runtime/store"
)

// settings are what a run was started with, beside its document and its props: a later resume goes on with them.
type settings struct {
	Cwd              string               `json:"cwd"` // where relative names of documents begin
	Target           string               `json:"target,omitempty"`
	Include          []string             `json:"include,omitempty"`
	Agent            string               `json:"agent,omitempty"` // of prompts that name none
	Policy           runtime.Policy       `json:"policy,omitempty"`
	Format           string               `json:"format"`
	Idle             string               `json:"idleTimeout,omitempty"`
	Timeout          string               `json:"timeout,omitempty"`
	PromptTimeout    string               `json:"promptTimeout,omitempty"`
	ExecTimeout      string               `json:"execTimeout,omitempty"`
	MaxTurns         int64                `json:"maxTurns,omitempty"`
	MaxTokens        int64                `json:"maxTokens,omitempty"`
	MaxCost          float64              `json:"maxCost,omitempty"`
	RequireConfirmed bool                 `json:"requireConfirmed,omitempty"`
	Variables        variables            `json:"variables,omitempty"`
	Answers          map[string]givenText `json:"answers,omitempty"`
	Secrets          []string             `json:"secrets,omitempty"` // names
	REPL             bool                 `json:"repl,omitempty"`
}

// givenText is an answer that was given with the run.
type givenText struct {
	Text   string          `json:"text,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Parsed bool            `json:"parsed,omitempty"` // Value holds it
}

// settingsOf gathers the settings of a new run: a flag counts more than a variable XMD_…, that more than the configuration.
func (h *host) settingsOf(c *call, format string) (settings, error) {
	cwd, _ := os.Getwd() // without one there are no relative names
	given := h.config
	if err := given.override(h.env); err != nil {
		return settings{}, err
	}
	l := given.Limits
	s := settings{
		Cwd: cwd, Include: c.StringSlice("include"), Agent: h.agent, Policy: first(policyOf(c), policies[given.Policy]), Format: format,
		Timeout: first(c.String("timeout"), l.Timeout), Idle: first(c.String("idle-timeout"), l.IdleTimeout),
		PromptTimeout: first(c.String("timeout-prompt"), l.TimeoutPrompt), ExecTimeout: first(c.String("timeout-exec"), l.TimeoutExec),
		MaxTurns: l.MaxTurns, MaxTokens: l.MaxTokens, MaxCost: l.MaxCost,
		RequireConfirmed: c.Bool("require-confirmed"), REPL: c.verb == "repl",
	}
	s.spendMore(c)
	return s, nil
}

// budget checks the flags of what a run may use.
func budget(c *call) error {
	for _, flag := range []string{"max-turns", "max-tokens", "max-cost"} {
		if c.IsSet(flag) && c.Int64(flag) <= 0 && c.Float64(flag) <= 0 {
			return &usageError{message: fmt.Sprintf("--%s must be more than 0; leave it out for no limit", flag)}
		}
	}
	return nil
}

// budget is what the run may use.
func (s *settings) budget() runtime.Budget {
	return runtime.Budget{Turns: s.MaxTurns, Tokens: s.MaxTokens, Cost: s.MaxCost}
}

// spendMore lays budgets that are given now over the run's own.
func (s *settings) spendMore(c *call) {
	if c.IsSet("max-turns") {
		s.MaxTurns = c.Int64("max-turns")
	}
	if c.IsSet("max-tokens") {
		s.MaxTokens = c.Int64("max-tokens")
	}
	if c.IsSet("max-cost") {
		s.MaxCost = c.Float64("max-cost")
	}
}

// idleLimit is how long an agent may show nothing in a turn, when nothing else is said.
const idleLimit = 10 * time.Minute

// idle is the limit of silence of the run's turns; 0: none.
func (s *settings) idle() time.Duration {
	if s.Idle == "" {
		return idleLimit
	}
	return durationOf(s.Idle)
}

// durationOf is a duration that durations has checked; 0 for "", which is no limit.
func durationOf(text string) time.Duration {
	ms, err := resolve.Duration(text)
	if err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// readSettings reads the settings of a recorded run. Before its secrets are known, with none given, only their names are of use.
func readSettings(run store.Run, secrets *secret.Set) (settings, error) {
	var s settings
	if run.Settings == nil {
		return s, nil // nothing was given
	}
	raw := run.Settings
	if secrets != nil {
		var err error
		if raw, err = secrets.DecodeJSON(raw); err != nil {
			return s, runtime.Errorf(runtime.KindRoute, "the settings of run %s cannot be read: %w", run.ID, err)
		}
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, runtime.Errorf(runtime.KindRoute, "the settings of run %s cannot be read by this build: %w", run.ID, err)
	}
	return s, nil
}

// setAnswers keeps the answers that were given.
func (s *settings) setAnswers(given map[string]runtime.Answer) {
	s.Answers = map[string]givenText{}
	for name, a := range given {
		kept := givenText{Text: a.Text, Parsed: a.Parsed}
		if a.Parsed {
			kept.Value = json.RawMessage(expr.JSON(a.Value))
		}
		s.Answers[name] = kept
	}
}

// answers are those that were given with the run, and those given now, which count more.
func (s *settings) answers(now map[string]runtime.Answer) (map[string]runtime.Answer, error) {
	all := map[string]runtime.Answer{}
	for name, kept := range s.Answers {
		a := runtime.Answer{Text: kept.Text, Parsed: kept.Parsed}
		if kept.Parsed {
			v, err := expr.ParseJSON(string(kept.Value))
			if err != nil {
				return nil, runtime.Errorf(runtime.KindRoute, "the recorded answer %s %w", name, err)
			}
			a.Value = v
		}
		all[name] = a
	}
	for name, a := range now {
		all[name] = a
	}
	return all, nil
}

// recordedDocument is the document of a run as it was: sources holds every file that it used.
func recordedDocument(run store.Run, sources []store.Source, s settings) (document, error) {
	if len(sources) == 0 {
		return document{}, runtime.Errorf(runtime.KindRoute, "run %s has no document on record", run.ID)
	}
	texts := map[string]string{}
	for _, one := range sources {
		texts[one.Name] = one.Text
	}
	files := filesOf(run.Document, s.Include)
	files.list = false
	files.read = func(path string) ([]byte, error) {
		if text, ok := texts[path]; ok {
			return []byte(text), nil
		}
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return document{name: run.Document, text: texts[run.Document], target: s.Target, files: files}, nil
}

// editedDocument is the document of a run as its files are now.
func editedDocument(run store.Run, s settings) (document, error) {
	if run.Document == "stdin" {
		return document{}, runtime.Errorf(runtime.KindUsage, "the document of run %s came from stdin; it has no file that could have been edited", run.ID)
	}
	files := filesOf(run.Document, s.Include)
	files.list = false
	files.read = func(path string) ([]byte, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Cwd, path)
		}
		return os.ReadFile(path)
	}
	text, err := files.read(run.Document)
	if err != nil {
		return document{}, runtime.Errorf(runtime.KindInvalid, "%s cannot be read: %w", run.Document, plainError(err))
	}
	return document{name: run.Document, text: string(text), target: s.Target, files: files}, nil
}

// unreadable is a recorded document that this build does not take any more.
func unreadable(run store.Run, err error) error {
	return runtime.Errorf(runtime.KindDivergence, "this build of xmd does not read the document of run %s as the one that ran it: %w; use that build", run.ID, err)
}

// errDigest is a recorded document of which another plan is made now.
func errDigest(then, now string) error {
	return fmt.Errorf("its plan was %.12s and is %.12s", then, now)
}
