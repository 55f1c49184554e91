package store_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"xmd/runtime/store"
)

func TestLook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such permissions")
	}
	dir := filepath.Join(t.TempDir(), "deep", "xmd")
	look := func() store.Health {
		t.Helper()
		h, err := store.Look(dir)
		if err != nil {
			t.Fatal(err)
		}
		if h.Known && h.Free == 0 {
			t.Errorf("no space: %+v", h)
		}
		return h
	}
	if h := look(); h.Exists || h.Open != "" || h.WAL != 0 {
		t.Errorf("nothing is there: %+v", h)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a look made the directory")
	}

	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Do(ctx, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(route(1)); return err }); err != nil {
		t.Fatal(err)
	}
	if h := look(); !h.Exists || h.Open != "" || h.WAL == 0 {
		t.Errorf("open: %+v", h)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if h := look(); !h.Exists || h.Open != "" || h.WAL != 0 {
		t.Errorf("closed: %+v", h)
	}

	db := filepath.Join(dir, store.FileName)
	for path, mode := range map[string]os.FileMode{dir: 0o755, db: 0o640} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if h := look(); !strings.HasPrefix(h.Open, path+" (0") {
			t.Errorf("%s: %+v", path, h)
		}
		if now, err := os.Stat(path); err != nil || now.Mode().Perm() != mode {
			t.Errorf("a look changed %s: %v", path, err)
		}
		if err := os.Chmod(path, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}

	above := filepath.Dir(filepath.Dir(dir))
	for mode, shared := range map[os.FileMode]string{0o777: above, 0o777 | os.ModeSticky: "", 0o755: "", 0o775: ""} {
		if err := os.Chmod(above, mode); err != nil {
			t.Fatal(err)
		}
		if h := look(); h.Shared != shared {
			t.Errorf("%v: in the shared folder %q", mode, h.Shared)
		}
	}

	if err := os.Rename(db, db+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(db+".moved", db); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Look(dir); store.KindOf(err) != store.KindUnsafe {
		t.Errorf("a link in the place of the database: %v", err)
	}
}
