package handoff

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// valid is text with U+FFFD for every byte that is no UTF-8.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// unit is one character of a valid text as it is sent: how many bytes of the text it takes, and what is written for it; "" is itself.
func unit(text string, at int) (size int, written string) {
	b := text[at]
	switch {
	case b == '\\':
		return 1, `\\`
	case b == '&' && !beginsReference(text[at:]), b == '\n', b == '\t', b >= ' ' && b < 0x7f && b != '<' && b != '&':
		return 1, ""
	}
	r, size := utf8.DecodeRuneInString(text[at:])
	if r < utf8.RuneSelf || unsafeRune(r) {
		return size, fmt.Sprintf(`\u{%x}`, r)
	}
	return size, ""
}

// unsafeRune says of what is not ASCII whether it could end the block, move what is around it or hide in it.
func unsafeRune(r rune) bool {
	switch {
	case r < 0xa0, // C1
		r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, // bidi controls
		r == 0x2028, r == 0x2029, r == 0xfeff,
		r == 0xfe64, r == 0xff1c, r == 0x226e, // < by compatibility; the last one is < with a stroke
		r == 0xfe60, r == 0xff06, // & by compatibility
		r >= 0xe0000 && r <= 0xe007f: // tags
		return true
	}
	return false
}

// beginsReference says whether a text that begins with & begins a character reference, as HTML reads them.
func beginsReference(text string) bool {
	rest := text[1:]
	if strings.HasPrefix(rest, "#") {
		return true
	}
	n := 0
	for n < len(rest) && n < longestReference && isAlphanumeric(rest[n]) {
		n++
	}
	if n > 0 && n < len(rest) && rest[n] == ';' {
		return true
	}
	for _, name := range []string{"lt", "gt", "amp", "quot"} { // these need no semicolon
		if n >= len(name) && strings.EqualFold(rest[:len(name)], name) {
			return true
		}
	}
	return false
}

// longestReference is more than the longest name that HTML has.
const longestReference = 40

func isAlphanumeric(b byte) bool {
	return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// escape is valid text as it is sent.
func escape(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for at := 0; at < len(text); {
		size, written := unit(text, at)
		if written == "" {
			written = text[at : at+size]
		}
		b.WriteString(written)
		at += size
	}
	return b.String()
}

// unescape is what escape was given.
func unescape(text string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if strings.HasPrefix(rest, `\`) {
			b.WriteByte('\\')
			text = rest[1:]
			continue
		}
		hex, after, closed := strings.Cut(strings.TrimPrefix(rest, "u{"), "}")
		r, err := strconv.ParseUint(hex, 16, 32)
		if !closed || !strings.HasPrefix(rest, "u{") || err != nil || !utf8.ValidRune(rune(r)) {
			return "", fmt.Errorf(`an escape is damaged: \%.12q`, rest)
		}
		b.WriteRune(rune(r))
		text = after
	}
}
