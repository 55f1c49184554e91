package term

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// Printable drops control characters except line ends and tabs, and bidi controls: what agents and programs worded does nothing to a terminal.
func Printable(s string) string { return strings.Map(printableRune, s) }

func printableRune(r rune) rune {
	if r == '\n' || r == '\t' {
		return r
	}
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}

// oneLine is a text as a piece of one line: harmless, its white space single blanks.
func oneLine(s string) string { return strings.Join(strings.Fields(Printable(s)), " ") }

// Fit cuts a line to a number of columns, wide and combining characters counted as a terminal shows them. A cut line ends in "…".
func Fit(line string, columns int) string {
	if uniseg.StringWidth(line) <= columns {
		return line
	}
	if columns < 1 {
		return ""
	}
	used, end, state := 0, 0, -1
	for rest := line; rest != ""; {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+width > columns-1 {
			break
		}
		used, end = used+width, end+len(cluster)
	}
	return line[:end] + "…"
}

// Style is a look of text on a terminal.
type Style string

// The looks in use; "" is plain.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Faint  Style = "2"
	Italic Style = "3"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint is a text in a style, each line by itself so that nothing leaks into what comes between; as it is without color.
func Paint(color bool, style Style, text string) string {
	if !color || style == Plain || text == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		if body != "" {
			b.WriteString("\x1b[" + string(style) + "m" + body + reset)
		}
		b.WriteString(line[len(body):])
	}
	return b.String()
}

// reset ends every style.
const reset = "\x1b[0m"
