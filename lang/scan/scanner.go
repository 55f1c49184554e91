package scan

import (
	"strings"

	"xmd/lang/diag"
)

// Scanner cuts one text into tokens. It is used by one goroutine and not again after EOF.
type Scanner struct {
	src   string
	pos   int     // what is before it has been looked at
	text  int     // start of the text that is not emitted yet
	queue []Token // emitted, not handed out
	head  int
	diags diag.List
	open  []Open

	// block structure
	bol      bool // pos is the start of a line
	line     int  // start of the line that pos stands in, or of the first of several that a construct joins
	stack    []container
	quotes   int  // quotes in stack
	para     bool // the line before belongs to a paragraph that may go on
	deep     int  // columns that the paragraph's first line is indented by, 0 below four
	deepIn   int  // containers that this is measured behind
	multi    bool // inline content may go on on the next line
	hasText  bool // the line holds something but tags, author comments and blanks
	hasTag   bool // the line holds a tag or author comment
	brackets []bracket
	inactive int // brackets below this index open no link any more
	linkEnd  int // before it, backticks, brackets and comments belong to a link's target
	escaped  int // offset of the last character behind a backslash

	// bounds of searches
	runs       runMemo
	noAuthor   bool // no */} follows
	noComment  bool // no --> follows
	noAngle    int  // no > closes a link's destination before this offset
	exprBudget int  // bytes that fruitless searches for a brace may still look at
}

// Open is something that is still open at the end of the text, or where its search ended.
type Open struct {
	What string // "fence", "comment", "brace", "string", "tag"
	Span diag.Span
}

// New returns a Scanner at the start of src. It reads a byte order mark, a #! line and frontmatter first.
func New(src string) *Scanner {
	s := &Scanner{src: src, bol: true, escaped: -1, exprBudget: 1<<20 + 8*len(src)}
	s.prolog()
	return s
}

// Next returns the next token. After the last it returns EOF, again and again.
func (s *Scanner) Next() Token {
	for s.head == len(s.queue) {
		s.queue, s.head = s.queue[:0], 0
		if s.pos >= len(s.src) {
			s.flush(len(s.src))
			if len(s.queue) == 0 {
				return Token{Kind: EOF, Start: len(s.src), End: len(s.src)}
			}
			break
		}
		if s.bol {
			s.startLine()
		} else {
			s.inline()
		}
	}
	t := s.queue[s.head]
	s.head++
	return t
}

// Diagnostics returns what was found wrong so far; complete after EOF. The list belongs to the Scanner.
func (s *Scanner) Diagnostics() diag.List { return s.diags }

// Open returns what was left open, in the order of the text; complete after EOF.
func (s *Scanner) Open() []Open { return s.open }

// flush emits the text before end.
func (s *Scanner) flush(end int) {
	if s.text < end {
		s.queue = append(s.queue, Token{Kind: Text, Start: s.text, End: end})
		s.text = end
	}
}

// emit emits the text before start, and then a token, and goes on behind it.
func (s *Scanner) emit(k Kind, start, end int) {
	s.flush(start)
	s.queue = append(s.queue, Token{Kind: k, Quotes: uint16(s.quotes), Start: start, End: end})
	s.pos, s.text = end, end
}

// prolog reads what stands before the document: byte order mark, #! line, frontmatter and the blank lines after it.
func (s *Scanner) prolog() {
	at := 0
	if strings.HasPrefix(s.src, "\uFEFF") {
		at = len("\uFEFF")
	}
	if strings.HasPrefix(s.src[at:], "#!") {
		at = s.lineAfter(at)
	}
	if at > 0 {
		s.emit(Prolog, 0, at)
	}
	if end := s.frontEnd(at); end > at {
		s.emit(Front, at, end)
		after := end
		for after < len(s.src) && isBlank(s.src[after:s.lineAfter(after)]) {
			after = s.lineAfter(after)
		}
		if after > end {
			s.emit(Prolog, end, after)
		}
	}
}

// frontEnd returns the offset behind the frontmatter that begins at at, or at where there is none.
func (s *Scanner) frontEnd(at int) int {
	next := s.lineAfter(at)
	if strings.TrimRight(s.src[at:next], " \t\r\n") != "---" || !strings.HasSuffix(s.src[at:next], "\n") {
		return at
	}
	found := false
	for line := next; line < len(s.src); line = next {
		next = s.lineAfter(line)
		text := s.src[line:next]
		if strings.TrimRight(text, " \t\r\n") == "---" {
			if found {
				return next
			}
			return at
		}
		if found || isBlank(text) || strings.HasPrefix(strings.TrimLeft(text, " \t"), "#") {
			continue
		}
		if !startsKey(text) {
			return at
		}
		found = true
	}
	return at
}

// startsKey tells whether a line begins "key:", as YAML's mappings do.
func startsKey(line string) bool {
	i := 0
	for i < len(line) && (isWord(line[i]) || i > 0 && (line[i] == '-' || line[i] == '.')) {
		i++
	}
	if i == 0 {
		return false
	}
	rest := strings.TrimLeft(line[i:], " \t")
	return strings.HasPrefix(rest, ":") && (len(rest) == 1 || strings.IndexByte(" \t\r\n", rest[1]) >= 0)
}

// lineAfter returns the offset of the line after the one that at stands in.
func (s *Scanner) lineAfter(at int) int {
	if n := strings.IndexByte(s.src[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(s.src)
}

// lineEndAt returns the offset of the line end (\n, \r\n or the text's end) of the line that at stands in.
func (s *Scanner) lineEndAt(at int) int {
	n := strings.IndexByte(s.src[at:], '\n')
	if n < 0 {
		return len(s.src)
	}
	if n > 0 && s.src[at+n-1] == '\r' {
		n--
	}
	return at + n
}

// isBlank tells whether s holds only blanks and line ends.
func isBlank(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) || c == '_' }
func isPunct(c byte) bool {
	return c > ' ' && c < 0x7f && !isLetter(c) && !isDigit(c)
}
