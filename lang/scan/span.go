package scan

import "strings"

// runMemo remembers a fruitless search for the end of a code span: where the last run of each length stands before end.
type runMemo struct {
	start, end int
	last       map[int]int
}

// begin forgets what was known.
func (m *runMemo) begin(start int) {
	if m.last == nil {
		m.last = map[int]int{}
	}
	clear(m.last)
	m.start, m.end = start, 0
}

// backtick scans a run of backticks: the start of a code span, or text where no run of the same length follows in reach.
func (s *Scanner) backtick(p int) int {
	s.hasText = true
	n := 1
	for p+n < len(s.src) && s.src[p+n] == '`' {
		n++
	}
	if p >= s.linkEnd {
		if end := s.spanEnd(p+n, n); end > 0 {
			s.emit(CodeSpan, p, end)
			return end
		}
	}
	return p + n
}

// spanEnd returns the offset behind the next run of n backticks in reach of p, or 0. Reach ends with the paragraph, heading, item or
// quote, and before a line that begins with a tag and holds no backtick. A fruitless search is remembered, so that
// all searches of a paragraph together look at it twice at most.
func (s *Scanner) spanEnd(p, n int) int {
	m := &s.runs
	known := p >= m.start && p < m.end
	if known && m.last[n] < p {
		return 0
	}
	if !known {
		m.begin(p)
	}
	for line := p; ; {
		end := s.lineAfter(line)
		for q := line; ; {
			i := strings.IndexByte(s.src[q:end], '`')
			if i < 0 {
				break
			}
			q += i
			run := 1
			for q+run < end && s.src[q+run] == '`' {
				run++
			}
			if run == n {
				return q + run
			}
			if !known {
				m.last[run] = q
			}
			q += run
		}
		content, ok := end, false
		if s.multi {
			content, ok = s.continuation(end)
		}
		if !ok || s.isTagAt(content) && strings.IndexByte(s.src[content:s.lineAfter(content)], '`') < 0 {
			m.end = end
			return 0
		}
		line = content
	}
}
