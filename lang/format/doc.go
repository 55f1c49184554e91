// Package format puts the markup of a document into one form and leaves its words alone.
//
//	source ─▶ tokens, tree ─▶ edits ─▶ source
//	    tag.go     the inside of tags: one blank between attributes, double quotes, one attribute a line where a tag is long
//	    lines.go   whose body each line of the text belongs to, and how far that body is indented
//	    render.go  the edits: bodies two blanks deeper than their tags, tags, one blank line behind the frontmatter
//	    shape.go   what a document renders and does; an edit that would change it is not made
//	    format.go  Source: tries the edits, drops those that would change the shape, until nothing changes any more
//
// The text is never written anew from the tree: what no edit touches stays byte for byte.
package format
