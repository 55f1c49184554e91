package repl

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The history is a plain file that nobody else can read, whatever the umask and whatever stood in its place.
func TestHistoryIsThePersonsAlone(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := t.TempDir()
	mode := func(name string) os.FileMode {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	wide := filepath.Join(dir, "wide")
	if err := os.WriteFile(wide, []byte("\"old\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other"), []byte("not ours\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "real"), 0o700), os.Symlink("real", filepath.Join(dir, "linked"))); err != nil {
		t.Fatal(err)
	}
	for name, kept := range map[string]bool{"new": true, "wide": true, "link": false, "pipe": false, "real/new": true, "linked/other": false} {
		h := loadHistory(filepath.Join(dir, name))
		h.add("typed")
		if (h.file != nil) != kept || len(h.entries) == 0 {
			t.Errorf("%s: kept %v, %q", name, h.file != nil, h.entries)
		}
		if err := h.close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"new", "wide"} {
		if m := mode(name); m != 0o600 {
			t.Errorf("%s has the mode %v", name, m)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "other")); err != nil || string(text) != "not ours\n" || mode("other") != 0o644 {
		t.Errorf("the link was followed: %q %v %v", text, mode("other"), err)
	}
}
