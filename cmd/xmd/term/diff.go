package term

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Bounds of a diff that is shown.
const (
	mostDiffBytes   = 1 << 20 // of both texts; above, only their sizes are told
	mostDiffLines   = 40
	mostDiffColumns = 200
)

// Diff is an edit as a person judges it: the path, then removed and added lines with what stands around them, at most 40. old is nil for a
// new file.
func Diff(color bool, path string, old *string, now string) string {
	before := ""
	head := "--- " + oneLine(path)
	if old == nil {
		head += " (new)"
	} else {
		before = *old
	}
	var b strings.Builder
	b.WriteString(Paint(color, Bold, head) + "\n")
	if len(before)+len(now) > mostDiffBytes {
		fmt.Fprintf(&b, "%d bytes become %d; too large to be shown\n", len(before), len(now))
		return b.String()
	}
	lines := diffLines(before, now)
	for i, line := range lines {
		if i == mostDiffLines {
			fmt.Fprintf(&b, "… %d more lines\n", len(lines)-i)
			break
		}
		b.WriteString(Paint(color, lineStyle(line), Fit(strings.ReplaceAll(Printable(line), "\t", "    "), mostDiffColumns)) + "\n")
	}
	return b.String()
}

// diffLines are the lines of a unified diff without its head.
func diffLines(before, now string) []string {
	text := string(diff.Diff("a", ended(before), "b", ended(now)))
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "diff a b") && !strings.HasPrefix(line, "--- a") && !strings.HasPrefix(line, "+++ b") || len(lines) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// ended is a text whose last line ends, as pieces of files often do not.
func ended(text string) []byte {
	b := []byte(text)
	if len(b) > 0 && !bytes.HasSuffix(b, []byte{'\n'}) {
		b = append(b, '\n')
	}
	return b
}

func lineStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return Green
	case strings.HasPrefix(line, "-"):
		return Red
	case strings.HasPrefix(line, "@@"):
		return Cyan
	}
	return Plain
}
