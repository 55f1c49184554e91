package diag

// Record is a diagnostic as JSON: positions resolved, byte offset kept. Lines and columns count from 1, columns runes.
type Record struct {
	File     string          `json:"file"`
	Line     int             `json:"line"`
	Col      int             `json:"col"`
	EndLine  int             `json:"endLine"`
	EndCol   int             `json:"endCol"`
	Offset   int             `json:"offset"`
	Severity string          `json:"severity"`
	Code     string          `json:"code"`
	Message  string          `json:"message"`
	Hint     string          `json:"hint,omitempty"`
	Related  []RelatedRecord `json:"related,omitempty"`
}

// RelatedRecord is a related place as JSON.
type RelatedRecord struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Offset  int    `json:"offset"`
	Message string `json:"message"`
}

// Records resolves the positions of a list; src is the source of the diagnostics that name none. The result is never nil, so that it encodes as [] when empty.
func Records(src *Source, list List) []Record {
	out := make([]Record, 0, len(list))
	for i := range list {
		d := &list[i]
		own := d.In(src)
		r := Record{File: own.Name, Offset: d.Span.Start, Severity: d.Severity.String(), Code: d.Code, Message: d.Summary, Hint: d.Hint}
		r.Line, r.Col = own.Pos(d.Span.Start)
		r.EndLine, r.EndCol = own.Pos(max(d.Span.End, d.Span.Start))
		for j := range d.Related {
			rel := &d.Related[j]
			in := rel.In(src)
			line, col := in.Pos(rel.Span.Start)
			r.Related = append(r.Related, RelatedRecord{in.Name, line, col, rel.Span.Start, rel.Summary})
		}
		out = append(out, r)
	}
	return out
}
