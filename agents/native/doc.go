// Package native opens the interface that an agent has for people, on a conversation that xmd knows.
//
//	profiles (data) ──Interface──▶ Agent ──Window──▶ argv, environment, a 0600 file with the instruction layer
//	                                 │
//	                                 └──Released──▶ waits for the agent's own lock on the conversation
//
//	runtime: prepared ─▶ detached ─▶ Terminal.Run ─▶ exited ─▶ the route, if there was a turn
//	                                    │
//	                                    └▶ proc.Terminal: foreground, job control, guardian
//
// Nothing here answers what an interface asks before it shows the conversation (a folder to be trusted, a theme, a sign-in): those are the
// person's to answer, and no setting of theirs is written. An interface that keeps a program running behind itself is told not to, by its
// own flag: the guardian would end that program, and the conversation would stay locked until it noticed.
package native
