// Package layout works out the white space of a document on its source, before anything is put in, and renders what it worked out.
//
//	Apply        a parsed Document: lines of tags go, whole-element lines become syntax.Line, bodies move left
//	  lines.go     which lines hold nothing but tags
//	  indent.go    how far a body moves, and the moving
//	  body.go      one body: its lines, in order
//	Sink         where rendered text goes, author's and values' apart
//	Line         the indent before and the line end after a line of whole elements
//	Ends         blank lines at the ends of captured bodies, components, files and replies
//	Fill         a filled fence, lengthened where a value needs it
//
// At run time everything streams: only white space that may turn out to be at an end is held back.
package layout
