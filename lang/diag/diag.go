package diag

import (
	"fmt"
	"slices"
)

// Span is a half-open range of byte offsets in a Source. Line and column are computed when printed.
type Span struct{ Start, End int }

// Severity tells whether a diagnostic stops a run.
type Severity uint8

const (
	Error   Severity = iota // nothing runs
	Warning                 // said, never stops anything (unless check --strict)
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one finding about a document.
type Diagnostic struct {
	Severity Severity
	Code     string  // stable, "XMD1003"; listed in specs/errors.md
	Summary  string  // one line, lower case, no full stop, no position
	Hint     string  // what to do; may be empty
	Span     Span    // the offending text
	Source   *Source // where the Span counts; nil: the source that the list is printed with
	Related  []Related
}

// Related is a second place that a diagnostic speaks of ("opened here").
type Related struct {
	Summary string
	Span    Span
	Source  *Source // where the Span counts; nil: the source that the list is printed with
}

// List is an ordered set of diagnostics of a document, and of the files that it uses: theirs name their Source.
type List []Diagnostic

// In is the source of a diagnostic: its own, or else that of the list.
func (d *Diagnostic) In(list *Source) *Source { return orSource(d.Source, list) }

// In is the source of a related place: its own, or else that of the list.
func (r *Related) In(list *Source) *Source { return orSource(r.Source, list) }

func orSource(own, list *Source) *Source {
	if own != nil {
		return own
	}
	return list
}

// From names the source of all diagnostics and related places that name none, and returns the list.
func (l List) From(src *Source) List {
	for i := range l {
		l[i].Source = l[i].In(src)
		for j := range l[i].Related {
			l[i].Related[j].Source = l[i].Related[j].In(src)
		}
	}
	return l
}

// Add appends an error.
func (l *List) Add(code string, span Span, summary, hint string, related ...Related) {
	*l = append(*l, Diagnostic{Severity: Error, Code: code, Summary: summary, Hint: hint, Span: span, Related: related})
}

// Addf appends an error without a hint.
func (l *List) Addf(code string, span Span, format string, args ...any) {
	l.Add(code, span, fmt.Sprintf(format, args...), "")
}

// Warn appends a warning.
func (l *List) Warn(code string, span Span, summary, hint string, related ...Related) {
	*l = append(*l, Diagnostic{Severity: Warning, Code: code, Summary: summary, Hint: hint, Span: span, Related: related})
}

// Sort orders the list by position, keeping the order of what stands at one place, and drops exact repetitions
// (same place, code and summary). What is about the list's own source comes first, then what is about others, in the order in which
// the list speaks of them.
func (l *List) Sort() {
	rank := map[*Source]int{nil: -1}
	for i, d := range *l {
		if _, seen := rank[d.Source]; !seen {
			rank[d.Source] = i
		}
	}
	slices.SortStableFunc(*l, func(a, b Diagnostic) int {
		if a.Source != b.Source {
			return rank[a.Source] - rank[b.Source]
		}
		if a.Span.Start != b.Span.Start {
			return a.Span.Start - b.Span.Start
		}
		return int(a.Severity) - int(b.Severity)
	})
	*l = slices.CompactFunc(*l, func(a, b Diagnostic) bool {
		return a.Source == b.Source && a.Span == b.Span && a.Code == b.Code && a.Summary == b.Summary
	})
}

// HasErrors tells whether anything in the list stops a run.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Errors returns the errors of the list, in its order; the list itself stays as it is.
func (l List) Errors() List { return l.only(Error) }

// Warnings returns the warnings of the list, in its order; the list itself stays as it is.
func (l List) Warnings() List { return l.only(Warning) }

func (l List) only(s Severity) List {
	var out List
	for _, d := range l {
		if d.Severity == s {
			out = append(out, d)
		}
	}
	return out
}
