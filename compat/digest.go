package compat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// FileID tells one state of one file from another. Times are nanoseconds.
type FileID struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Size   int64  `json:"size"`
	Mtime  int64  `json:"mtime"`
	Ctime  int64  `json:"ctime"`
}

// Cache remembers digests. Its methods never fail: what cannot be read is not known, what cannot be written is not
// remembered. They must be safe for concurrent use.
type Cache interface {
	Get(id FileID) (digest string, ok bool)
	Put(id FileID, digest string)
}

// errChanged is a file that was written while it was read: its digest would be of neither build.
var errChanged = errors.New("the file changed while it was read")

// Digest returns the hex SHA-256 of the file at path, from the cache if it holds this very state of the file. cache may
// be nil. It reads the whole file otherwise and ends early when ctx does.
func Digest(ctx context.Context, path string, cache Cache) (string, error) {
	if info, err := os.Stat(path); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", fmt.Errorf("digest: %s is no plain file", path) // opening a FIFO would wait
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	before, known := fileID(f)
	if known && cache != nil {
		if digest, ok := cache.Get(before); ok {
			return digest, nil
		}
	}
	h := sha256.New()
	if err := copyUntil(ctx, h, f); err != nil {
		return "", err
	}
	digest := hex.EncodeToString(h.Sum(nil))
	if !known {
		return digest, nil
	}
	if after, ok := fileID(f); !ok || after != before {
		return "", errChanged
	}
	if cache != nil && settledLongEnough(before, time.Now()) {
		cache.Put(before, digest)
	}
	return digest, nil
}

// quietAge is how old a change must be before a digest is remembered: a second change within the tick of the file
// system's clock would leave the FileID as it is.
const quietAge = 2 * time.Second

func settledLongEnough(id FileID, now time.Time) bool {
	return now.Sub(time.Unix(0, max(id.Ctime, id.Mtime))) > quietAge
}

func copyUntil(ctx context.Context, w io.Writer, r io.Reader) error {
	const piece = 4 << 20 // some 10 ms of hashing
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := io.CopyN(w, r, piece)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// DirCache keeps digests in a folder, one small file per device and inode, so that it grows with programs and not with
// their upgrades. Processes share it without locks: files are replaced whole. The folder is made with mode 0700 when
// first written.
type DirCache struct{ dir string }

// NewDirCache returns a cache in dir, by convention `digests` in the state directory.
func NewDirCache(dir string) *DirCache { return &DirCache{dir} }

// entry is a cached digest; the whole FileID is compared when it is read.
type entry struct {
	FileID
	Digest string `json:"digest"`
}

func (c *DirCache) path(id FileID) string {
	return filepath.Join(c.dir, fmt.Sprintf("%x-%x.json", id.Device, id.Inode))
}

// maxEntry bounds a cached file; a real one has some 200 bytes.
const maxEntry = 4096

// Get implements Cache.
func (c *DirCache) Get(id FileID) (string, bool) {
	path := c.path(id)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxEntry {
		return "", false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	var e entry
	if json.Unmarshal(data, &e) != nil || e.FileID != id {
		return "", false
	}
	if sum, err := hex.DecodeString(e.Digest); err != nil || len(sum) != sha256.Size {
		return "", false
	}
	return e.Digest, true
}

// Put implements Cache.
func (c *DirCache) Put(id FileID, digest string) {
	data, err := json.Marshal(entry{id, digest})
	if err != nil {
		return
	}
	if err := os.Mkdir(c.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return
	}
	if info, err := os.Lstat(c.dir); err != nil || !info.IsDir() {
		return // a symlink is not followed
	}
	f, err := os.CreateTemp(c.dir, ".new-*") // mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o600), f.Close()) // the umask may have taken bits away
	if err == nil {
		err = os.Rename(f.Name(), c.path(id))
	}
	if err != nil {
		os.Remove(f.Name())
	}
}
