package runtime

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"xmd/lang/layout"
	"xmd/lang/plan"
)

// file runs one <File>: it reads a file in place or into a name, or writes its body to it.
func (r *Runner) file(ctx context.Context, n *plan.File, at place, out layout.Sink) error {
	path, err := at.text(n.Path, n.Step, "path")
	if err != nil {
		return err
	}
	if n.Write {
		if err := r.mayWrite(ctx, n, at, path); err != nil {
			return err
		}
		text, err := r.fileBody(ctx, n, at)
		if err != nil {
			return err
		}
		_, err = r.effect(ctx, at, n.Step, "file.write", r.inputOf(path, text), func() (any, error) {
			to, err := r.inside(path, at.dirs)
			if err != nil {
				return nil, err
			}
			return nil, to.write(path, text)
		})
		return err
	}
	v, err := r.effect(ctx, at, n.Step, "file.read", r.inputOf(path), func() (any, error) {
		from, err := r.inside(path, at.dirs)
		if err != nil {
			return nil, err
		}
		return from.read(path)
	})
	if err != nil {
		return err
	}
	if n.As != "" {
		at.vars.set(n.As, v)
		return nil
	}
	return out.Value(v.(string))
}

// mayWrite looks whether the path can be used, before the body has done anything. What it finds is on record under a name of its own:
// a later invocation may find another.
func (r *Runner) mayWrite(ctx context.Context, n *plan.File, at place, path string) error {
	s := n.Step
	s.ID += "/path"
	_, err := r.decide(ctx, at, s, "file.path", r.inputOf(path), func() (any, error) {
		_, err := r.inside(path, at.dirs)
		return nil, err
	})
	if err != nil {
		return thrown(err, at.where(n.Step))
	}
	return nil
}

// fileBody renders what is written. A failure in it leaves the file as it was.
func (r *Runner) fileBody(ctx context.Context, n *plan.File, at place) (string, error) {
	at.inLet, at.throws = false, true
	var buf layout.Buffer
	ends := layout.NewFile(&buf, n.CloseFirst)
	if err := r.render(ctx, n.Body, at, ends); err != nil {
		return "", err
	}
	if err := ends.Close(); err != nil {
		return "", err
	}
	return buf.String(), nil
}

// read reads a regular file whole. name is the path as the document has it.
func (l located) read(name string) (string, error) {
	data, err := l.readAll()
	switch {
	case err != nil:
		return "", Errorf(KindFailed, "the file %q cannot be read: %w", name, plainOS(err))
	case !utf8.Valid(data):
		return "", Errorf(KindFailed, "the file %q is not UTF-8 text; convert it in an exec block", name)
	}
	return string(data), nil
}

// readAll goes through the root itself: a link that somebody changes meanwhile leads nowhere.
func (l located) readAll() ([]byte, error) {
	root, err := os.OpenRoot(l.root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(l.rel)
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, err
	}
	return root.ReadFile(l.rel)
}

// regular refuses what is no file with a content of its own; reading a pipe would wait for ever.
func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("it is a folder")
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	}
	return nil
}

// write puts text in the place of the file at once: who reads it meanwhile sees the old or the new one whole. Folders on the way are
// made, a file that is there keeps its mode.
func (l located) write(name, text string) error {
	if err := l.replace(text); err != nil {
		return Errorf(KindFailed, "the file %q cannot be written: %w", name, plainOS(err))
	}
	return nil
}

func (l located) replace(text string) (err error) {
	root, err := os.OpenRoot(l.root)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	mode := fs.FileMode(0o666) // of a new one, less the umask
	info, err := root.Stat(l.rel)
	exists := err == nil
	switch {
	case exists:
		mode = info.Mode().Perm()
		if err := regular(info); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	folder := filepath.Dir(l.rel)
	if err := root.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	beside := filepath.Join(folder, ".xmd-"+ulid.Make().String())
	defer func() {
		if err != nil {
			_ = root.Remove(beside) // it may not be there
		}
	}()
	if err := fill(root, beside, text, mode, exists); err != nil {
		return err
	}
	return root.Rename(beside, l.rel)
}

// fill makes a new file that is on the disk when fill returns. exact: the mode is what it says, whatever the umask.
func fill(root *os.Root, name, text string, mode fs.FileMode, exact bool) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err == nil && exact {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
