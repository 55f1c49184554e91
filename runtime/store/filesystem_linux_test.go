package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"xmd/runtime/store"
)

// small mounts a file system of its own for a test, if this process may.
func small(t *testing.T, size string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("xmd-test", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullFileSystem(t *testing.T) {
	dir := small(t, "512k")
	s := open(t, filepath.Join(dir, "xmd"))
	if err := s.BeginRun(ctx, store.Run{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	fill(t, s, "r")
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
	s.Close()
	n := count(t, open(t, s.Dir()), "r")
	if n == 0 {
		t.Error("nothing is left after it was opened again")
	}
}

func TestFullFileSystemAtFirstOpen(t *testing.T) {
	dir := small(t, "16k")
	if _, err := store.Open(ctx, store.Options{Dir: filepath.Join(dir, "xmd")}); store.KindOf(err) != store.KindFull {
		t.Errorf("got %v", err)
	}
}

func TestReadOnlyFileSystem(t *testing.T) {
	dir := small(t, "1m")
	s := open(t, filepath.Join(dir, "xmd"))
	s.Close()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"xmd", "other"} {
		if _, err := store.Open(ctx, store.Options{Dir: filepath.Join(dir, name)}); store.KindOf(err) != store.KindReadOnly {
			t.Errorf("%s: %v", name, err)
		}
	}
}
