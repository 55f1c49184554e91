package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"xmd/agents/link"
	"xmd/agents/past"
	"xmd/agents/rollout"
	"xmd/agents/wire"
	"xmd/runtime"
)

// loading is a load whose history is still coming. The connection is locked when it is used.
type loading struct {
	p      *Profile
	past   past.Collector
	fence  string
	call   *wire.Pending
	fenced chan struct{}
	once   sync.Once
}

func (l *loading) take(u *update) {
	l.replayed(u)
	if l.fence != "" && wire.Is(u.kind, l.fence) && l.call.Answered() {
		l.once.Do(func() { close(l.fenced) })
	}
}

// Open makes or loads the provider conversation; see runtime.Connection.
func (c *conn) Open(ctx context.Context, id string) (runtime.Opened, error) {
	var opened runtime.Opened
	var err error
	if id == "" {
		opened, err = c.create(ctx)
	} else {
		opened, err = c.load(ctx, id)
	}
	if err != nil {
		return runtime.Opened{}, err
	}
	return opened, nil
}

func (c *conn) create(ctx context.Context) (runtime.Opened, error) {
	result, err := c.Within(ctx, c.p.newLimit(), "session/new", c.sessionParams(""))
	if err != nil {
		return runtime.Opened{}, c.newError(ctx, err)
	}
	id, _ := wire.String(wire.Field(result, "sessionId"))
	if id == "" {
		return runtime.Opened{}, c.Fail(runtime.KindUnavailable, "%s answered session/new without naming the conversation", c.Info.Shown)
	}
	c.mu.Lock()
	c.id = id
	c.mu.Unlock()
	c.settings = parseSettings(result)
	if err := c.setAsking(ctx, id, result); err != nil {
		return runtime.Opened{}, err
	}
	c.warnRetention()
	return runtime.Opened{ID: id, Asserted: id}, nil
}

func (c *conn) load(ctx context.Context, id string) (runtime.Opened, error) {
	if !c.shakes.load {
		return runtime.Opened{}, c.unsupported("session/load")
	}
	if err := c.pastMinute(ctx, id); err != nil {
		return runtime.Opened{}, err
	}
	l, result, err := c.loadFreed(ctx, id)
	if err != nil {
		c.stopLoading()
		return runtime.Opened{}, c.loadError(ctx, id, err)
	}
	c.awaitFence(ctx, l)
	c.stopLoading()
	c.dropTwins(id)
	opened := runtime.Opened{ID: id, Asserted: c.asserted(result, id), History: c.replayedHistory(l)}
	c.settings = parseSettings(result)
	if err := c.setAsking(ctx, id, result); err != nil {
		if err.Retryable && err.Kind == runtime.KindUnavailable { // the conversation is there; only this attach came to nothing
			err.Kind = runtime.KindCouldNot
		}
		return runtime.Opened{}, err
	}
	if err := c.evidence(ctx, &opened); err != nil {
		return runtime.Opened{}, err
	}
	if ctx.Err() != nil {
		return runtime.Opened{}, c.Cancelled(ctx)
	}
	return opened, nil
}

// loadFreed loads, and loads again while another process has the conversation open, as long as the profile waits for that.
func (c *conn) loadFreed(ctx context.Context, id string) (*loading, json.RawMessage, error) {
	until := time.Now().Add(c.p.BusyWait)
	for try := 1; ; try++ {
		l := &loading{p: c.p, past: past.New(&c.p.Forms), fence: c.p.Fence, fenced: make(chan struct{})}
		result, err := c.loadCall(ctx, id, l)
		var e *wire.Error
		if err == nil || !errors.As(err, &e) || !fitsAny(c.p.Busy, e) || !time.Now().Add(busyPause).Before(until) {
			return l, result, err
		}
		if try == 1 && c.notice != nil {
			c.notice(fmt.Sprintf("%s has this conversation open in another process; waiting up to %s until it is free.", c.Info.Shown, c.p.BusyWait))
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return l, nil, err
		}
	}
}

// loadCall sends the load and waits as long as anything comes.
func (c *conn) loadCall(ctx context.Context, id string, l *loading) (json.RawMessage, error) {
	call, err := func() (*wire.Pending, error) {
		c.mu.Lock()
		defer c.mu.Unlock() // the reader must not see the first replayed update before it knows of the load
		call, err := c.Wire.Start("session/load", c.sessionParams(id))
		if err == nil {
			c.id, c.loading, l.call = id, l, call
		}
		return call, err
	}()
	if err != nil {
		return nil, err
	}
	return link.Patiently(ctx, call, c.p.loadLimit(), &c.activity)
}

// awaitFence waits until everything replayed has been seen.
func (c *conn) awaitFence(ctx context.Context, l *loading) {
	if c.p.NoFence {
		return
	}
	silent, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-l.fenced:
			stop()
		case <-silent.Done():
		}
	}()
	c.wireQuiet(silent, quiet)
	if c.p.Trails > 0 && silent.Err() != nil {
		c.wireQuiet(ctx, c.p.Trails)
	}
}

func (c *conn) stopLoading() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loading = nil
}

// replayedHistory is what the stream showed. Lines that were skipped may have held turns: then nothing is known to be
// empty.
func (c *conn) replayedHistory(l *loading) runtime.History {
	h := l.past.History(true)
	if c.p.Trims {
		h.LastReply = nil
	}
	if c.Wire.Stats().TooLong > 0 {
		h.Known, h.Unread = h.UserTurns > 0, true
	}
	return h
}

// asserted is an id in a load's result that the provider must have stated by itself: one where the profile says so, or one
// that is not what was asked for. The id that was asked for is an echo.
func (c *conn) asserted(result json.RawMessage, id string) string {
	meta, _ := wire.String(wire.Path(result, "_meta", "sessionId"))
	if plain, _ := wire.String(wire.Field(result, "sessionId")); plain != "" && plain != id {
		return plain
	}
	if meta != "" && (c.p.Asserts || meta != id) {
		return meta
	}
	return ""
}

// evidence reads what else the provider shows of a loaded conversation.
func (c *conn) evidence(ctx context.Context, o *runtime.Opened) error {
	if c.p.Evidence == EvidenceRollout {
		found, err := rollout.Read(ctx, c.p.Home(c.env), o.ID)
		if err != nil && ctx.Err() == nil {
			return c.FailRetryable(runtime.KindCouldNot, "the history of %s could not be read: %w", c.Info.Shown, err)
		}
		if err == nil && found.Files == 0 {
			// The load succeeds from Codex's database, and the next prompt would find no thread.
			return c.missing(o.ID)
		}
		if o.Asserted == "" {
			o.Asserted = found.ID
		}
		o.History = c.p.asShown(found.History, o.History)
		return nil
	}
	if c.shakes.list && c.Info.ConfirmList {
		o.Listed = c.listed(ctx, c.root, o.ID)
	}
	return nil
}

// maxPages bounds a list that has no end.
const maxPages = 10_000

// listed reads the provider's own list for a root, "" all of them, until it names id or ends. A list that fails is not offered.
func (c *conn) listed(ctx context.Context, root, id string) runtime.Listed {
	ctx, stop := context.WithTimeout(ctx, c.p.loadLimit())
	defer stop()
	var cursor string
	for range maxPages {
		result, err := c.Wire.Call(ctx, "session/list", struct {
			Cwd    string `json:"cwd,omitempty"`
			Cursor string `json:"cursor,omitempty"`
		}{root, cursor})
		if err != nil {
			return runtime.ListNotOffered
		}
		if names(result, root, id) {
			return runtime.ListNames
		}
		next, _ := wire.String(wire.Field(result, "nextCursor"))
		if next == "" {
			return runtime.ListOmits
		}
		if next == cursor {
			return runtime.ListNotOffered
		}
		cursor = next
	}
	return runtime.ListNotOffered
}

// names says whether a page names id for a root, "" whichever.
func names(page json.RawMessage, root, id string) bool {
	for entry := range wire.Elements(wire.Field(page, "sessions")) {
		if s, _ := wire.String(wire.Field(entry, "sessionId")); s != id {
			continue
		}
		if cwd, _ := wire.String(wire.Field(entry, "cwd")); root == "" || cwd == "" || sameDir(cwd, root) {
			return true
		}
	}
	return false
}

func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	real, err := filepath.EvalSymlinks(a)
	return err == nil && real == filepath.Clean(b)
}

// setAsking sees to it that the agent asks before it acts.
func (c *conn) setAsking(ctx context.Context, id string, result json.RawMessage) *runtime.Error {
	if err := c.setMode(ctx, id); err != nil {
		return err
	}
	return c.setOptions(ctx, id, result)
}

// setMode puts the conversation into the mode in which the agent asks. An agent that refuses is not used: it would act
// without asking.
func (c *conn) setMode(ctx context.Context, id string) *runtime.Error {
	if c.p.Mode == "" {
		return nil
	}
	_, err := c.Within(ctx, c.p.newLimit(), "session/set_mode", struct {
		SessionID string `json:"sessionId"`
		ModeID    string `json:"modeId"`
	}{id, c.p.Mode})
	if err == nil {
		c.settings[0].opened = c.p.Mode
		return nil
	}
	if ctx.Err() != nil {
		return c.Cancelled(ctx)
	}
	if e := c.settled(err); e != nil {
		return e
	}
	return c.Fail(runtime.KindUnsupported, "%s did not take the mode %q, in which it asks before it acts: %w", c.Info.Shown, c.p.Mode, c.Reason(err))
}
