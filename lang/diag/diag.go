// Package diag holds what xmd says about a document: diagnostics as data, apart from how they are printed.
package diag

// Span is a half-open range of byte offsets in a Source. Line and column are computed when printed.
type Span struct{ Start, End int }

// Severity tells whether a diagnostic stops a run.
type Severity uint8

const (
	Error   Severity = iota // nothing runs
	Warning                 // said, never stops anything (unless check --strict)
)

// Diagnostic is one finding about a document.
type Diagnostic struct {
	Severity Severity
	Code     string // stable, "XMD1003"; listed in specs/errors.md
	Summary  string // one line, lower case, no full stop, no position
	Hint     string // what to do; may be empty
	Span     Span   // the offending text
	Related  []Related
}

// Related is a second place that a diagnostic speaks of ("opened here").
type Related struct {
	Summary string
	Span    Span
}

// List is an ordered set of diagnostics of one source.
type List []Diagnostic
