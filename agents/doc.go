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
//	Registry.List, Check ──▶ what is installed, and what of the person's settings endangers conversations
//	Registry.Probe ──▶ start, handshake, end: what an agent can
//
// A lookup, a list and a check read files and start nothing. An adapter is always pointed at the person's own CLI, never left to one that it
// brings along.
package agents
