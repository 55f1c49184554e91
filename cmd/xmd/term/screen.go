package term

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rivo/uniseg"
)

// Times of the status line.
const (
	// settle is how long the line waits after something was written or has changed, so that it does not flicker between two of them.
	settle = 150 * time.Millisecond
	// second is how often it is drawn anew while nothing happens: it shows a time.
	second = time.Second
)

// Screen is a terminal with a status line below everything else. What is written there goes through Through, or is written while Hold lasts.
// Its methods may be called from any goroutine, also on a nil Screen, which has no status line.
type Screen struct {
	file   *os.File
	line   func() string // the line wanted now, "": none
	escape bool          // the terminal may be sent escape sequences

	mu    sync.Mutex
	shown string // the line that stands there
	fresh bool   // the cursor is at the beginning of a line
	held  int

	kick   chan struct{}
	closed chan struct{}
	ended  chan struct{}
	once   sync.Once
}

// NewScreen starts a screen on a terminal; close it. line gives the status line, in any width, as often as it is drawn; it is called from a
// goroutine of the screen's own. Without escape the line is taken away by writing blanks over it.
func NewScreen(file *os.File, line func() string, escape bool) *Screen {
	s := &Screen{
		file: file, line: line, escape: escape, fresh: true,
		kick: make(chan struct{}, 1), closed: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.loop()
	return s
}

// Changed says that another line may be wanted. It never waits.
func (s *Screen) Changed() {
	if s == nil {
		return
	}
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// Through is a writer to w, a file of this terminal: the status line is gone before anything is written. Of a nil Screen it is w.
func (s *Screen) Through(w io.Writer) io.Writer {
	if s == nil {
		return w
	}
	return through{s, w}
}

type through struct {
	s *Screen
	w io.Writer
}

func (t through) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.erase()
	t.s.fresh = p[len(p)-1] == '\n'
	n, err := t.w.Write(p)
	t.s.Changed()
	return n, err
}

// Hold takes the status line away and keeps it away until release is called: somebody else has the terminal. It is then taken to be at the
// beginning of a line. release may be called more than once.
func (s *Screen) Hold() (release func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.held++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held--
		s.fresh = true
		s.Changed()
	})
}

// Close takes the line away for good. Idempotent.
func (s *Screen) Close() {
	if s == nil {
		return
	}
	s.once.Do(func() { close(s.closed) })
	<-s.ended
	s.Hold()
}

// Abandon is Close for a program that ends at once: it does not wait for a terminal that takes nothing.
func (s *Screen) Abandon() {
	if s != nil && s.mu.TryLock() {
		s.erase()
		s.held++
		s.mu.Unlock()
	}
}

func (s *Screen) loop() {
	defer close(s.ended)
	tick := time.NewTicker(second)
	defer tick.Stop()
	for {
		select {
		case <-s.closed:
			return
		case <-s.kick:
			select {
			case <-s.closed:
				return
			case <-time.After(settle):
			}
		case <-tick.C:
		}
		s.draw()
	}
}

// draw shows the line that is wanted, where there is a place for it. The cursor stays at its beginning: wherever a terminal puts the rest of
// it when its width changes, it is behind the cursor.
func (s *Screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	columns, front := look(s.file)
	line := ""
	if s.held == 0 && s.fresh && front {
		line = Fit(s.line(), columns-1)
	}
	switch {
	case line == "":
		s.erase()
	case line == s.shown:
	case s.escape:
		s.put("\r" + Paint(true, Faint, line) + "\x1b[J\r")
		s.shown = line
	default:
		s.put("\r" + line + strings.Repeat(" ", max(0, uniseg.StringWidth(s.shown)-uniseg.StringWidth(line))) + "\r")
		s.shown = line
	}
}

// erase takes the line away; the caller holds mu.
func (s *Screen) erase() {
	switch {
	case s.shown == "":
		return
	case s.escape:
		s.put("\r\x1b[J")
	default:
		s.put("\r" + strings.Repeat(" ", uniseg.StringWidth(s.shown)) + "\r")
	}
	s.shown = ""
}

// put writes to the terminal; if it is gone there is nobody to tell.
func (s *Screen) put(text string) { _, _ = io.WriteString(s.file, text) }
