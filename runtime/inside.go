package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// located is a path that a document may use: a real folder that it may work in, and what lies below it.
type located struct {
	root string // the run's directory or a TempDir, a real path
	rel  string // below root, without links in it; "." is root itself
}

func (l located) String() string { return filepath.Join(l.root, l.rel) }

// inside resolves a path of the document, links and all, and refuses it when it leads out of the run's directory and out of the temps,
// which are real paths. The path need not exist yet. A relative one begins at the run's directory.
func (r *Runner) inside(path string, temps []string) (located, error) {
	switch {
	case path == "":
		return located{}, Errorf(KindFailed, "the path is empty")
	case strings.ContainsRune(path, 0):
		return located{}, Errorf(KindFailed, "the path %q holds a NUL byte", path)
	}
	full := filepath.FromSlash(path)
	if !filepath.IsAbs(full) {
		full = r.o.Dir + string(filepath.Separator) + full // not cleaned: x/.. means what it means to the system
	}
	real, err := realPath(full)
	if err != nil {
		return located{}, Errorf(KindFailed, "the path %q cannot be used: %w", path, plainOS(err))
	}
	for _, root := range append([]string{r.o.Dir}, temps...) {
		if rel, ok := below(root, real); ok {
			return located{root, rel}, nil
		}
	}
	return located{}, Errorf(KindFailed, "the path %q leads to %s, which is outside the run's directory %s and of every TempDir around; copy it in, or run with -C", path, real, r.o.Dir)
}

// below returns what of path lies below root. Both are real paths.
func below(root, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// maxLinks bounds the links on one path, which may form a ring.
const maxLinks = 40

// realPath follows every link of an absolute path, also of one whose end does not exist. filepath.EvalSymlinks wants all of it to
// exist, and what a link that leads nowhere would lead to is what matters here.
func realPath(path string) (string, error) {
	volume := filepath.VolumeName(path)
	top := volume + string(filepath.Separator)
	at, todo, links := top, parts(path[len(volume):]), 0
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: too many links", next)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			at, target = top, target[len(filepath.VolumeName(target)):]
		}
		todo = append(parts(target), todo...)
	}
	return at, nil
}

// parts splits a path into names, leaving out what means nothing.
func parts(path string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(path, func(c rune) bool { return c < 0x80 && os.IsPathSeparator(uint8(c)) }),
		func(name string) bool { return name == "." })
}

// plainOS is an error of the file system without the name of the system call.
func plainOS(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("it does not exist")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied")
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
