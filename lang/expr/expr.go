// Package expr compiles and evaluates the expressions of attributes (a={…}) and the paths of interpolations ({a.b}).
package expr

import "xmd/lang/diag"

// Path is a parsed interpolation path: name(.name | [int] | ["key"])*.
type Path struct {
	Source string
	Root   string
	Steps  []any // string: a member, int: an index
}

// Expr is a compiled expression. It is immutable and safe for concurrent use.
type Expr struct {
	Source string
	Pos    diag.Span
}
