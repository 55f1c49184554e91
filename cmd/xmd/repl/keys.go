package repl

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// keys is the terminal as the editor reads it. It reads only when it is asked to, gives a paste as one piece, and can be made to give keys
// that nobody pressed. Read is called by one goroutine.
type keys struct {
	pasted func(text string) // takes a whole paste; the key keyPaste stands for it

	want chan struct{} // the terminal is to be read
	got  chan piece
	poke chan struct{} // something was pressed
	done chan struct{}
	once sync.Once

	mu      sync.Mutex
	pressed []byte

	asked   bool         // a read of the terminal is under way
	ready   bytes.Buffer // to be given
	held    []byte       // the beginning of a mark, or of a paste
	in      bool         // in a paste
	nothing int          // reads in a row that gave nothing
	err     error
}

// piece is what one read of the terminal gave.
type piece struct {
	text []byte
	err  error
}

var (
	pasteBegins = []byte("\x1b[200~")
	pasteEnds   = []byte("\x1b[201~")
)

// maxPaste bounds a paste; what is longer is given as it comes.
const maxPaste = 16 << 20

func newKeys(in io.Reader, pasted func(string)) *keys {
	k := &keys{pasted: pasted, want: make(chan struct{}, 1), got: make(chan piece, 1), poke: make(chan struct{}, 1), done: make(chan struct{})}
	go k.pump(in)
	return k
}

// pump reads the terminal, once for each want. A read cannot be taken back: its goroutine may end only with the process.
func (k *keys) pump(in io.Reader) {
	for {
		select {
		case <-k.done:
			return
		case <-k.want:
		}
		buf := make([]byte, 4096)
		n, err := in.Read(buf)
		select {
		case k.got <- piece{buf[:n], err}:
		case <-k.done:
			return
		}
	}
}

// press gives a key as if it had been pressed now, once if it was not read meanwhile. It never waits: between two lines nobody reads, and
// who presses a key may be the one who would ask for the next.
func (k *keys) press(key rune) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if text := []byte(string(key)); !bytes.Contains(k.pressed, text) {
		k.pressed = append(k.pressed, text...)
	}
	select {
	case k.poke <- struct{}{}:
	default:
	}
}

// takePressed moves what was pressed to what is given.
func (k *keys) takePressed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ready.Write(k.pressed)
	k.pressed = nil
}

// Read gives what was typed.
func (k *keys) Read(p []byte) (int, error) {
	for k.ready.Len() == 0 {
		if k.err != nil {
			return 0, k.err
		}
		if !k.asked {
			k.asked = true
			k.want <- struct{}{}
		}
		select {
		case <-k.done:
			return 0, io.EOF
		case <-k.poke:
			k.takePressed()
		case got := <-k.got:
			k.asked = false
			k.take(got.text)
			if k.over(got) {
				k.err = io.EOF
			}
		}
	}
	return k.ready.Read(p)
}

// mostNothing is how many reads in a row may give nothing before that is taken for the end.
const mostNothing = 8

// over says whether the terminal is gone. A read that gives nothing is no sign of it by itself: one that was begun before the terminal's mode
// was changed may end so, and a Ctrl-D while the terminal was not the editor's.
func (k *keys) over(got piece) bool {
	if len(got.text) > 0 {
		k.nothing = 0
		return false
	}
	k.nothing++
	return !errors.Is(got.err, io.EOF) || k.nothing > mostNothing
}

// take sorts what was read into keys and pastes.
func (k *keys) take(text []byte) {
	text = append(k.held, text...)
	k.held = nil
	for len(text) > 0 {
		mark := pasteBegins
		if k.in {
			mark = pasteEnds
		}
		before, after, found := bytes.Cut(text, mark)
		if !found {
			k.rest(text)
			return
		}
		if k.in {
			k.pasted(string(before))
			k.ready.WriteString(string(keyPaste))
		} else {
			k.ready.Write(before)
		}
		k.in, text = !k.in, after
	}
}

// rest takes what has no mark: all of a paste waits for its end, of anything else only what may be the beginning of a mark.
func (k *keys) rest(text []byte) {
	switch {
	case k.in && len(text) <= maxPaste:
		k.held = text
		return
	case k.in:
		k.in = false
	default:
		for n := min(len(pasteBegins)-1, len(text)); n > len("\x1b["); n-- {
			if bytes.HasSuffix(text, pasteBegins[:n]) {
				k.held = bytes.Clone(text[len(text)-n:])
				text = text[:len(text)-n]
				break
			}
		}
	}
	k.ready.Write(text)
}

// Close makes Read give the end of the input. Idempotent.
func (k *keys) Close() error {
	k.once.Do(func() { close(k.done) })
	return nil
}
