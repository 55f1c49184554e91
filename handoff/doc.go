// Package handoff tells an agent what it has not seen of a Conversation: the handoff block.
//
//	runtime.Handover ─▶ redact ─▶ escape, shorten ─▶ turns that fit ─▶ <earlier-conversation> … </earlier-conversation>
//	                                                                       └─ Parse ─▶ Block
//
//	block.go    Writer: which turns are in it        turn.go     one turn: asked, done, answered
//	redact.go   known secrets; rules.go their rules  standing.go where things stand now
//	message.go  the two halves of a long message     cut.go      sizes as sent, cuts between graphemes
//	escape.go   what may not stand in a body         quoted.go   blocks that a message quotes
//	words.go    bounds and fixed words               parse.go    reads a block again, as the proof of all that
//
// A line of a block is a fixed header or begins with "| ", so nothing that was said can leave its place. The grammar is in
// specs/handoff.md.
package handoff
