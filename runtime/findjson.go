package runtime

import (
	"errors"
	"strings"

	"xmd/lang/expr"
	"xmd/lang/schema"
)

// findJSON finds the JSON value in a text that may hold words around it: the whole text; else the last object or array in it, in a
// fence or not; else the last fence or the last line that is a value as a whole. Of several objects and arrays the last one counts
// that can fit want by its kind, so that a footnote like [1] behind the answer is not taken for it.
func findJSON(text string, want *schema.Schema) (any, error) {
	text = strings.TrimSpace(text)
	whole, err := expr.ParseJSON(text)
	if err == nil {
		return whole, nil
	}
	spans, cut := jsonSpans(text)
	if cut {
		return nil, errors.New("the JSON in it ends too early")
	}
	var last any
	found := false
	for i := len(spans) - 1; i >= 0; i-- {
		v, err := expr.ParseJSON(text[spans[i].from:spans[i].to])
		if err != nil {
			continue // a number in it is too large
		}
		if canBe(want, v) {
			return v, nil
		}
		if !found {
			last, found = v, true
		}
	}
	if v, ok := lastScalar(text); ok && (canBe(want, v) || !found) {
		return v, nil
	}
	switch {
	case found:
		return last, nil
	case text != "" && strings.ContainsRune("{[\"", rune(text[0])):
		return nil, err
	case text == "":
		return nil, errors.New("it is empty, where a JSON value must be")
	}
	return nil, errors.New("it holds no JSON value")
}

// canBe says whether a value of v's kind can fit.
func canBe(want *schema.Schema, v any) bool {
	if want == nil || want.Type() == nil {
		return true
	}
	switch v.(type) {
	case map[string]any:
		return want.Type().Can(expr.Object)
	case []any:
		return want.Type().Can(expr.Array)
	case string:
		return want.Type().Can(expr.String)
	case bool:
		return want.Type().Can(expr.Bool)
	case nil:
		return want.Type().Can(expr.Null)
	}
	return want.Type().Can(expr.Number)
}

// lastScalar reads the last fence, or the last line, as a value.
func lastScalar(text string) (any, bool) {
	lines := strings.Split(text, "\n")
	for end := len(lines) - 1; end > 0; end-- {
		if !isFence(lines[end]) {
			continue
		}
		for start := end - 1; start >= 0; start-- {
			if isFence(lines[start]) {
				v, err := expr.ParseJSON(strings.Join(lines[start+1:end], "\n"))
				return v, err == nil
			}
		}
		break
	}
	v, err := expr.ParseJSON(lines[len(lines)-1])
	return v, err == nil
}

func isFence(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// jsonSpan is where an object or array stands in a text.
type jsonSpan struct{ from, to int }

// Bounds of the search: how deep values may be, and how often, on the average, one byte may be looked at. A text can be made in which
// every brace begins something that fails only at the end.
const (
	maxJSONDepth = 1000
	maxJSONLooks = 64
)

// jsonSpans lists the objects and arrays in a text that are in no other, in order. cut: the last one has no end.
func jsonSpans(text string) (spans []jsonSpan, cut bool) {
	s := &jsonScan{text: text, left: maxJSONLooks * (len(text) + 1024)}
	for at := 0; at < len(text); {
		next := strings.IndexAny(text[at:], "{[")
		if next < 0 {
			break
		}
		at += next
		s.pos, s.quoted = at, -1
		ok := s.value(0)
		if !ok && s.pos >= len(text) {
			return nil, true
		}
		if !ok && s.quoted >= 0 && s.left > 0 {
			// What was taken for a string may have been words around the real value.
			s.forget(s.quoted)
			at = s.quoted
			continue
		}
		at = max(s.pos, at+1)
	}
	return s.spans, false
}

// jsonScan reads values by the letter of the standard, and notes the objects and arrays that are whole.
type jsonScan struct {
	text   string
	pos    int
	left   int
	quoted int // the first brace in a string of this try; -1: none
	spans  []jsonSpan
}

// forget drops what was found from there on.
func (s *jsonScan) forget(from int) {
	for len(s.spans) > 0 && s.spans[len(s.spans)-1].from >= from {
		s.spans = s.spans[:len(s.spans)-1]
	}
}

// value reads one value at pos. After a failure pos is where it showed.
func (s *jsonScan) value(depth int) bool {
	s.blanks()
	if s.left--; s.left < 0 || depth > maxJSONDepth || s.pos >= len(s.text) {
		return false
	}
	switch c := s.text[s.pos]; {
	case c == '{':
		return s.container('}', depth, true)
	case c == '[':
		return s.container(']', depth, false)
	case c == '"':
		return s.str()
	case c == '-' || c >= '0' && c <= '9':
		return s.scalar("+-.eE0123456789")
	}
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(s.text[s.pos:], word) {
			s.pos += len(word)
			return true
		}
	}
	return false
}

// container reads an object or array and notes it in place of those inside it.
func (s *jsonScan) container(closer byte, depth int, keys bool) bool {
	from := s.pos
	s.pos++
	if s.blanks(); !s.is(closer) {
		for {
			if keys && !(s.key()) || !s.value(depth+1) {
				return false
			}
			if s.blanks(); !s.is(',') {
				break
			}
			s.pos++
		}
	}
	if !s.is(closer) {
		return false
	}
	s.pos++
	s.forget(from)
	s.spans = append(s.spans, jsonSpan{from, s.pos})
	return true
}

// key reads a member's name with its colon.
func (s *jsonScan) key() bool {
	if s.blanks(); !s.is('"') || !s.str() {
		return false
	}
	if s.blanks(); !s.is(':') {
		return false
	}
	s.pos++
	return true
}

func (s *jsonScan) is(c byte) bool { return s.pos < len(s.text) && s.text[s.pos] == c }

func (s *jsonScan) blanks() {
	for s.pos < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.pos]) >= 0 {
		s.pos++
		s.left--
	}
}

func (s *jsonScan) str() bool {
	for s.pos++; s.pos < len(s.text); s.pos++ {
		s.left--
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return true
		case c == '\\':
			s.pos++
		case c < ' ':
			return false
		case (c == '{' || c == '[') && s.quoted < 0:
			s.quoted = s.pos
		}
	}
	return false
}

func (s *jsonScan) scalar(of string) bool {
	for s.pos < len(s.text) && strings.IndexByte(of, s.text[s.pos]) >= 0 {
		s.pos++
		s.left--
	}
	return true // whether it is a number shows when it is read
}
