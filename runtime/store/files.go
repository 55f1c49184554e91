package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// secureDir makes sure that dir is a directory of this person alone, creating it and its parents if need be. A symlink
// in its place is refused; symlinks above it are the person's own business.
func secureDir(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return wrapOS("create", dir, err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return wrapOS("create", dir, err)
		}
		info, err = os.Lstat(dir)
	}
	if err != nil {
		return wrapOS("open", dir, err)
	}
	if !info.IsDir() {
		return unsafePath(dir, info, "a directory")
	}
	if err := mustOwn(dir, info); err != nil {
		return err
	}
	if !permIs(info, 0o700) {
		if err := os.Chmod(dir, 0o700); err != nil {
			return wrapOS("open", dir, err)
		}
	}
	return nil
}

// secureFile makes sure that path is a plain file of this person alone. Its error matches fs.ErrNotExist when there is
// nothing.
func secureFile(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return wrapOS("open", path, err)
	}
	if !info.Mode().IsRegular() {
		return unsafePath(path, info, "a plain file")
	}
	if err := mustOwn(path, info); err != nil {
		return err
	}
	if !permIs(info, 0o600) {
		if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return wrapOS("open", path, err)
		}
	}
	return nil
}

// Owned says whether what info tells of belongs to this person, or whether that cannot be told here.
func Owned(info fs.FileInfo) bool { return mustOwn("", info) == nil }

func unsafePath(path string, info fs.FileInfo, want string) error {
	detail := "this is not " + want + ": move it away, or name another --state-dir"
	if info.Mode()&fs.ModeSymlink != 0 {
		detail = "this is a symbolic link, which is not followed: put " + want + " here, or name its target as --state-dir"
	}
	return &Error{Kind: KindUnsafe, Op: "open", Path: path, Detail: detail}
}

func foreignOwner(path string) error {
	return &Error{
		Kind: KindUnsafe, Op: "open", Path: path,
		Detail: "this belongs to another user: name a --state-dir of your own",
	}
}
