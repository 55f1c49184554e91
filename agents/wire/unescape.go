package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// plain returns whether a string body is its own meaning: no escape, and UTF-8.
func plain(inner []byte) bool {
	return bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner)
}

// AppendString appends the meaning of the JSON string v to dst; false, with dst as
// it was, when v is no string or holds a broken escape. As for encoding/json, bytes
// that are no UTF-8 and lone surrogates become U+FFFD, so that what is appended is
// always UTF-8.
func AppendString(dst, v []byte) ([]byte, bool) {
	if !isString(v) {
		return dst, false
	}
	was, s := len(dst), v[1:len(v)-1]
	valid := utf8.Valid(s) // once, not for each of many short runs
	for len(s) > 0 {
		n := bytes.IndexByte(s, '\\')
		if n < 0 {
			n = len(s)
		}
		if valid {
			dst = append(dst, s[:n]...)
		} else {
			dst = appendUTF8(dst, s[:n])
		}
		if s = s[n:]; len(s) == 0 {
			break
		}
		size := 0
		if dst, size = appendEscape(dst, s); size == 0 {
			return dst[:was], false
		}
		s = s[size:]
	}
	return dst, true
}

// appendUTF8 replaces bytes that are no UTF-8.
func appendUTF8(dst, s []byte) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[size:]
	}
	return dst
}

// appendEscape appends what the escape at the start of s means and returns its
// length, 0 when it is broken.
func appendEscape(dst, s []byte) ([]byte, int) {
	if len(s) < 2 {
		return dst, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return append(dst, s[1]), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		return appendUnicode(dst, s)
	}
	return dst, 0
}

// appendUnicode handles \uXXXX, and two of them that are a surrogate pair.
func appendUnicode(dst, s []byte) ([]byte, int) {
	r := hex4(s)
	if r < 0 {
		return dst, 0
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6
	}
	if pair := utf16.DecodeRune(r, hex4(s[6:])); pair != utf8.RuneError {
		return utf8.AppendRune(dst, pair), 12
	}
	return utf8.AppendRune(dst, utf8.RuneError), 6
}

// hex4 reads the \uXXXX at the start of s, -1 when there is none.
func hex4(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range s[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
