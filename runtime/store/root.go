package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is where a session was looked for.
type Place struct {
	Root  string // real path: where the session lives, else the run's directory
	Found bool   // the session is there
}

// FindRoot looks for a session of that agent and name from dir upward to the Git root (without Git only in dir itself)
// and returns the nearest directory that has it. A session is there when a generation that lives there and is not forgotten has a
// route, or was opened. dir must exist; symlinks in it are resolved.
func (s *Store) FindRoot(ctx context.Context, dir, agent, session string) (Place, error) {
	dirs, err := searchPath(dir)
	if err != nil {
		return Place{}, err
	}
	var roots []string
	err = s.View(ctx, func(tx *Tx) error {
		roots, err = tx.roots(agent, session)
		return err
	})
	if err != nil {
		return Place{}, err
	}
	for _, d := range dirs {
		if slices.Contains(roots, d) {
			return Place{d, true}, nil
		}
	}
	return Place{Root: dirs[0]}, nil
}

// Stray is a session of the same agent and name that is not found from here, though a person may have meant it.
type Stray struct {
	Key
	Gone  bool // its root is no directory any more
	Moved bool // it was constructed here, and was moved there
	// Neither: its root is another worktree of the same repository.
}

// Strays returns the sessions of that agent and name whose root is gone or is another worktree of dir's repository, and those that
// were moved away from here. It is for the note that is due when a named session is about to be created.
func (s *Store) Strays(ctx context.Context, dir, agent, session string) ([]Stray, error) {
	dirs, err := searchPath(dir)
	if err != nil {
		return nil, err
	}
	var routes []Route
	err = s.View(ctx, func(tx *Tx) error {
		routes, err = tx.Routes(Filter{Selector: Selector{Agent: agent, Session: session}})
		return err
	})
	if err != nil {
		return nil, err
	}
	here := commonGitDir(dirs[0])
	var strays []Stray
	for _, r := range routes {
		info, err := os.Stat(r.Root)
		switch {
		case err != nil || !info.IsDir():
			strays = append(strays, Stray{Key: r.Key, Gone: true})
		case r.RecordedRoot != "" && slices.Contains(dirs, r.RecordedRoot):
			strays = append(strays, Stray{Key: r.Key, Moved: true})
		case !slices.Contains(dirs, r.Root) && here != "" && commonGitDir(r.Root) == here && gitRoot(r.Root) != gitRoot(dirs[0]):
			strays = append(strays, Stray{Key: r.Key})
		}
	}
	return strays, nil
}

// roots returns every root where a session of that name lives.
func (tx *Tx) roots(agent, session string) ([]string, error) {
	all, err := tx.kept(agent, session)
	var roots []string
	for _, g := range all {
		if !g.forgotten {
			roots = append(roots, g.place.Root)
		}
	}
	if err == nil && len(roots) == 0 {
		err = tx.absent(agent, session) // damage must not look like a session that never was
	}
	return roots, err
}

// searchPath lists dir and the directories above it up to its Git root, as real paths.
func searchPath(dir string) ([]string, error) {
	real, err := realDir(dir)
	if err != nil {
		return nil, err
	}
	top := gitRoot(real)
	if top == "" {
		return []string{real}, nil
	}
	dirs := []string{real}
	for d := real; d != top; {
		d = filepath.Dir(d)
		dirs = append(dirs, d)
	}
	return dirs, nil
}

func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the root of a session: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("find the root of a session: %w", err)
	}
	return real, nil
}

// gitRoot returns the nearest directory from dir upward that is the top of a Git work tree, or "".
func gitRoot(dir string) string {
	for {
		if gitDir(dir) != "" {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// gitDir returns the repository that dir's .git is or, in a worktree or submodule, names; "" if dir has none. Like Git
// it passes over a .git that is no repository.
func gitDir(dir string) string {
	dot := filepath.Join(dir, ".git")
	info, err := os.Stat(dot)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		data, err := os.ReadFile(dot)
		target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
		if err != nil || !ok {
			return ""
		}
		dot = strings.TrimSpace(target)
		if !filepath.IsAbs(dot) {
			dot = filepath.Join(dir, dot)
		}
	}
	if _, err := os.Lstat(filepath.Join(dot, "HEAD")); err != nil {
		return ""
	}
	return dot
}

// commonGitDir returns the repository that all worktrees of dir's repository share, as a real path, or "".
func commonGitDir(dir string) string {
	git := gitDir(gitRoot(dir))
	if git == "" {
		return ""
	}
	if data, err := os.ReadFile(filepath.Join(git, "commondir")); err == nil {
		common := strings.TrimSpace(string(data))
		if !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
		git = common
	}
	if real, err := filepath.EvalSymlinks(git); err == nil {
		return real
	}
	return filepath.Clean(git)
}
