package repl

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzKeys: whatever a terminal sends, in whatever pieces, every byte of it is a key or in a paste, in order, and nothing waits for ever.
func FuzzKeys(f *testing.F) {
	for _, s := range []string{"", "a\n", "\x1b[200~a\nb\x1b[201~c", "\x1b[200~", "\x1b[201~", "\x1b[200~\x1b[200~\x1b[201~", "\x1b[20", "\x1b", "\x1b[2\x1b[200~x", "\xff\xfe\x00", "日本\x1b[A"} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(5))
	}
	f.Fuzz(func(t *testing.T, typed []byte, size uint8) {
		if size == 0 {
			return
		}
		k := &keys{}
		var out bytes.Buffer // keys as they are, pastes with their marks
		k.pasted = func(text string) {
			out.Write(k.ready.Bytes())
			k.ready.Reset()
			out.WriteString(string(pasteBegins) + text + string(pasteEnds))
		}
		clean := bytes.ReplaceAll(typed, []byte(string(keyPaste)), nil) // it cannot be typed
		for piece := range slices.Chunk(clean, int(size)) {
			k.take(bytes.Clone(piece))
			out.WriteString(strings.ReplaceAll(k.ready.String(), string(keyPaste), ""))
			k.ready.Reset()
		}
		got := out.String()
		if k.in {
			got += string(pasteBegins)
		}
		got += string(k.held)
		if got != string(clean) {
			t.Fatalf("typed %q, got %q", clean, got)
		}
		if !k.in && len(k.held) >= len(pasteBegins) {
			t.Fatalf("%q waits", k.held)
		}
	})
}

// FuzzHistory: whatever is in the file of the history, it is read, and what is added stands behind it the next time.
func FuzzHistory(f *testing.F) {
	for _, s := range []string{"", "\"a\"\n\"b\\nc\"\n", "a\n", "\"a\"\n\"half", "null\n7\n[]\n\"\"\n", "\xff\"\x00\"\n", strings.Repeat("\"x\"\n", 3)} {
		f.Add([]byte(s), "entry\nof lines")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, file []byte, entry string) {
		path := filepath.Join(dir, "history")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		entry = strings.ToValidUTF8(entry, "?")
		first := loadHistory(path)
		before := slices.Clone(first.entries)
		added := first.add(entry)
		if err := first.close(); err != nil {
			t.Fatal(err)
		}
		again := loadHistory(path)
		defer again.close()
		want := before
		if added {
			want = append(want, entry)
		}
		if !slices.Equal(again.entries, want) {
			t.Fatalf("%q became %q", want, again.entries)
		}
	})
}
