// Package codex drives Codex through its own `codex app-server`: JSON-RPC, one message a line, on its stdin and stdout.
//
//	Agent.Start ──▶ link (guardian, locks) ──▶ wire.Conn ──▶ initialize
//	                                              │
//	Connection.Open ── thread/start ──────────────┤ thread.id = what Codex asserts
//	                └─ thread/resume ─────────────┤ thread.path ──▶ rollout ──▶ history
//	                                              │
//	Connection.Prompt ── turn/start ──▶ turn ─────┤ items, deltas ──▶ Sink   (reader, wire order)
//	                                              │ approvals ──▶ Ask        (a goroutine of its own)
//	                                              └ turn/completed or death ──▶ TurnResult or *Error
//
// Every start and every resume carries the policy in which Codex asks before it acts. What it tells of a conversation's turns comes
// from its database and is never asked for: the history is what the rollout file holds. A turn is started only while none runs, for
// Codex would take the words into the running one. Servers go with every start and resume, instructions and the workflow's own tools
// with a start; calls of those are answered by goroutines that end with their turn.
package codex
