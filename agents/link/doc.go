// Package link is what every driver has of its agent: a process under its guardian, and a JSON-RPC connection on its pipes.
//
//	driver (acp, codex) ── Link ──▶ Process ──▶ proc: guardian, locks, the teardown ladder
//	          │              └────▶ wire.Conn on stdin and stdout
//	          └ Fail, Reason, Words: errors worded for people, with how the process ended and the last it wrote
//
// What is said over the connection is the drivers' own.
package link
