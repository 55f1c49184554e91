// Package repl is what a person types into xmd at a terminal: a line editor with history, completion and whole pastes.
//
//	terminal ─▶ keys ─▶ chzyer/readline ─▶ Editor.Read ─▶ the REPL
//	            │  │                          │
//	            │  └ a resize, a cancelled question: as keys, so that one goroutine does all editing
//	            └ bracketed paste: a text of several lines is one piece of the line
//
// The library is behind Lines, three methods wide; nothing else of xmd knows it.
package repl
