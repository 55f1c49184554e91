// Package term is what a run shows a person at a terminal beside its result: a status line, colours, styled Markdown, diffs.
//
//	event.Stream ─▶ Status ──line──▶ Screen ─▶ the terminal
//	                                  ▲  ▲
//	notes, questions (stderr) ────────┘  │
//	the document (stdout) ─▶ Markdown ───┘   only where stdout is that terminal
//
// Status reads the event stream and nothing else. Everything that is written to the terminal goes through one Screen, which takes the status
// line away first. Rules says what a terminal gets; a pipe gets the same bytes without any of it.
package term
