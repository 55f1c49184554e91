package handoff

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Text is measured in code points as they are sent in a body: escaped, and with the beginning of the next line behind each newline.

// ofLine is what a body's line takes besides its text: its beginning and its newline.
const ofLine = 3

// maxGrapheme is how many code points a grapheme may have before it may be cut.
const maxGrapheme = 32

// cost is what text[from:to] takes.
func cost(text string, from, to int) int {
	n := 0
	for from < to {
		size, taken := unitCost(text, from)
		n += taken
		from += size
	}
	return n
}

func unitCost(text string, at int) (size, taken int) {
	b := text[at]
	if b == '\n' {
		return 1, ofLine
	}
	size, written := unit(text, at)
	if written == "" {
		return size, 1
	}
	return size, len(written)
}

// fits says whether all of text takes at most room. It looks no further than that.
func fits(text string, room int) bool {
	for at := 0; at < len(text); {
		size, taken := unitCost(text, at)
		if room -= taken; room < 0 {
			return false
		}
		at += size
	}
	return true
}

// piece is the size of what may not be cut: a grapheme, or one character of a grapheme that is too long. It begins at a place between
// pieces.
func piece(text string, at int) int {
	if text[at] < utf8.RuneSelf && text[at] != '\r' && (at+1 == len(text) || text[at+1] < utf8.RuneSelf) {
		return 1 // nothing of ASCII joins what is before it, but a newline its carriage return
	}
	end := at
	for i := 0; i <= maxGrapheme && end < len(text); i++ {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	first, _, _, _ := uniseg.FirstGraphemeClusterInString(text[at:end], -1)
	if utf8.RuneCountInString(first) > maxGrapheme {
		_, size := utf8.DecodeRuneInString(text[at:])
		return size
	}
	return len(first)
}

// beginning is the size of as much of text's beginning as room holds.
func beginning(text string, room int) int {
	at := 0
	for at < len(text) {
		size := piece(text, at)
		if room -= cost(text, at, at+size); room < 0 {
			break
		}
		at += size
	}
	return at
}

// ending is where as much of text's end begins as room holds. Of a long text only the end is looked at.
func ending(text string, room int) int {
	from := safe(text, len(text)-(room+1)*utf8.UTFMax-maxGrapheme*utf8.UTFMax)
	used := 0
	for at := from; at < len(text); {
		size := piece(text, at)
		used += cost(text, at, at+size)
		at += size
		for used > room {
			size := piece(text, from)
			used -= cost(text, from, from+size)
			from += size
		}
	}
	return from
}

// safe is the last place up to at that is between graphemes whatever stands before it.
func safe(text string, at int) int {
	for ; at > 0; at-- {
		if text[at] < utf8.RuneSelf && text[at-1] < utf8.RuneSelf && text[at-1] != '\r' {
			return at
		}
	}
	return 0
}
