// Package target selects a part of a document by a heading: file.xmd#Release/Publish.
//
//	source ─▶ headings, each with its label and the headings around it ─▶ List, Select
//	    heading.go  which lines are headings: at the left margin, outside of elements, fences, comments, quotes and lists
//	    label.go    a heading as plain text: without marks of code, emphasis and links, without tags and comments
//	    path.go     Release/Publish: percent-decoded, * for anything in one level, exactly one match
//	    select.go   the preamble, each ancestor's own content and the subtree, laid out anew
//	    names.go    names that only the parts left out bind; Compile says so
//
// A lone heading of level 1 is the document's title: it is part of every target below it and no level of any path.
package target
