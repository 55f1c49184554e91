package codex

import (
	"context"
	"os"
	"time"

	"xmd/runtime"
)

type injected struct {
	Type    string      `json:"type"`
	Role    string      `json:"role"`
	Content []textInput `json:"content"`
}

type injectParams struct {
	ThreadID string     `json:"threadId"`
	Items    []injected `json:"items"`
}

// beginning is the one item that makes Codex keep a thread without a turn. Its model sees it behind the instructions.
const beginning = "This conversation was begun with the instructions above. A person goes on with it from here."

// injectLimit bounds the time in which Codex writes a thread's file.
const injectLimit = 30 * time.Second

// NewDurable makes a thread that Codex keeps before it has a turn; see runtime.Beginner.
func (c *conn) NewDurable(ctx context.Context, instructions string) (string, error) {
	signedIn := c.signedIn()
	p := c.threadParams("")
	p.DeveloperInstructions = instructions
	t, err := c.create(ctx, p)
	if err == nil {
		err = signedIn(ctx)
	}
	if err != nil {
		return "", err
	}
	_, err = c.Within(ctx, injectLimit, "thread/inject_items", injectParams{t.Thread.ID, []injected{{
		Type: "message", Role: "developer", Content: []textInput{{"input_text", beginning}},
	}}})
	if err != nil {
		return "", c.newError(ctx, err)
	}
	if _, err := os.Stat(t.Thread.Path); err != nil {
		return "", c.Fail(runtime.KindUnsupported, "%s %s keeps no conversation before its first prompt", c.Info.Shown, c.version)
	}
	return t.Thread.ID, nil
}
