package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// errNotJSON is returned for what holds no JSON value.
var errNotJSON = errors.New("not a JSON value")

// EncodeJSON is Encode for every string of a JSON value, names of members included. Numbers, order, space and the strings that hold
// nothing stay as they are, byte for byte; without anything to do raw itself is returned. An error says that raw is no JSON value; it is
// not looked for where raw is surely to stay as it is.
func (s *Set) EncodeJSON(raw json.RawMessage) (json.RawMessage, error) {
	if s.words().found == nil && !mayHoldLead(raw) {
		return raw, nil
	}
	return rewrite(raw, func(text string) (string, error) { return s.Encode(text), nil })
}

// DecodeJSON is Decode for every string of a JSON value that EncodeJSON recorded. Errors are those of Decode and of EncodeJSON.
func (s *Set) DecodeJSON(raw json.RawMessage) (json.RawMessage, error) {
	if !mayHoldLead(raw) {
		return raw, nil
	}
	return rewrite(raw, s.Decode)
}

// MaskJSON is Mask for every string of a JSON value, as EncodeJSON.
func (s *Set) MaskJSON(raw json.RawMessage) (json.RawMessage, error) {
	if s.words().shown == nil {
		return raw, nil
	}
	return rewrite(raw, func(text string) (string, error) { return s.Mask(text), nil })
}

// NamedJSON is Named for every string of a JSON value; nil for what is none.
func NamedJSON(raw json.RawMessage) []string {
	if !mayHoldLead(raw) {
		return nil
	}
	names := map[string]bool{}
	if _, err := rewrite(raw, func(text string) (string, error) { named(text, names); return text, nil }); err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(names))
}

// mayHoldLead says whether a string of raw can hold the character: in JSON it stands escaped.
func mayHoldLead(raw []byte) bool {
	return bytes.Contains(raw, []byte(`\u001a`)) || bytes.Contains(raw, []byte(`\u001A`))
}

// rewrite puts do(text) in the place of each string of a JSON value that it changes.
func rewrite(raw json.RawMessage, do func(text string) (string, error)) (json.RawMessage, error) {
	if !json.Valid(raw) {
		return nil, errNotJSON
	}
	all := string(raw)
	var out []byte
	from := 0
	for i := strings.IndexByte(all, '"'); i >= 0; {
		end, escaped := stringEnd(all, i)
		text, err := all[i+1:end-1], error(nil)
		if escaped {
			if err = json.Unmarshal(raw[i:end], &text); err != nil {
				return nil, fmt.Errorf("%w: %w", errNotJSON, err)
			}
		}
		now, err := do(text)
		if err != nil {
			return nil, err
		}
		if now != text {
			out = appendString(append(out, all[from:i]...), now)
			from = end
		}
		next := strings.IndexByte(all[end:], '"')
		if next < 0 {
			break
		}
		i = end + next
	}
	if from == 0 {
		return raw, nil
	}
	return append(out, all[from:]...), nil
}

// stringEnd is where the string ends that begins at i, and whether it holds an escape.
func stringEnd(all string, i int) (end int, escaped bool) {
	for i++; all[i] != '"'; i++ {
		if all[i] == '\\' {
			escaped = true
			i++
		}
	}
	return i + 1, escaped
}

// appendString appends a JSON string, its letters as they are.
func appendString(out []byte, text string) []byte {
	b := bytes.NewBuffer(out)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string into memory
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
