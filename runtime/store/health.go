package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Health is what can be told of a state directory without opening its database.
type Health struct {
	Exists bool   // there is a database
	Open   string // a path that others than the person can get at, as "path (0755 instead of 0700)"; "": none
	Shared string // a folder above it in which everybody can put another one in its place; "": none, or that cannot be told here
	WAL    int64  // the size of the write-ahead log, in bytes; 0: there is none
	// Free is how many bytes are left for the person in the file system of the directory, or of the nearest one above it that is there; Known
	// says that this can be told here.
	Free  uint64
	Known bool
}

// Look tells of a state directory. It only reads. An error is of the file system, or says that something else is in the place of a file.
func Look(dir string) (Health, error) {
	var h Health
	h.Free, h.Known = space(nearest(dir))
	h.Shared = sharedAbove(dir)
	for _, want := range []struct {
		name string
		perm fs.FileMode
	}{{"", 0o700}, {FileName, 0o600}, {FileName + "-wal", 0o600}, {FileName + "-shm", 0o600}} {
		path := filepath.Join(dir, want.name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return h, wrapOS("look at", path, err)
		case want.name == "" && !info.IsDir():
			return h, unsafePath(path, info, "a directory")
		case want.name != "" && !info.Mode().IsRegular():
			return h, unsafePath(path, info, "a plain file")
		}
		if err := mustOwn(path, info); err != nil {
			return h, err
		}
		if !permIs(info, want.perm) && h.Open == "" {
			h.Open = fmt.Sprintf("%s (%04o instead of %04o)", path, info.Mode().Perm(), want.perm)
		}
		switch want.name {
		case FileName:
			h.Exists = true
		case FileName + "-wal":
			h.WAL = info.Size()
		}
	}
	return h, nil
}

// sharedAbove is the nearest folder above dir in which everybody may rename what is another's.
func sharedAbove(dir string) string {
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		if info, err := os.Stat(up); err == nil && everybodys(info) {
			return up
		}
		if up == filepath.Dir(up) {
			return ""
		}
	}
}

// nearest is dir, or the folder nearest above it that is there.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
