package resolve

import (
	"encoding/json"
	"errors"
	"strings"

	"xmd/lang/diag"
)

// jsonError is the offset at which a text stops to be JSON.
func jsonError(text string) int {
	dec := json.NewDecoder(strings.NewReader(text))
	var v json.RawMessage
	err := dec.Decode(&v)
	var syn *json.SyntaxError
	if errors.As(err, &syn) {
		return max(int(syn.Offset)-1, 0)
	}
	return min(int(dec.InputOffset()), len(text))
}

// jsonPlace finds where the value that a way of members and items leads to stands in a JSON text, as far as the way leads. off
// is added to what is found.
func jsonPlace(text string, off int, way []any) diag.Span {
	w := &jsonWalk{text: text, dec: json.NewDecoder(strings.NewReader(text)), way: way}
	w.value(0, true)
	return diag.Span{Start: off + w.at.Start, End: off + w.at.End}
}

// jsonWalk goes through a valid JSON text and keeps the place of the last part of the way that it found.
type jsonWalk struct {
	text string
	dec  *json.Decoder
	way  []any
	at   diag.Span
}

// token reads one token and gives its place.
func (w *jsonWalk) token() (json.Token, diag.Span) {
	t, err := w.dec.Token()
	if err != nil {
		return nil, diag.Span{}
	}
	end := int(w.dec.InputOffset())
	start := end
	switch v := t.(type) {
	case json.Delim:
		start = end - 1
	case string:
		start = w.stringStart(end)
	default:
		_ = v
		for start > 0 && !strings.ContainsRune(" \t\r\n:,[{", rune(w.text[start-1])) {
			start--
		}
	}
	return t, diag.Span{Start: start, End: end}
}

// stringStart finds the quote that opens the string which ends at end.
func (w *jsonWalk) stringStart(end int) int {
	for i := end - 2; i >= 0; i-- {
		if w.text[i] != '"' {
			continue
		}
		slashes := 0
		for i-slashes > 0 && w.text[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
	return 0
}

// value reads one value; on tells that the way leads through it, its first n steps being taken.
func (w *jsonWalk) value(n int, on bool) {
	t, at := w.token()
	if on && n == 0 {
		w.at = at
	}
	switch t {
	case json.Delim('{'):
		for w.dec.More() {
			key, at := w.token()
			step := on && n < len(w.way) && w.way[n] == key
			if step {
				w.at = at
			}
			w.value(n+1, step)
		}
		w.token()
	case json.Delim('['):
		for i := int64(0); w.dec.More(); i++ {
			step := on && n < len(w.way) && w.way[n] == i
			if step {
				w.at = w.next()
			}
			w.value(n+1, step)
		}
		w.token()
	}
}

// next is the place of the first byte of the value that comes next.
func (w *jsonWalk) next() diag.Span {
	i := int(w.dec.InputOffset())
	for i < len(w.text) && strings.IndexByte(" \t\r\n,", w.text[i]) >= 0 {
		i++
	}
	return diag.Span{Start: i, End: min(i+1, len(w.text))}
}
