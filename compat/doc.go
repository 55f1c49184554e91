// Package compat observes which build of an agent is about to work on a session, and says so when it is another than
// the one the session was established with. It warns; it never decides.
//
//	Observer.Begin ──┬── `agent --version`, beside the agent's start ──┐
//	                 ├── SHA-256 of the program's file, cached ────────┼── Observation.Result ── Build
//	                 └── or the version in the agent's handshake ──────┘        │
//	                                            the route's Build ── Warning ── at most one line per session
//
// Whatever goes wrong here (no output, a strange format, a program that hangs, a file that cannot be read) ends in a
// Build with less in it. There is no list of versions.
package compat
