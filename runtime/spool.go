package runtime

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"xmd/lang/layout"
	"xmd/runtime/event"
)

// Bounds of what waits in memory for its turn: of one body, and of all of a run.
const (
	maxHeld    = 1 << 20
	maxHeldAll = 64 << 20
)

// aside is where a child's stderr goes: beside the output, in the same order.
type aside interface {
	stderr(at event.At, text string)
}

// stderr shows it at once.
func (r *Runner) stderr(at event.At, text string) {
	r.o.Stream.Emit(event.ExecOutput, at, &event.Delta{Text: text, Stream: "stderr"})
}

// spools is the folder of one set of bodies that run at once; it is made when the first of them needs it.
type spools struct {
	held   *atomic.Int64 // what waits in memory in the whole run
	folder func() (string, error)

	mu  sync.Mutex
	dir string
}

// file makes the file of body n.
func (s *spools) file(n int) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		dir, err := s.folder()
		if err != nil {
			return nil, err
		}
		s.dir = dir
	}
	return createPrivate(filepath.Join(s.dir, strconv.Itoa(n)))
}

// remove removes the files.
func (s *spools) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// spool is the output of one of several bodies that run at once. It keeps what comes, in memory and beyond 1 MiB in a file, until the
// body's turn in the document has come; from then on everything goes straight through. The body writes, the document delivers.
type spool struct {
	all *spools
	n   int

	mu    sync.Mutex
	out   layout.Sink // nil: it is not its turn yet
	aside aside
	held  []byte // frames, after those in the file
	file  *os.File
	name  string // of the file; "" if there is none
	ended bool
}

// The kinds of frames: a kind, the length, the text.
const (
	frameAuthor = 'a'
	frameValue  = 'v'
	frameGap    = 'g'
	frameStderr = 'e'
)

// heldStderr is the text of a frame of a child's stderr.
type heldStderr struct {
	At   event.At
	Text []byte // bytes, because a piece may end inside a character
}

func (s *spool) Author(text string) error { return s.put(frameAuthor, text) }
func (s *spool) Value(text string) error  { return s.put(frameValue, text) }
func (s *spool) Gap(text string) error    { return s.put(frameGap, text) }

func (s *spool) stderr(at event.At, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out != nil {
		s.aside.stderr(at, text)
		return
	}
	raw, err := json.Marshal(heldStderr{At: at, Text: []byte(text)})
	if err == nil {
		_ = s.hold(frameStderr, string(raw)) // what a child says beside its output is no reason to fail
	}
}

func (s *spool) put(kind byte, text string) error {
	if text == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out != nil {
		return s.pass(kind, text)
	}
	if err := s.hold(kind, text); err != nil {
		return Errorf(KindFailed, "output that has to wait for its turn could not be kept: %w", plainIO(err))
	}
	return nil
}

// plainIO is what went wrong with a file, without the file's name, which means nothing to the author.
func plainIO(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// pass hands one frame on; the caller holds mu.
func (s *spool) pass(kind byte, text string) error {
	switch kind {
	case frameGap:
		if g, ok := s.out.(gapper); ok {
			return g.Gap(text)
		}
		return s.out.Author(text)
	case frameValue:
		return s.out.Value(text)
	case frameStderr:
		var e heldStderr
		if json.Unmarshal([]byte(text), &e) == nil {
			s.aside.stderr(e.At, string(e.Text))
		}
		return nil
	}
	return s.out.Author(text)
}

// hold keeps one frame; the caller holds mu.
func (s *spool) hold(kind byte, text string) error {
	before := len(s.held)
	s.held = append(s.held, kind)
	s.held = binary.AppendUvarint(s.held, uint64(len(text)))
	s.held = append(s.held, text...)
	total := s.all.held.Add(int64(len(s.held) - before))
	switch {
	case s.file != nil && len(s.held) < 64<<10, s.file == nil && len(s.held) <= maxHeld && total <= maxHeldAll:
		return nil
	}
	return s.spill()
}

// spill moves what is held to the file; the caller holds mu.
func (s *spool) spill() error {
	if s.file == nil {
		f, err := s.all.file(s.n)
		if err != nil {
			return err
		}
		s.file, s.name = f, f.Name()
	}
	_, err := s.file.Write(s.held)
	s.drop()
	return err
}

// drop forgets what is held in memory; the caller holds mu.
func (s *spool) drop() {
	s.all.held.Add(-int64(len(s.held)))
	s.held = nil
}

// end tells that nothing more comes: many bodies may have ended before their turn, and each open file counts.
func (s *spool) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.file == nil {
		return nil
	}
	var err error
	if len(s.held) > 0 {
		err = s.spill()
	}
	err = errors.Join(err, s.file.Close())
	s.file = nil
	return err
}

// deliver says that it is this body's turn: what was kept goes to out now, what still comes goes there as it comes.
func (s *spool) deliver(out layout.Sink, beside aside) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out, s.aside = out, beside
	if s.name != "" {
		if err := s.replayFile(); err != nil {
			return err
		}
	}
	held := s.held
	s.drop()
	return s.replay(bytes.NewReader(held))
}

func (s *spool) replayFile() error {
	f := s.file
	if f == nil {
		var err error
		if f, err = os.Open(s.name); err != nil {
			return Errorf(KindFailed, "output that had to wait for its turn is lost: %w", plainIO(err))
		}
	}
	s.file = nil
	defer func() { _ = f.Close(); _ = os.Remove(s.name) }()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Errorf(KindFailed, "output that had to wait for its turn is lost: %w", plainIO(err))
	}
	return s.replay(bufio.NewReaderSize(f, 64<<10))
}

// frameReader is what frames are read from.
type frameReader interface {
	io.Reader
	io.ByteReader
}

func (s *spool) replay(in frameReader) error {
	for {
		kind, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var n uint64
		if err == nil {
			n, err = binary.ReadUvarint(in)
		}
		text := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(in, text)
		}
		if err != nil {
			return Errorf(KindFailed, "output that had to wait for its turn is lost: %w", plainIO(err))
		}
		if err := s.pass(kind, string(text)); err != nil {
			return err
		}
	}
}
