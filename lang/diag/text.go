package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WriteText prints a list as people read it, one entry a diagnostic:
//
//	plan.xmd:3:14: agent= needs quotes
//	    <Prompt agent=codex text="x"/>
//	                  ^~~~~
//	hint: write agent="codex"
//
// src is the source of the diagnostics that name none. Warnings say so after the position. Related places follow with their own position. The first write error is returned.
func WriteText(w io.Writer, src *Source, list List) error {
	var b strings.Builder
	for i := range list {
		writeOne(&b, src, &list[i])
		if b.Len() > 32<<10 || i == len(list)-1 {
			if _, err := io.WriteString(w, b.String()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	return nil
}

func writeOne(b *strings.Builder, src *Source, d *Diagnostic) {
	own := d.In(src)
	b.WriteString(own.At(d.Span.Start))
	b.WriteString(": ")
	if d.Severity == Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(d.Summary)
	if d.Code != "" {
		fmt.Fprintf(b, " [%s]", d.Code)
	}
	b.WriteByte('\n')
	writeExcerpt(b, own, d.Span)
	if d.Hint != "" {
		fmt.Fprintf(b, "hint: %s\n", d.Hint)
	}
	for i := range d.Related {
		r := &d.Related[i]
		fmt.Fprintf(b, "%s: %s\n", r.In(src).At(r.Span.Start), r.Summary)
	}
}

// At returns file:line:col of a byte offset.
func (s *Source) At(off int) string {
	line, col := s.Pos(off)
	return fmt.Sprintf("%s:%d:%d", s.Name, line, col)
}

// excerptWidth bounds the source line that is shown, in runes: a line may be the whole file.
const excerptWidth = 120

// margin stands before the source line and its caret.
const margin = "    "

// writeExcerpt prints the line of a span and a caret under it, reaching at most to the line's end.
func writeExcerpt(b *strings.Builder, src *Source, span Span) {
	line, _ := src.Pos(span.Start)
	start, end := src.LineSpan(line)
	if line == 1 && strings.HasPrefix(src.Text, bom) {
		start = min(len(bom), end)
	}
	from := min(max(span.Start, start), end)
	head, cutHead := lastRunes(src.Text[start:from], excerptWidth/2)
	tail, cutTail := firstRunes(src.Text[from:end], excerptWidth-utf8.RuneCountInString(head))
	marked := tail[:min(max(span.End-from, 0), len(tail))]

	b.WriteString(margin)
	lead := ""
	if cutHead {
		lead = "…"
	}
	b.WriteString(lead + printable(head) + printable(tail))
	if cutTail {
		b.WriteString("…")
	}
	b.WriteString("\n" + margin + blank(lead+head) + "^")
	b.WriteString(strings.Repeat("~", max(width(marked)-1, 0)))
	b.WriteByte('\n')
}

// lastRunes returns the last n runes of s and whether any were left out; it looks at no more of s than it must.
func lastRunes(s string, n int) (string, bool) {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:], at > 0
}

// firstRunes returns the first n runes of s and whether any were left out.
func firstRunes(s string, n int) (string, bool) {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at], at < len(s)
}

// printable replaces control characters, which could move the cursor of the terminal that shows the line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// blank returns white space as wide as s: tabs stay, so that the caret stands right whatever a tab's width is.
func blank(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\t' {
			b.WriteByte('\t')
			continue
		}
		b.WriteString("  "[:runeWidth(r)])
	}
	return b.String()
}

// width is the number of terminal cells that s takes.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// wide holds the ranges that terminals show in two cells: East Asian letters and signs, and emoji.
var wide = [][2]rune{{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
	{0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.Is(unicode.Mn, r) || r == 0x200D || r == 0xFE0F {
		return 0
	}
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}
