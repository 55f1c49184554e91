package runtime

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"xmd/lang/layout"
	"xmd/lang/plan"
)

// tempDir runs one <TempDir>: a folder of one's own (mode 0700) that is there as long as the body renders, and gone however that ends.
func (r *Runner) tempDir(ctx context.Context, n *plan.TempDir, at place, out layout.Sink) error {
	dir, err := os.MkdirTemp("", "xmd-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // as paths are compared
	}
	if err != nil {
		return thrown(Errorf(KindFailed, "no folder can be made: %w", plainOS(err)), at.where(n.Step))
	}
	defer func() {
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
