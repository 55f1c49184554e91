// Package diag holds what xmd says about a document: diagnostics as data, apart from how they are printed.
//
//	Source      a text and its name; offsets → line and column, computed only when printed
//	Span        half-open byte offsets: the one way positions travel through lang
//	Diagnostic  severity, stable code, one-line summary, hint, span, related places
//	List        Add, Warn, Sort, HasErrors: every stage appends, the last one sorts
//	WriteText   file:line:col: summary, the source line, a caret, hint:, related places
//	Records     the same as plain data for JSON
//	Nearest     "did you mean": the closest of some names, or nothing
package diag
