package runtime

import "context"

// Build is what was observed of an agent's CLI: its version as text, and the digest of the file that changes on an upgrade.
// Empty members were not obtained.
type Build struct {
	Version string
	Digest  string
}

// Observer looks at agents' builds. Package compat implements it. It never gates: no method returns an error.
type Observer interface {
	// Begin starts looking, beside the agent's own start, and returns at once.
	Begin(ctx context.Context, info AgentInfo) Observation
	// Warning is the one line for a session, "" for none. established is nil for a new session or a route without a build.
	Warning(shown string, established *Build, seen Build) string
}

// Observation is one look in progress.
type Observation interface {
	// Build returns what was found by now. It waits, bounded, for the version: longer only while the agent itself is not up.
	// handshake is the version that the agent's handshake named, "" for none.
	Build(ctx context.Context, up <-chan struct{}, handshake string) Build
}
