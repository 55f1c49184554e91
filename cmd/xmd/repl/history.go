package repl

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// mostHistory is how many entries are kept from one REPL to the next.
const mostHistory = 1000

// history is the entries of this REPL and of those before it, oldest first. Its file has one JSON string a line, as an entry may have many
// lines; it is the person's alone.
type history struct {
	entries []string
	file    *os.File // nil: nothing is kept
}

// loadHistory reads a history. A file that cannot be used is no reason not to run: then nothing is kept.
func loadHistory(path string) *history {
	h := &history{}
	if path == "" {
		return h
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return h
	}
	f := openOwn(path)
	if f == nil {
		return h
	}
	h.file = f
	lines := bufio.NewReader(f)
	count := 0
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && len(line) > 0 {
			_, _ = f.Write([]byte("\n")) // a REPL was killed while it wrote: what comes next begins a line
		}
		var entry string
		if json.Unmarshal(line, &entry) == nil && entry != "" {
			h.entries = append(h.entries, entry)
			count++
		}
		if err != nil {
			break
		}
	}
	if count > 2*mostHistory {
		h.shorten(path)
	}
	h.entries = h.entries[max(0, len(h.entries)-mostHistory):]
	return h
}

// openOwn opens the file of a history, made anew if there is none, so that nobody else can read it; nil for anything but a plain file of
// the person's own in its place, in a folder of the person's own.
func openOwn(path string) *os.File {
	if info, err := os.Lstat(filepath.Dir(path)); err != nil || !info.IsDir() || !ours(info) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || !ours(info) || !narrowed(f, info) {
		_ = f.Close() // nothing was written
		return nil
	}
	return f
}

// shorten writes the newest entries anew in one step. Another REPL that has the file open goes on writing into the old one.
func (h *history) shorten(path string) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".history-*")
	if err != nil {
		return // the long one serves as well
	}
	w := bufio.NewWriter(tmp)
	for _, entry := range h.entries[len(h.entries)-mostHistory:] {
		line, _ := json.Marshal(entry) // a string always has a form
		_, _ = w.Write(append(line, '\n'))
	}
	if w.Flush() != nil || tmp.Close() != nil || os.Rename(tmp.Name(), path) != nil {
		_ = os.Remove(tmp.Name())
		return
	}
	if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600); err == nil {
		_ = h.file.Close()
		h.file = f
	}
}

// add keeps an entry; false: it is the newest already, or nothing.
func (h *history) add(entry string) bool {
	if entry == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return false
	}
	h.entries = append(h.entries, entry)
	h.entries = slices.Delete(h.entries, 0, max(0, len(h.entries)-mostHistory))
	if h.file != nil {
		line, _ := json.Marshal(entry)          // a string always has a form
		_, _ = h.file.Write(append(line, '\n')) // in one piece; a full disk costs the history, not the REPL
	}
	return true
}

func (h *history) close() error {
	if h.file == nil {
		return nil
	}
	f := h.file
	h.file = nil
	return f.Close()
}
