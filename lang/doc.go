// Package lang turns source text into a laid-out tree and says what is wrong with it.
//
//	bytes ─▶ scan.Token ─▶ syntax.Document ─▶ (layout) ─▶ Parse's result
//	  scan/    hand-written scanner; never fails; its tokens put together are the text again
//	  syntax/  tree, nesting, participle grammar of one opening tag
//	  layout/  white space, worked out before anything is put in; what an executor needs to render it
//	  diag/    diagnostics as data, as text and as JSON
//	  expr/ schema/ resolve/ plan/   what a document means: expressions, names, checks, typed steps
//
// Nothing here opens a file, asks for the time or reaches the network.
package lang
