package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/chzyer/readline"
	"github.com/rivo/uniseg"

	"xmd/agents/proc"
)

// ErrInterrupt is what Read returns when Ctrl-C was pressed. io.EOF: Ctrl-D on an empty line, or the end of the input.
var ErrInterrupt = errors.New("interrupted")

// Lines reads lines at a terminal. One goroutine uses it.
type Lines interface {
	// Read shows a prompt and returns what was typed, without its line end. Its errors are ErrInterrupt, io.EOF and the cause of ctx.
	Read(ctx context.Context, prompt string) (string, error)
	// Remember puts an entry, of however many lines, into the history.
	Remember(entry string)
	// Close gives the terminal back. Idempotent.
	Close() error
}

// Options are what an editor needs.
type Options struct {
	In  *os.File // a terminal
	Out *os.File // where the prompt and what is typed are shown; a terminal
	// History is the file of earlier entries; "": they are kept in memory only.
	History string
	// Complete lists what may stand in place of the last word of text, which is all of a line up to the cursor; nil: nothing is completed.
	Complete func(text string) (word string, candidates []string)
}

// Editor is the Lines of a terminal, with editing, history and completion.
type Editor struct {
	o       Options
	rl      *readline.Instance
	keys    *keys
	history *history
	resized func() // tells the library of a new width; called on its own goroutine
	raw     *readline.State
	columns int               // as the library knows them
	pastes  chan string       // those whose key is on its way
	pieces  map[string]string // texts that stand in the line as one word, by that word
	stop    func()
	closed  bool
	reading atomic.Bool
}

var _ Lines = (*Editor)(nil)

// Runes that are no characters, for what the editing goroutine is to do.
const (
	keyResize = '\U0010FFFE' // the width is another
	keyCancel = '\U0010FFFF' // nobody waits for the line any more
	keyPaste  = '\U000FFFFE' // the next paste comes here
)

// New takes a terminal. It fails when In or Out is none.
func New(o Options) (*Editor, error) {
	e := &Editor{o: o, pieces: map[string]string{}, pastes: make(chan string, 64)}
	if !readline.IsTerminal(int(o.In.Fd())) || !readline.IsTerminal(int(o.Out.Fd())) {
		return nil, errors.New("no terminal")
	}
	e.keys = newKeys(proc.Input(o.In), func(text string) { e.pastes <- text })
	e.history = loadHistory(o.History)
	rl, err := readline.NewEx(&readline.Config{
		Stdin: e.keys, Stdout: o.Out, Stderr: o.Out, HistoryLimit: mostHistory, DisableAutoSaveHistory: true, InterruptPrompt: "\n", EOFPrompt: "\n",
		ForceUseInteractive: true, FuncMakeRaw: e.makeRaw, FuncExitRaw: e.exitRaw, FuncGetWidth: e.width,
		FuncOnWidthChanged: func(f func()) { e.resized = f }, FuncFilterInputRune: e.filter, AutoComplete: completer{e}, Listener: inserter{e},
	})
	if err != nil {
		_ = e.keys.Close()
		return nil, err
	}
	e.rl, e.columns = rl, e.width()
	for _, entry := range e.history.entries {
		_ = rl.SaveHistory(e.shown(entry)) // in memory
	}
	e.stop = onResize(func() {
		if e.reading.Load() {
			e.keys.press(keyResize)
		}
	})
	return e, nil
}

func (e *Editor) makeRaw() error {
	state, err := readline.MakeRaw(int(e.o.In.Fd()))
	if err == nil && e.raw == nil {
		e.raw = state
	}
	return err
}

func (e *Editor) exitRaw() error {
	if e.raw == nil {
		return nil
	}
	err := readline.Restore(int(e.o.In.Fd()), e.raw)
	e.raw = nil
	return err
}

// width is that of the terminal; one that does not tell it is taken as 80 wide.
func (e *Editor) width() int {
	if w, _, err := readline.GetSize(int(e.o.Out.Fd())); err == nil && w > 0 {
		return w
	}
	return 80
}

// filter sees each key before the library does, on its goroutine.
func (e *Editor) filter(r rune) (rune, bool) {
	switch r {
	case keyResize:
		if e.resized != nil {
			e.resized()
		}
		return r, false
	case keyCancel:
		return readline.CharInterrupt, e.reading.Load()
	case readline.CharCtrlZ: // the library would stop our parent as well
		_ = e.exitRaw()
		proc.Suspend()
		_ = e.makeRaw()
		return r, false
	}
	return r, true
}

// inserter puts a paste where its key came, all at once: key by key the line would be drawn as often.
type inserter struct{ e *Editor }

// OnChange is called after each key.
func (i inserter) OnChange(line []rune, pos int, key rune) ([]rune, int, bool) {
	if key != keyPaste {
		return nil, 0, false
	}
	text := []rune(i.e.shown(<-i.e.pastes))
	if pos == 0 || line[pos-1] != keyPaste { // in a search, which a paste does not go into
		return nil, 0, false
	}
	return slices.Concat(line[:pos-1], text, line[pos:]), pos - 1 + len(text), true
}

const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// Read shows a prompt and returns a line; see Lines. While it does, what is pasted is one piece.
func (e *Editor) Read(ctx context.Context, prompt string) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	e.rl.SetPrompt(prompt)
	if now := e.width(); now != e.columns {
		e.columns = now
		e.keys.press(keyResize)
	}
	_, _ = io.WriteString(e.o.Out, pasteOn)
	e.reading.Store(true)
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(over); e.keys.press(keyCancel) })
	line, err := e.rl.Readline()
	if !stop() {
		<-over
	}
	e.reading.Store(false)
	_, _ = io.WriteString(e.o.Out, pasteOff)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, readline.ErrInterrupt):
		return "", ErrInterrupt
	case err != nil:
		return "", io.EOF
	}
	return e.meant(line), nil
}

// Remember puts an entry into the history; see Lines.
func (e *Editor) Remember(entry string) {
	entry = strings.TrimRight(entry, "\n")
	if e.history.add(entry) {
		_ = e.rl.SaveHistory(e.shown(entry)) // in memory
	}
}

// Close gives the terminal back; see Lines.
func (e *Editor) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	e.stop()
	return errors.Join(e.keys.Close(), e.rl.Close(), e.history.close())
}

// lineEnd stands for a line end in a line that is edited.
const lineEnd = "⏎"

// longest is how many characters of a text of several lines are edited as they are; a longer one is one word.
const longest = 4000

// shown is how a text of several lines stands in the one line that is edited: with signs for its line ends, or as one word that stands for
// the whole of it, if there is something in it that could not be told from a key.
func (e *Editor) shown(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.TrimRight(text, "\n")
	odd := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || r == keyPaste || r >= keyResize) }
	if !strings.Contains(text, lineEnd) && strings.IndexFunc(text, odd) < 0 && uniseg.GraphemeClusterCount(text) <= longest {
		return strings.ReplaceAll(text, "\n", lineEnd)
	}
	word := fmt.Sprintf("[text %d, %d lines]", len(e.pieces)+1, strings.Count(text, "\n")+1)
	e.pieces[word] = text
	return word
}

// meant is the text that a line stands for.
func (e *Editor) meant(line string) string {
	line = strings.ReplaceAll(line, lineEnd, "\n")
	for word, text := range e.pieces {
		line = strings.ReplaceAll(line, word, text)
	}
	return line
}
