// Package scan cuts a document into tokens. It is written by hand, never fails, and what it emits, put together, is the text again.
//
//	source ─▶ lines: containers (quotes, list items), fences, headings, comment blocks, paragraphs   block.go, fence.go
//	            └▶ inside a line: tags, {paths}, code spans, comments, escapes, link targets         inline.go, tag.go, link.go
//
//	Token        kind and byte offsets; no copies
//	Scanner      New, Next (streaming, no allocation per token), Diagnostics, Open
//	Definition   participle's lexer.Definition; TagDefinition is what the grammar of a tag knows
//
// Block structure is followed as CommonMark has it, for three purposes only: where a fence opens and closes, how far a code span can
// reach, and which comments are blocks. Searches for a closer are bounded, so that no input takes more than linear time.
package scan
