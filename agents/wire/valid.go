package wire

import (
	"encoding/binary"
	"math/bits"
)

// maxNesting is how deep a value may be nested, as for encoding/json.
const maxNesting = 10000

// valid returns what json.Valid returns, several times as fast on the long strings that agents send: eight bytes are looked at in one
// step. Every line that comes passes through here before anything else reads it.
func valid(b []byte) bool {
	i := validValue(b, skipSpace(b, 0), 0)
	return i >= 0 && skipSpace(b, i) == len(b)
}

// The functions below return the index behind what starts at b[i], and -1 where that is none.

func validValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return validString(b, i)
	case c == '{':
		return validObject(b, i, depth+1)
	case c == '[':
		return validArray(b, i, depth+1)
	case c == '-' || c >= '0' && c <= '9':
		return validNumber(b, i)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if end := i + len(word); end <= len(b) && string(b[i:end]) == word {
			return end
		}
	}
	return -1
}

func validObject(b []byte, i, depth int) int {
	if depth > maxNesting {
		return -1
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for i < len(b) && b[i] == '"' {
		if i = validString(b, i); i < 0 {
			return -1
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
			return -1
		}
		if i = validValue(b, skipSpace(b, i+1), depth); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		switch {
		case i < len(b) && b[i] == '}':
			return i + 1
		case i >= len(b) || b[i] != ',':
			return -1
		}
		i = skipSpace(b, i+1)
	}
	return -1
}

func validArray(b []byte, i, depth int) int {
	if depth > maxNesting {
		return -1
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		if i = validValue(b, i, depth); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		switch {
		case i < len(b) && b[i] == ']':
			return i + 1
		case i >= len(b) || b[i] != ',':
			return -1
		}
		i = skipSpace(b, i+1)
	}
}

func validString(b []byte, i int) int {
	for i++; ; {
		i = ordinary(b, i)
		switch {
		case i >= len(b) || b[i] < ' ':
			return -1
		case b[i] == '"':
			return i + 1
		}
		if i+1 >= len(b) {
			return -1
		}
		switch b[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			if hex4(b[i:]) < 0 {
				return -1
			}
			i += 6
		default:
			return -1
		}
	}
}

// ordinary returns the index of the first byte from i on that does not stand for itself in a string: a quote, a backslash, a control
// character; len(b) when there is none.
func ordinary(b []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		// A byte's top bit is set where it is below ' ', or zero in one of the two others. One that is too high is found again, exactly, below.
		if found := ((w - ones*' ') | (quote - ones) | (slash - ones)) &^ w & tops; found != 0 {
			i += bits.TrailingZeros64(found) / 8
			break
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

func validNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	switch {
	case i >= len(b):
		return -1
	case b[i] == '0':
		i++
	default:
		if i = validDigits(b, i); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = validDigits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return validDigits(b, i)
	}
	return i
}

func validDigits(b []byte, i int) int {
	from := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}
