package acp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"xmd/runtime"
)

// minuteFormat is how the minute in which a file was made stands in its name, in UTC.
const minuteFormat = "2006-01-02T15-04"

// minuteLimit bounds the wait for the end of the minute in which a conversation was made.
const minuteLimit = 61 * time.Second

// every stands for every id, or every minute, where files are looked for.
const every = "\x00"

// files are those of a conversation, or of every one, made in a minute or in every. None are known of an id that is no file's name.
func (c *conn) files(id, minute string) []string { return c.p.filesIn(c.p.Home(c.env), id, minute) }

func (p *Profile) filesIn(home, id, minute string) []string {
	if p.Files == "" || home == "" || id == "" || strings.ContainsAny(id, `*?[\\/`) {
		return nil
	}
	name := strings.NewReplacer("{minute}", minute, "{id8}", id[:min(8, len(id))]).Replace(p.Files)
	name = strings.ReplaceAll(name, every, "*")
	found, _ := filepath.Glob(filepath.Join(home, filepath.FromSlash(name))) // a pattern that is none finds nothing
	return found
}

// pastMinute waits for the end of the minute in which a conversation was made, where a load in that minute loses it.
func (c *conn) pastMinute(ctx context.Context, id string) error {
	if !c.p.MinuteLoses {
		return nil
	}
	until := time.Now().Add(minuteLimit)
	for told := false; ; told = true {
		now := time.Now()
		if len(c.files(id, now.UTC().Format(minuteFormat))) == 0 {
			return nil
		}
		wait := now.Truncate(time.Minute).Add(time.Minute).Sub(now)
		if now.Add(wait).After(until) {
			return c.FailRetryable(runtime.KindCouldNot, "%s could not load conversation %s: its files are made anew every minute", c.Info.Shown, id)
		}
		if !told && c.notice != nil {
			c.notice(fmt.Sprintf("%s loses a conversation that is loaded in the minute it was made in; waiting %s.", c.Info.Shown, wait.Round(time.Second)))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return c.Cancelled(ctx)
		}
	}
}
