package handoff

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// quotedHere stands for a block that a text quotes.
const quotedHere = "[an earlier conversation of %d characters was quoted here]"

// openings finds where a block begins: as it was sent, or as one is written that a body of another one holds, up to seven deep. Before its
// first words stand at most the signs of quoting.
var openings = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(<|\\{1,64}u\{3c\})earlier-conversation>[\s|>]*` + regexp.QuoteMeta(frameBegins))
})

// unquoted is text without the blocks that it quotes, which are never handed on: each is replaced by a word on it. What only begins like a
// block stays.
func unquoted(text string) string {
	if !strings.Contains(text, frameBegins) {
		return text
	}
	var b strings.Builder
	open := map[string]bool{} // of which spellings no end follows
	for {
		at := openings().FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		lt, end := text[at[2]:at[3]], -1
		if !open[lt] {
			end = closed(text, at[1], lt)
		}
		b.WriteString(text[:at[0]])
		if end < 0 {
			open[lt] = true
			b.WriteString(text[at[0]:at[1]])
			end = at[1]
		} else {
			_, _ = fmt.Fprintf(&b, quotedHere, utf8.RuneCountInString(text[at[0]:end]))
		}
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}

// closed is the end of a block whose first words end at from and whose tags begin with lt; -1: it has none.
func closed(text string, from int, lt string) int {
	tag := lt + closing[1:]
	at := strings.Index(text[from:], tag)
	if at < 0 {
		return -1
	}
	return from + at + len(tag)
}
