package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"xmd/agents/rollout"
	"xmd/agents/wire"
	"xmd/runtime"
)

// threadParams are those of thread/start and thread/resume. Policy, sandbox and reviewer go with every one of them: what the person's
// configuration or an earlier program left there would let Codex act unasked.
type threadParams struct {
	ThreadID              string `json:"threadId,omitempty"`
	Cwd                   string `json:"cwd"`
	ApprovalPolicy        string `json:"approvalPolicy"`
	ApprovalsReviewer     string `json:"approvalsReviewer"`
	Sandbox               string `json:"sandbox"`
	ExcludeTurns          bool   `json:"excludeTurns,omitempty"`
	DeveloperInstructions string `json:"developerInstructions,omitempty"`

	Config       map[string]any `json:"config,omitempty"`
	DynamicTools []dynamicTool  `json:"dynamicTools,omitempty"`
}

func (c *conn) threadParams(id string) threadParams {
	p := threadParams{
		ThreadID: id, Cwd: c.root, ApprovalPolicy: untrusted.policy, ApprovalsReviewer: untrusted.reviewer, Sandbox: "read-only", ExcludeTurns: id != "",
		Config: c.equipment.config,
	}
	if id == "" { // a thread keeps these, and others on a resume are ignored
		p.DeveloperInstructions, p.DynamicTools = c.equipment.instructions, c.equipment.tools
	}
	return p
}

// thread is what a start or resume tells.
type thread struct {
	Thread struct {
		ID   string `json:"id"`
		Path string `json:"path"`
	} `json:"thread"`
	Model           string `json:"model"`
	ReasoningEffort string `json:"reasoningEffort"`
}

// Open makes or loads the thread; see runtime.Connection.
func (c *conn) Open(ctx context.Context, id string) (runtime.Opened, error) {
	signedIn := c.signedIn()
	var t thread
	var err error
	if id == "" {
		t, err = c.create(ctx, c.threadParams(""))
	} else {
		t, err = c.resume(ctx, id)
	}
	if err != nil {
		return runtime.Opened{}, err
	}
	if err := signedIn(ctx); err != nil {
		return runtime.Opened{}, err
	}
	opened := runtime.Opened{ID: t.Thread.ID, Asserted: t.Thread.ID}
	if id != "" {
		opened.ID = id
		if err := c.history(ctx, t.Thread.Path, &opened); err != nil {
			return runtime.Opened{}, err
		}
	}
	return opened, nil
}

func (c *conn) create(ctx context.Context, p threadParams) (thread, error) {
	result, err := c.patiently(ctx, "thread/start", p)
	if err != nil {
		return thread{}, c.newError(ctx, err)
	}
	t, err := c.opened(result)
	if err != nil {
		return thread{}, c.Fail(runtime.KindUnavailable, "%s could not open a conversation: %w", c.Info.Shown, err)
	}
	return t, nil
}

const (
	// busyWait is how long a resume waits for another process, saying so: Codex's own programs let go of a conversation up to a minute
	// after they were left.
	busyWait = 90 * time.Second
	// busyPause lies between two resumes of a busy thread.
	busyPause = 2 * time.Second
)

// resume loads, and loads again while another process has the thread open.
func (c *conn) resume(ctx context.Context, id string) (thread, error) {
	until := time.Now().Add(busyWait)
	for try := 1; ; try++ {
		result, err := c.patiently(ctx, "thread/resume", c.threadParams(id))
		if err == nil {
			t, err := c.opened(result)
			if err != nil {
				return thread{}, c.loadError(ctx, id, err)
			}
			return t, nil
		}
		if !isBusy(err) || !time.Now().Add(busyPause).Before(until) {
			return thread{}, c.loadError(ctx, id, err)
		}
		if try == 1 && c.notice != nil {
			c.notice(fmt.Sprintf("%s has this conversation open in another process; waiting up to %s until it is free.", c.Info.Shown, busyWait))
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return thread{}, c.loadError(ctx, id, err)
		}
	}
}

var errNameless = errors.New("the answer does not name the conversation")

// opened takes the thread of an answer as the one this connection serves.
func (c *conn) opened(result json.RawMessage) (thread, error) {
	var t thread
	if err := json.Unmarshal(result, &t); err != nil || t.Thread.ID == "" {
		return t, errNameless
	}
	c.settings = settingsOf(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id = t.Thread.ID
	return t, nil
}

// history reads the file that Codex names, which is what its model is given. Its own id must be the one that was asked for, too.
func (c *conn) history(ctx context.Context, path string, o *runtime.Opened) error {
	if path == "" {
		return c.FailRetryable(runtime.KindCouldNot, "%s keeps no file of conversation %s", c.Info.Shown, o.ID)
	}
	found, err := rollout.ReadFile(ctx, path)
	switch {
	case ctx.Err() != nil:
		return c.Cancelled(ctx)
	case err != nil:
		return c.FailRetryable(runtime.KindCouldNot, "the history of %s could not be read: %w", c.Info.Shown, err)
	}
	if found.ID != "" && found.ID != o.ID {
		o.Asserted = found.ID
	}
	o.History = found.History
	return nil
}

// signInLimit bounds the question whether somebody is signed in; nobody is contacted for it.
const signInLimit = 5 * time.Second

// signedIn asks whether somebody is signed in where that is needed, and returns what waits for the answer. Without a sign-in Codex takes
// a prompt into the conversation, and then finds that its model does not answer. What it does not say here shows with the prompt.
func (c *conn) signedIn() func(context.Context) error {
	call, err := c.Wire.Start("account/read", struct {
		RefreshToken bool `json:"refreshToken"`
	}{})
	if err != nil {
		return func(context.Context) error { return nil }
	}
	return func(ctx context.Context) error {
		limited, stop := context.WithTimeout(ctx, signInLimit)
		defer stop()
		result, err := call.Wait(limited)
		switch {
		case ctx.Err() != nil:
			return c.Cancelled(ctx)
		case err != nil:
			call.Abandon()
			return nil
		}
		account := wire.Field(result, "account")
		if string(wire.Field(result, "requiresOpenaiAuth")) == "true" && (account == nil || string(account) == "null") {
			return c.notSignedIn()
		}
		return nil
	}
}
