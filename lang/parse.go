package lang

import (
	"xmd/lang/diag"
	"xmd/lang/layout"
	"xmd/lang/syntax"
)

// Parse reads a document: its tree, laid out, and everything that is wrong with the text, sorted by place. The name is printed in
// messages and never opened. The document is never nil; with errors in the list it is complete as far as it could be understood and
// is not laid out, and nothing of it may run. Document.Incomplete tells whether more text could mend it.
func Parse(name, text string) (*syntax.Document, diag.List) {
	doc, list := syntax.Parse(diag.NewSource(name, text))
	if !list.HasErrors() {
		layout.Apply(doc)
	}
	return doc, list
}
