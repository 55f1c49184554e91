package proc

import (
	"io"
	"os"
	"strings"
	"sync"
)

// tail reads stderr to its end, so that the program never waits for a reader, and
// keeps the last bytes of it.
type tail struct {
	file *os.File
	max  int
	copy io.Writer
	done chan struct{}

	mu   sync.Mutex
	kept []byte // at most twice max
}

// collect starts the goroutine that reads f and closes it at the end.
func collect(f *os.File, o Options) *tail {
	t := &tail{file: f, max: o.StderrTail, copy: o.StderrCopy, done: make(chan struct{})}
	if t.max == 0 {
		t.max = DefaultStderrTail
	}
	go t.run()
	return t
}

func (t *tail) run() {
	defer close(t.done)
	defer t.file.Close()
	buf := make([]byte, 8<<10)
	for {
		n, err := t.file.Read(buf)
		t.add(buf[:n])
		if t.copy != nil && n > 0 {
			_, _ = t.copy.Write(buf[:n]) // its problem must not reach the program
		}
		if err != nil {
			return
		}
	}
}

func (t *tail) add(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if len(t.kept) > 2*t.max {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-t.max:]...)
	}
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.kept[max(0, len(t.kept)-t.max):]...)
}

// lines returns the last n lines that are not blank. A line whose start was lost is
// still shown: it may be the only one.
func (t *tail) lines(n int) []string {
	var out []string
	for line := range strings.Lines(string(t.bytes())) {
		if line = strings.TrimRight(line, " \t\r\n"); strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
	}
	return out[max(0, len(out)-n):]
}
