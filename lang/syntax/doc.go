// Package syntax holds the tree of a document and builds it from tokens.
//
//	scan.Token ─▶ Parse ─▶ Document{Front, Body}, diag.List
//	    opening tag   participle grammar that accepts anything; what is wrong is said in tag.go, in our words
//	    nesting       an explicit stack, at most MaxDepth deep; a closing tag closes what it names
//	    exec, fill    info words, program text                     exec.go
//	Walk, Children    go through a tree
//	Builtins          which components the language has, as far as parsing and white space care
//
// One pass reports every error of a text, each at its own place; the tree is complete as far as it could be understood.
// Parse does not lay the body out: package layout does, and lang.Parse does both.
package syntax
