// Package agents knows the agents: who they are, how each is reached on this machine, and what to install when it is not.
//
//	profiles.go   one row per agent, data
//	[agents.NAME] of the configuration: further rows, or changes to a built-in one
//	      │
//	Registry.Lookup("codex") ──▶ the person's own CLI ── none ──▶ agent-unavailable, with the command that installs it
//	      │                      itself, or an adapter on PATH, else by npx
//	      ▼
//	runtime.Agent (package acp, or codex) ── Start ──▶ runtime.Connection
//
// A lookup reads files and starts nothing. An adapter is always pointed at the person's own CLI, never left to one that it
// brings along.
package agents
