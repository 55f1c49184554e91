package codex

import (
	"context"

	"xmd/agents/link"
	"xmd/runtime"
)

// Capabilities are those of every app-server, which has no names for them, and whether a sign-in is missing, which Codex is asked.
func (c *conn) Capabilities(ctx context.Context) link.Capabilities {
	err := c.signedIn()(ctx)
	return link.Capabilities{
		Name: "codex", Version: c.version, Load: true, List: true, More: []string{"fork"},
		Servers:   []string{"http", "stdio"},
		SignedOut: runtime.KindOf(err) == runtime.KindNotSignedIn,
	}
}
