package wire

import (
	"bytes"
	"encoding/json"
	"iter"
	"unsafe"
)

// The functions of this file find spans in JSON that is known to be valid, as all
// of a Message and every result is. Given anything else they find something or
// nothing, but never fail or read beyond the slice.

// Pick finds members of the object obj in one pass: out[i] becomes the value of the
// member keys[i], a span of obj without white space around it, or nil when there is
// none. Of equal names the last counts, as for encoding/json, but case matters. It
// returns false, with out all nil, when obj is no object. out must be as long as
// keys, and nothing is allocated.
func Pick(obj []byte, keys []string, out [][]byte) bool {
	clear(out)
	i := skipSpace(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return false
	}
	for i = skipSpace(obj, i+1); i < len(obj) && obj[i] == '"'; i = skipSpace(obj, i+1) {
		name := i
		i = skipString(obj, i)
		nameEnd := i
		i = skipSpace(obj, i)
		if i >= len(obj) || obj[i] != ':' {
			return true
		}
		v := skipSpace(obj, i+1)
		i = skipValue(obj, v)
		if k := indexKey(obj[name:nameEnd], keys); k >= 0 {
			out[k] = obj[v:i:i]
		}
		if i = skipSpace(obj, i); i >= len(obj) || obj[i] != ',' {
			return true
		}
	}
	return true
}

// Field returns the value of one member of obj as Pick does, nil when there is none.
func Field(obj []byte, key string) []byte {
	var out [1][]byte
	Pick(obj, []string{key}, out[:])
	return out[0]
}

// Path returns the value that is reached from obj through members of these names,
// nil when there is none.
func Path(obj []byte, keys ...string) []byte {
	for _, k := range keys {
		if obj = Field(obj, k); obj == nil {
			return nil
		}
	}
	return obj
}

// Elements yields the values of the array arr, as spans of it, and nothing when it
// is no array.
func Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := skipSpace(arr, 0)
		if i >= len(arr) || arr[i] != '[' {
			return
		}
		for i = skipSpace(arr, i+1); i < len(arr) && arr[i] != ']'; i = skipSpace(arr, i+1) {
			v := i
			if i = skipValue(arr, i); i == v || !yield(arr[v:i:i]) {
				return
			}
			if i = skipSpace(arr, i); i >= len(arr) || arr[i] != ',' {
				return
			}
		}
	}
}

// Is returns whether v is exactly the JSON string s, written without escapes. It is
// the cheapest way to compare a kind or a status.
func Is(v []byte, s string) bool {
	return len(v) == len(s)+2 && v[0] == '"' && v[len(v)-1] == '"' && string(v[1:len(v)-1]) == s
}

// String decodes the JSON string v; false when v is not one (nil included).
func String(v []byte) (string, bool) {
	if !isString(v) {
		return "", false
	}
	inner := v[1 : len(v)-1]
	if plain(inner) {
		return string(inner), true
	}
	b, ok := AppendString(make([]byte, 0, len(inner)), v)
	return unsafe.String(unsafe.SliceData(b), len(b)), ok // nobody else has b
}

// Raw returns a copy of a span that outlives the message, nil for nil.
func Raw(v []byte) json.RawMessage { return bytes.Clone(v) }

func isString(v []byte) bool {
	return len(v) >= 2 && v[0] == '"' && v[len(v)-1] == '"'
}

// indexKey finds the quoted name among keys.
func indexKey(quoted []byte, keys []string) int {
	if len(quoted) < 2 {
		return -1
	}
	name := quoted[1 : len(quoted)-1]
	for k, key := range keys {
		if string(name) == key {
			return k
		}
	}
	if bytes.IndexByte(name, '\\') < 0 {
		return -1
	}
	s, ok := String(quoted)
	for k, key := range keys {
		if ok && s == key {
			return k
		}
	}
	return -1
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index behind the string that starts at b[i].
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		esc := 0
		for b[i-1-esc] == '\\' { // ends at the opening quote at the latest
			esc++
		}
		if esc%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the index behind the value that starts at b[i].
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) && !endsScalar(b[i]) {
		i++
	}
	return i
}

func endsScalar(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\n' || c == '\r'
}

// skipNested counts brackets outside strings; in valid JSON they always match.
func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}
