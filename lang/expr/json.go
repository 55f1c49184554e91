package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Render gives the text that stands in a document for v: a string as itself, a number or boolean as JSON, null as nothing,
// an object or array as two-space JSON in key order. v must be a normalized value; the result has no last line end of its own.
func Render(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return encode(v, "  ")
}

// JSON gives v as JSON on one line, without blanks, keys sorted. v must be a normalized value.
func JSON(v any) string { return encode(v, "") }

// Indented gives v as two-space JSON in key order, a string in its quotes too. v must be a normalized value.
func Indented(v any) string { return encode(v, "  ") }

func encode(v any, indent string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		// Only a value that is not normalized can get here, which is a mistake of the caller.
		panic("expr: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ParseJSON reads exactly one JSON value. Whole numbers are exact. The error is in our words and says the line where
// the text has several.
func ParseJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			return nil, errors.New("is not JSON: something follows the value")
		}
		return Normalize(v)
	}
	var syn *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("is not JSON: it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("is not JSON: it ends too early")
	case errors.As(err, &syn):
		return nil, fmt.Errorf("is not JSON: %s%s", syn.Error(), lineOf(text, int(syn.Offset)))
	}
	return nil, fmt.Errorf("is not JSON: %w", err)
}

func lineOf(text string, off int) string {
	if off > len(text) {
		off = len(text)
	}
	if !strings.Contains(text, "\n") {
		return ""
	}
	return fmt.Sprintf(" (line %d)", 1+strings.Count(text[:off], "\n"))
}
