// Package expr compiles, checks and evaluates the expressions of attributes (a={…}) and the paths of interpolations ({a.b}).
//
//	source ─▶ expr-lang's lexer ─▶ fence over the tokens ─▶ expr-lang's parser ─▶ whitelist over its tree
//	                                                                                      │
//	                 Names: what the resolver must find   ◀── our own small tree ◀────────┘
//	                 Check: what types say beforehand     ◀──        │
//	                 Eval:  a value, or an error with its place ◀────┘
//
// expr-lang gives the grammar: precedence, literals, positions. Meaning is ours alone: its operators wrap, fold, panic or
// depend on map order in places where a document needs one exact answer, so no program of its virtual machine is ever made.
//
// Values are nil, bool, int64, float64, string, []any and map[string]any (Normalize makes them). A whole number that fits
// int64 is always an int64. Every error carries a span of the document.
package expr
