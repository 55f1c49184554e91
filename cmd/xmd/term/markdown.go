package term

import (
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Markdown writes a document to a terminal as it comes. It takes control characters out, and with color puts styles in: no other byte is
// added, moved or left out. Each Write goes out at once but for what cannot be judged yet: the marks that a line begins with, a run of "*",
// "_" or "`", a part of a character. Safe for concurrent use.
type Markdown struct {
	mu    sync.Mutex
	w     io.Writer
	color bool
	out   strings.Builder
	part  []byte // of a character
	held  string // marks that wait for what follows them

	begun  bool   // the line has something that is no mark of its beginning
	line   Style  // of the whole line
	now    Style  // in force on the terminal
	last   rune   // before held; a blank at the beginning of a line
	bold   string // the mark that ends it; "": not bold
	italic string
	code   string
	fence  string // the mark that ends the block; "": none is open
	shut   bool   // the line is the closing fence if nothing else is on it
}

// NewMarkdown writes to w, with styles if color.
func NewMarkdown(w io.Writer, color bool) *Markdown { return &Markdown{w: w, color: color, last: ' '} }

// Write takes a piece of the document.
func (m *Markdown) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := append(m.part, p...)
	m.part = nil
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 && !utf8.FullRune(text) {
			m.part = append(m.part, text...)
			break
		}
		m.rune(r, string(text[:n]))
		text = text[n:]
	}
	if err := m.put(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what waits.
func (m *Markdown) Flush() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.release(' ')
	m.out.Write(m.part)
	m.part = nil
	return m.put()
}

// put sends what is ready. No style stays in force: others write to the terminal too.
func (m *Markdown) put() error {
	m.style(Plain)
	if m.out.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(m.w, m.out.String())
	m.out.Reset()
	return err
}

func (m *Markdown) rune(r rune, raw string) {
	switch {
	case r != '\r' && printableRune(r) < 0:
		return
	case !m.color:
		m.out.WriteString(raw)
		return
	case r == '\n':
		m.release(r)
		m.style(Plain)
		m.out.WriteByte('\n')
		m.endLine()
		return
	case !m.begun:
		if m.starts(r) {
			return
		}
		m.open(r)
	}
	if strings.ContainsRune("*_`", r) {
		if m.held != "" && !strings.HasSuffix(m.held, raw) {
			m.release(r)
		}
		m.held += raw
		return
	}
	m.release(r)
	m.text(r, raw)
}

// starts takes a character that the line may begin with; false: what is held is no beginning of a block that goes on with it.
func (m *Markdown) starts(r rune) bool {
	if !strings.ContainsRune(" \t#>-+*`~.)0123456789", r) {
		return false
	}
	held := m.held + string(r)
	if body := strings.TrimLeft(held, " \t"); body != "" && !opensBlock(body) {
		return false
	}
	m.held = held
	return true
}

// opensBlock says whether a text may be the beginning of the mark of a heading, quote, list or fence, with nothing behind it.
func opensBlock(s string) bool {
	digits := strings.TrimLeft(s, "0123456789")
	switch {
	case strings.Trim(s, "#") == "", strings.Trim(s, "`") == "", strings.Trim(s, "~") == "":
		return true
	case len(s) == 1:
		return s[0] != ')' && s[0] != '.'
	case len(s) > len(digits):
		return digits == "" || digits == "." || digits == ")"
	}
	return false
}

// open judges the marks at the beginning of a line, now that something else follows.
func (m *Markdown) open(next rune) {
	m.begun = true
	mark := strings.TrimLeft(m.held, " \t")
	indent := len(m.held) - len(mark)
	blank := next == ' ' || next == '\t' || next == '\n'
	switch {
	case m.fence != "":
		m.shut = isFence(mark) && indent < 4 && strings.HasPrefix(mark, m.fence)
		m.line = Cyan
		m.plainHeld()
	case isFence(mark) && indent < 4:
		m.fence, m.line = mark, Cyan
		m.plainHeld()
	case mark != "" && strings.Trim(mark, "#") == "" && len(mark) <= 6 && blank:
		m.line = Bold
		m.plainHeld()
	case mark == ">":
		m.line = Faint
		m.plainHeld()
	case mark != "" && blank && !strings.ContainsAny(mark, "`~#"): // a list
		m.style(Yellow)
		m.plainHeld()
		m.style(Plain)
	case strings.ContainsAny(mark, "*`"): // emphasis or code, judged by what follows
		m.out.WriteString(m.held[:indent])
		m.held = mark
	default:
		m.plainHeld()
	}
}

// plainHeld writes held marks as they are.
func (m *Markdown) plainHeld() {
	if m.held != "" {
		if m.now == Plain {
			m.style(m.line)
		}
		m.out.WriteString(m.held)
		m.held, m.last = "", ' '
	}
}

func isFence(mark string) bool {
	return len(mark) >= 3 && (strings.Trim(mark, "`") == "" || strings.Trim(mark, "~") == "")
}

// release judges held marks by what follows them.
func (m *Markdown) release(next rune) {
	if !m.begun && m.color {
		m.open(next)
	}
	mark := m.held
	m.held = ""
	if mark == "" {
		return
	}
	open := !unicode.IsSpace(next) && (unicode.IsSpace(m.last) || unicode.IsPunct(m.last))
	shuts := !unicode.IsSpace(m.last)
	state := m.slot(mark)
	switch {
	case m.fence != "" || state == nil || m.code != "" && state != &m.code:
		m.mark(mark)
	case *state == mark && (shuts || state == &m.code):
		m.mark(mark)
		*state = ""
	case *state == "" && (open || state == &m.code):
		*state = mark
		m.mark(mark)
	default:
		m.mark(mark)
	}
}

// slot is what a mark switches; nil: nothing.
func (m *Markdown) slot(mark string) *string {
	switch {
	case mark[0] == '`':
		return &m.code
	case len(mark) == 1:
		return &m.italic
	case len(mark) == 2:
		return &m.bold
	}
	return nil
}

func (m *Markdown) mark(mark string) {
	m.style(m.wanted())
	m.out.WriteString(mark)
	m.last = rune(mark[0])
}

func (m *Markdown) text(r rune, raw string) {
	if m.shut && !unicode.IsSpace(r) {
		m.shut = false
	}
	if want := m.wanted(); !unicode.IsSpace(r) {
		m.style(want)
	} else if m.now != want {
		m.style(Plain)
	}
	m.out.WriteString(raw)
	m.last = r
}

// wanted is the look of what comes next.
func (m *Markdown) wanted() Style {
	switch {
	case m.line == Cyan, m.code != "":
		return Cyan
	case m.bold != "":
		return Bold
	case m.italic != "":
		return Italic
	}
	return m.line
}

// style puts a style in force.
func (m *Markdown) style(s Style) {
	if s == m.now || !m.color {
		return
	}
	if m.now != Plain {
		m.out.WriteString(reset)
	}
	if s != Plain {
		m.out.WriteString("\x1b[" + string(s) + "m")
	}
	m.now = s
}

// endLine forgets what ends with a line.
func (m *Markdown) endLine() {
	if m.shut {
		m.fence = ""
	}
	m.begun, m.shut, m.line, m.last = false, false, Plain, ' '
	m.bold, m.italic, m.code = "", "", ""
}
