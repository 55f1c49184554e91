package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

// tempDir runs one <TempDir>: a folder of one's own (mode 0700) that is there as long as the body renders, and gone however that ends.
func (r *Runner) tempDir(ctx context.Context, n *plan.TempDir, at place, out layout.Sink) error {
	dir, err := r.folder(ctx, n, at)
	if err != nil {
		return err
	}
	defer func() {
		if r.o.Offline || at.strand.fixed {
			return
		}
		if err := removeAll(dir); err != nil {
			r.warn("tempdir", fmt.Sprintf("the TempDir %s could not be removed: %v", dir, plainOS(err)), at.where(n.Step))
		}
	}()
	if n.As != "" {
		at.vars.set(n.As, dir)
	}
	at.dirs = append(slices.Clip(at.dirs), dir)
	return r.render(ctx, n.Body, at, out)
}

// folder makes the folder. One that is on record keeps its name: the document may have used it. What was in it is gone, unless its run
// was killed before it could remove it.
func (r *Runner) folder(ctx context.Context, n *plan.TempDir, at place) (string, error) {
	made := false
	v, err := r.decide(ctx, at, n.Step, "tempdir", "", func() (any, error) {
		made = true
		if r.o.Offline {
			return nil, recordEnds()
		}
		dir, err := r.scratch(scratchTempDir)
		if err == nil {
			dir, err = filepath.EvalSymlinks(dir) // as paths are compared
		}
		if err != nil {
			return nil, Errorf(KindFailed, "no folder can be made: %w", plainOS(err))
		}
		return dir, nil
	})
	if err != nil {
		return "", thrown(err, at.where(n.Step))
	}
	dir, ok := v.(string)
	if !ok {
		return "", thrown(Errorf(KindStore, "the name of a TempDir on record is no text"), at.where(n.Step))
	}
	if made || r.o.Offline || at.strand.fixed {
		return dir, nil
	}
	return dir, r.folderAgain(dir, at.where(n.Step))
}

// folderAgain makes a folder of an earlier invocation anew.
func (r *Runner) folderAgain(dir string, where event.At) error {
	switch err := os.Mkdir(dir, 0o700); {
	case err == nil:
		r.warn("tempdir", fmt.Sprintf("The TempDir %s is empty again: its files went with the run that made them.", dir), where)
		return nil
	case !errors.Is(err, fs.ErrExist):
		return thrown(Errorf(KindFailed, "the folder %s cannot be made again: %w", dir, plainOS(err)), where)
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 || !store.Owned(info) {
		return thrown(Errorf(KindFailed, "the folder %s of this run's TempDir is not ours any more", dir), where)
	}
	return nil
}

// privateDir makes a folder for temporary files that nobody else can look into, and that can be used whatever the umask.
func privateDir(name string) (string, error) {
	dir, err := os.MkdirTemp("", name)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o700) //nolint:gosec // a folder is entered by its owner alone
}

// createPrivate makes a new file in such a folder.
func createPrivate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// writePrivate makes a new file there with a text.
func writePrivate(path, text string) error {
	f, err := createPrivate(path)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// removeAll removes a folder also where one in it was made read-only.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // a folder is entered by its owner alone
		}
		return nil
	})
	return os.RemoveAll(dir)
}
