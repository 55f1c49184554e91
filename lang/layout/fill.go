package layout

import "strings"

// Fill renders a syntax.Fill: its body goes in, and Close puts out the whole fence, made longer than any run of its character
// in the body if a value put one there that could close it.
type Fill struct {
	out                 Sink
	open, close, marker string
	body                strings.Builder
	fenced              bool // a value brought the fence's character
}

// NewFill returns the Sink for the body of a filled fence; open, close and marker are those of syntax.Fill. close may be empty.
func NewFill(out Sink, open, close, marker string) *Fill {
	return &Fill{out: out, open: open, close: close, marker: marker}
}

func (f *Fill) Author(text string) error { f.body.WriteString(text); return nil }

func (f *Fill) Value(text string) error {
	f.fenced = f.fenced || strings.Contains(text, f.marker[:1])
	f.body.WriteString(text)
	return nil
}

// Close puts out the fence.
func (f *Fill) Close() error {
	open, end := f.open, f.close
	if more := longestRun(f.body.String(), f.marker[0]) + 1 - len(f.marker); f.fenced && more > 0 {
		extra := strings.Repeat(f.marker[:1], more)
		open = strings.Replace(open, f.marker, f.marker+extra, 1)
		end = strings.Replace(end, f.marker, f.marker+extra, 1)
	}
	for _, part := range []string{open, f.body.String(), end} {
		if part == "" {
			continue
		}
		if err := f.out.Author(part); err != nil {
			return err
		}
	}
	return nil
}

// longestRun returns the length of the longest run of c in s.
func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
