package compat_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"xmd/compat"
)

func file(t *testing.T, text string, age time.Duration) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-age)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	return path
}

// memory is a cache that counts.
type memory struct {
	digests    map[compat.FileID]string
	hits, puts int
}

func (m *memory) Get(id compat.FileID) (string, bool) {
	d, ok := m.digests[id]
	if ok {
		m.hits++
	}
	return d, ok
}

func (m *memory) Put(id compat.FileID, digest string) { m.digests[id] = digest; m.puts++ }

func TestDigest(t *testing.T) {
	path := file(t, "abc", 0)
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2, appendix B.1
	if got, err := compat.Digest(ctx, path, nil); err != nil || got != want {
		t.Errorf("%s %v", got, err)
	}
	if got, err := compat.Digest(ctx, filepath.Join(path, "none"), nil); err == nil {
		t.Errorf("a file that is not there: %s", got)
	}
	if got, err := compat.Digest(ctx, filepath.Dir(path), nil); err == nil {
		t.Errorf("a folder: %s", got)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := compat.Digest(ended, path, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A change that is too fresh is not remembered: the next one could hide in the same tick of the clock.
func TestDigestOfFreshFileIsNotRemembered(t *testing.T) {
	m := &memory{digests: map[compat.FileID]string{}}
	path := file(t, "abc", time.Hour) // its ctime is now all the same
	for range 2 {
		if _, err := compat.Digest(ctx, path, m); err != nil {
			t.Fatal(err)
		}
	}
	if m.puts != 0 || m.hits != 0 {
		t.Errorf("%d puts, %d hits", m.puts, m.hits)
	}
}

// oldFile is one whose last change is long ago: one of the system's, since a ctime cannot be set.
func oldFile(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/bin/sh", "/bin/ls", exe} {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		m := &memory{digests: map[compat.FileID]string{}}
		if _, err := compat.Digest(ctx, real, m); err == nil && m.puts == 1 {
			return real
		}
	}
	t.Skip("no file here is older than two seconds")
	return ""
}

func TestDigestIsRemembered(t *testing.T) {
	path := oldFile(t)
	m := &memory{digests: map[compat.FileID]string{}}
	first, err := compat.Digest(ctx, path, m)
	if err != nil {
		t.Fatal(err)
	}
	second, err := compat.Digest(ctx, path, m)
	if err != nil || second != first || m.puts != 1 || m.hits != 1 {
		t.Errorf("%v, %d puts, %d hits", err, m.puts, m.hits)
	}
	for id := range m.digests {
		if id.Inode == 0 || id.Size == 0 || id.Mtime == 0 || id.Ctime == 0 {
			t.Errorf("%+v", id)
		}
	}
}

func TestDirCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "digests")
	c := compat.NewDirCache(dir)
	id := compat.FileID{Device: 1, Inode: 2, Size: 3, Mtime: 4, Ctime: 5}
	digest := strings.Repeat("ab", 32)
	if _, ok := c.Get(id); ok {
		t.Error("an empty cache knows")
	}
	c.Put(id, digest)
	if got, ok := compat.NewDirCache(dir).Get(id); !ok || got != digest {
		t.Errorf("%q %v", got, ok)
	}
	for name, other := range map[string]compat.FileID{
		"device": {9, 2, 3, 4, 5}, "inode": {1, 9, 3, 4, 5}, "size": {1, 2, 9, 4, 5}, "mtime": {1, 2, 3, 9, 5}, "ctime": {1, 2, 3, 4, 9},
	} {
		if _, ok := c.Get(other); ok {
			t.Errorf("another %s is the same file", name)
		}
	}
	next := id
	next.Mtime = 6
	c.Put(next, digest)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v %v: an upgrade should replace", entries, err)
	}
	path := filepath.Join(dir, entries[0].Name())
	for what, mode := range map[string]fs.FileMode{dir: 0o700, path: 0o600} {
		if info, err := os.Stat(what); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", what, info.Mode(), err)
		}
	}
	for name, text := range map[string]string{
		"garbage": "garbage", "empty": "", "no digest": `{"device":1,"inode":2,"size":3,"mtime":6,"ctime":5,"digest":""}`,
		"short digest": `{"device":1,"inode":2,"size":3,"mtime":6,"ctime":5,"digest":"abab"}`, "large": strings.Repeat(" ", 1<<20) + "{}",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Get(next); ok {
			t.Errorf("%s gave %q", name, got)
		}
	}
	c.Put(next, digest)
	if _, ok := c.Get(next); !ok {
		t.Error("a broken entry was not replaced")
	}
}

// Where nothing can be written nothing is remembered, and a symlink is not written through.
func TestDirCacheCannotWrite(t *testing.T) {
	dir, elsewhere := filepath.Join(t.TempDir(), "digests"), t.TempDir()
	if err := os.Symlink(elsewhere, dir); err != nil {
		t.Skip(err)
	}
	id := compat.FileID{Inode: 1}
	for _, c := range []*compat.DirCache{compat.NewDirCache(dir), compat.NewDirCache("/proc/none/digests"), compat.NewDirCache("")} {
		c.Put(id, strings.Repeat("ab", 32))
		if _, ok := c.Get(id); ok {
			t.Error("remembered")
		}
	}
	if left, _ := os.ReadDir(elsewhere); len(left) != 0 {
		t.Error("written through a symlink")
	}
}

func TestDirCacheConcurrent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "digests")
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			c := compat.NewDirCache(dir) // one for each process
			for j := range 50 {
				id := compat.FileID{Inode: 1, Mtime: int64(j % 3)}
				want := strings.Repeat(fmt.Sprintf("%02x", j%3), 32)
				c.Put(id, want)
				if got, ok := c.Get(id); ok && got != want {
					t.Errorf("%d: %s for %+v", i, got, id)
				}
			}
		})
	}
	wg.Wait()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

// The observer's own hash goes through the cache.
func TestObserverUsesTheCache(t *testing.T) {
	path, dir := oldFile(t), t.TempDir()
	want, err := compat.Digest(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := compat.NewObserver(compat.Options{Cache: compat.NewDirCache(filepath.Join(dir, "digests"))})
	ob := o.Begin(ctx, compat.Program{Agent: "codex", Executable: path})
	defer o.Close()
	deadline := time.After(time.Minute)
	for tick := time.Tick(time.Millisecond); ob.Latest().Digest == ""; {
		select {
		case <-tick:
		case <-deadline:
			t.Fatal("no digest")
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, "digests"))
	if got := ob.Latest().Digest; got != want || err != nil || len(left) != 1 {
		t.Errorf("%s, %v, %v", got, left, err)
	}
}
