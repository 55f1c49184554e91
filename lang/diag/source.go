package diag

import (
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Source is one source text with its name as people write it. It is immutable and safe for concurrent use.
// A Source made as a literal works too; the line table is built when first asked for.
type Source struct {
	Name string
	Text string

	once  sync.Once
	lines []int // offsets of line starts; built on first use
}

// NewSource returns the source of text. The name is printed as it is and never opened.
func NewSource(name, text string) *Source { return &Source{Name: name, Text: text} }

// starts returns the offsets at which lines begin; there is always at least one.
func (s *Source) starts() []int {
	s.once.Do(func() {
		s.lines = append(make([]int, 0, 1+strings.Count(s.Text, "\n")), 0)
		for off := 0; ; {
			n := strings.IndexByte(s.Text[off:], '\n')
			if n < 0 {
				return
			}
			off += n + 1
			s.lines = append(s.lines, off)
		}
	})
	return s.lines
}

// Pos returns the line and the column of a byte offset, both from 1. Columns count runes; a byte order mark at the start of
// the text has no width. Offsets outside the text are moved to its nearer end.
func (s *Source) Pos(off int) (line, col int) {
	off = min(max(off, 0), len(s.Text))
	starts := s.starts()
	line = sort.SearchInts(starts, off+1)
	start := starts[line-1]
	if line == 1 && off >= len(bom) && strings.HasPrefix(s.Text, bom) {
		start = len(bom)
	}
	return line, 1 + utf8.RuneCountInString(s.Text[start:off])
}

// bom is the byte order mark: part of the text, but not of its first line.
const bom = "\uFEFF"

// Line returns line n (from 1) without its line end, or "" where there is no such line.
func (s *Source) Line(n int) string {
	start, end := s.LineSpan(n)
	text := s.Text[start:end]
	if n == 1 {
		text = strings.TrimPrefix(text, bom)
	}
	return text
}

// LineSpan returns the byte range of line n (from 1) without its line end; it is empty where there is no such line.
func (s *Source) LineSpan(n int) (start, end int) {
	starts := s.starts()
	if n < 1 || n > len(starts) {
		return len(s.Text), len(s.Text)
	}
	start, end = starts[n-1], len(s.Text)
	if n < len(starts) {
		end = starts[n] - 1
	}
	if end > start && s.Text[end-1] == '\r' {
		end--
	}
	return start, end
}

// Lines returns how many lines the text has; a text that ends with a line end has an empty last one.
func (s *Source) Lines() int { return len(s.starts()) }
