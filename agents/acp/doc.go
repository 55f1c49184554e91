// Package acp drives an agent that speaks the Agent Client Protocol, version 1, on its stdin and stdout.
//
//	Agent.Start ──▶ proc (guardian, locks) ──▶ wire.Conn ──▶ initialize
//	                                              │
//	Connection.Open ── session/new ───────────────┤
//	                └─ session/load ── replay ──▶ history ── fence ──▶ mode, list, rollout ──▶ Opened
//	                                              │
//	Connection.Prompt ── session/prompt ──▶ turn ─┤ updates ──▶ Sink   (reader, wire order)
//	                                              │ permissions ──▶ Ask (a goroutine of its own)
//	                                              └ result, error or death ──▶ TurnResult or *Error
//
// What agents do differently is data, a [Profile]; the code here branches on what a profile says and never on an agent's
// name. Everything between a load and its fence is history and is matched, never shown. What comes when no turn runs is
// dropped, and a permission asked then is refused. Nothing is ever sent that an agent did not ask for or the caller did
// not want: a load that fails makes no new conversation. Servers and instructions (Equip) go with new and load; a call is the
// door's by what a [DoorCall] finds in it, never by its title.
package acp
