package diag

import (
	"encoding/json"
	"io"
)

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

// Records resolves the positions of a list. The result is never nil, so that it encodes as [] when empty.
func Records(src *Source, list List) []Record {
	out := make([]Record, 0, len(list))
	for _, d := range list {
		r := Record{File: src.Name, Offset: d.Span.Start, Severity: d.Severity.String(), Code: d.Code, Message: d.Summary, Hint: d.Hint}
		r.Line, r.Col = src.Pos(d.Span.Start)
		r.EndLine, r.EndCol = src.Pos(max(d.Span.End, d.Span.Start))
		for _, rel := range d.Related {
			line, col := src.Pos(rel.Span.Start)
			r.Related = append(r.Related, RelatedRecord{src.Name, line, col, rel.Span.Start, rel.Summary})
		}
		out = append(out, r)
	}
	return out
}

// WriteJSON prints a list as one JSON array on one line, with its line end; < and > are not escaped.
func WriteJSON(w io.Writer, src *Source, list List) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(Records(src, list))
}
