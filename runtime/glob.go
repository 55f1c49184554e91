package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
)

// glob runs one <Glob>: the files of the run's directory that fit include and not exclude. Without as they render one on a line.
func (r *Runner) glob(ctx context.Context, n *plan.Glob, at place, out layout.Sink) error {
	include, err := at.patterns(n.Include, n.Step, "include", false)
	if err != nil {
		return err
	}
	exclude, err := at.patterns(n.Exclude, n.Step, "exclude", true)
	if err != nil {
		return err
	}
	v, err := r.effect(ctx, at, n.Step, "glob", r.globInput(n, at), func() (any, error) {
		w := &walk{ctx: ctx, root: r.o.Dir, include: include, exclude: exclude}
		if err := w.folder(".", begin(include), begin(exclude)); err != nil {
			return nil, err
		}
		slices.Sort(w.found)
		return expr.Normalize(w.found)
	})
	if err != nil {
		return err
	}
	if n.As != "" {
		at.vars.set(n.As, v)
		return nil
	}
	lines := make([]string, 0, len(v.([]any)))
	for _, file := range v.([]any) {
		lines = append(lines, expr.Render(file))
	}
	return out.Value(strings.Join(lines, "\n"))
}

// globInput is the digest of what a Glob is given.
func (r *Runner) globInput(n *plan.Glob, at place) string {
	include, _ := at.texts(n.Include, n.Step, "include") // patterns has said what is wrong with them
	exclude, _ := at.texts(n.Exclude, n.Step, "exclude")
	return r.inputOf(include, exclude)
}

// patterns compiles an attribute that is a pattern or an array of them; none when it is not given.
func (at place) patterns(a plan.Arg, s plan.Step, what string, hidden bool) ([]*pattern, error) {
	texts, err := at.texts(a, s, what)
	if err != nil {
		return nil, err
	}
	var list []*pattern
	for _, text := range texts {
		p, err := filePattern(text, hidden)
		if err != nil {
			return nil, at.wrong(a, s, "%s: %w", what, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// filePattern compiles a pattern for files of the run's directory.
func filePattern(text string, hidden bool) (*pattern, error) {
	text = strings.TrimPrefix(text, "./")
	switch {
	case text == "":
		return nil, errors.New("a pattern is empty")
	case strings.HasPrefix(text, "/") || filepath.IsAbs(text) || slices.Contains(strings.Split(text, "/"), ".."):
		return nil, fmt.Errorf("the pattern %q leads out of the run's directory; patterns begin there, without .. and without / in front", text)
	case strings.HasSuffix(text, "/"):
		return nil, fmt.Errorf("the pattern %q names a folder, and Glob lists files; write %q", text, text+"**")
	}
	return compilePattern(text, hidden)
}

// texts evaluates an attribute that is a string or an array of strings; none when it is not given.
func (at place) texts(a plan.Arg, s plan.Step, what string) ([]string, error) {
	if !a.Given {
		return nil, nil
	}
	v, err := at.value(a, s)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var texts []string
	for _, e := range list {
		text, ok := e.(string)
		if !ok {
			return nil, at.wrong(a, s, "%s must be a string or an array of strings, and has %s", what, expr.KindName(e))
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// walk goes through the folders that can hold a match.
type walk struct {
	ctx              context.Context
	root             string
	include, exclude []*pattern
	found            []string
}

func begin(list []*pattern) []progress {
	at := make([]progress, len(list))
	for i, p := range list {
		at[i] = p.begin()
	}
	return at
}

func advance(list []*pattern, at []progress, name string) []progress {
	after := make([]progress, len(list))
	for i, p := range list {
		after[i] = p.next(at[i], name)
	}
	return after
}

// folder goes through one folder. Linked folders are not entered: they may lead anywhere, and in circles.
func (w *walk) folder(rel string, include, exclude []progress) error {
	if err := w.ctx.Err(); err != nil {
		return context.Cause(w.ctx)
	}
	entries, err := os.ReadDir(filepath.Join(w.root, rel))
	if err != nil {
		return Errorf(KindFailed, "the folder %s cannot be read: %w", rel, plainOS(err))
	}
	for _, e := range entries {
		in, ex := advance(w.include, include, e.Name()), advance(w.exclude, exclude, e.Name())
		path := filepath.Join(rel, e.Name())
		switch {
		case e.IsDir():
			if slices.ContainsFunc(in, progress.hopeful) && !w.excludes(ex) {
				if err := w.folder(path, in, ex); err != nil {
					return err
				}
			}
		case slices.ContainsFunc(in, progress.done) && !slices.ContainsFunc(ex, progress.done) && isFile(filepath.Join(w.root, path), e):
			if !utf8.ValidString(path) {
				return Errorf(KindFailed, "the name of the file %q is not UTF-8, so it cannot be a value; exclude it", path)
			}
			w.found = append(w.found, filepath.ToSlash(path))
		}
	}
	return nil
}

// excludes says whether all that lies below a folder is left out.
func (w *walk) excludes(at []progress) bool {
	for i, p := range w.exclude {
		if p.swallows(at[i]) {
			return true
		}
	}
	return false
}

// isFile says whether an entry is a regular file, also by a link.
func isFile(path string, e os.DirEntry) bool {
	if e.Type().IsRegular() {
		return true
	}
	if e.Type()&os.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
