//go:build unix

package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"xmd/runtime/store"
)

func TestFindRoot(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) string { return filepath.Join(append([]string{base}, names...)...) }
	mkdir := func(dir string) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := func(path, text string) {
		mkdir(filepath.Dir(path))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mkdir(at("repo", "a", "b"))
	file(at("repo", ".git", "HEAD"), "ref: refs/heads/main\n")
	mkdir(at("repo", "a", "b", ".git")) // not a repository: passed over
	file(at("repo", ".git", "worktrees", "w", "HEAD"), "ref: refs/heads/w\n")
	file(at("repo", ".git", "worktrees", "w", "commondir"), "../..\n")
	file(at("tree", ".git"), "gitdir: "+at("repo", ".git", "worktrees", "w")+"\n")
	mkdir(at("tree", "sub"))
	mkdir(at("plain", "sub"))
	if err := os.Symlink(at("repo", "a"), at("link")); err != nil {
		t.Fatal(err)
	}
	s := fresh(t)
	n := 0
	make := func(name, root string) store.Key {
		n++
		r := route(1)
		r.Session, r.Root, r.NativeSessionID = name, root, fmt.Sprint("id", n)
		do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(r); return err })
		return r.Key
	}
	make("top", at("repo"))
	make("both", at("repo"))
	make("both", at("repo", "a"))
	make("above", base)
	make("plain", at("plain"))
	forgotten := make("both", at("repo", "a", "b"))
	do(t, s, func(tx *store.Tx) error {
		return errors.Join(
			tx.PutMark(store.Mark{Key: forgotten, Name: store.MarkForgotten}),
			tx.PutOpened(store.Opened{Key: store.SessionKey{Agent: "codex", Session: "opened", Root: at("repo", "a")}.Generation(1), NativeID: "o"}))
	})
	for _, tt := range []struct {
		dir, session, root string
		found              bool
	}{
		{at("repo", "a", "b"), "top", at("repo"), true},
		{at("link", "b"), "top", at("repo"), true},
		{at("repo", "a", "b"), "both", at("repo", "a"), true},
		{at("repo"), "both", at("repo"), true},
		{at("repo", "a", "b"), "opened", at("repo", "a"), true},
		{at("repo", "a", "b"), "above", at("repo", "a", "b"), false}, // not past the Git root
		{at("repo", "a"), "none", at("repo", "a"), false},
		{at("link"), "none", at("repo", "a"), false},
		{at("plain", "sub"), "plain", at("plain", "sub"), false}, // no Git: only the directory itself
		{at("plain"), "plain", at("plain"), true},
		{at("tree", "sub"), "top", at("tree", "sub"), false}, // a worktree is a root of its own
	} {
		got, err := s.FindRoot(ctx, tt.dir, "codex", tt.session)
		if err != nil || got.Root != tt.root || got.Found != tt.found {
			t.Errorf("%s in %s: %+v %v", tt.session, tt.dir, got, err)
		}
	}
	if got, err := s.FindRoot(ctx, at("repo"), "claude", "top"); err != nil || got.Found {
		t.Errorf("another agent's session: %+v %v", got, err)
	}
	if _, err := s.FindRoot(ctx, at("nowhere"), "codex", "top"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	make("lost", at("was", "here"))
	strays := func(dir, name string) string {
		got, err := s.Strays(ctx, dir, "codex", name)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, s := range got {
			text += fmt.Sprint(strings.TrimPrefix(s.Root, base), s.Gone)
		}
		return text
	}
	for _, tt := range [][3]string{
		{at("tree", "sub"), "top", "/repofalse"}, {at("plain"), "top", ""}, {at("repo", "a"), "top", ""},
		{at("plain"), "lost", "/was/heretrue"}, {at("repo"), "none", ""},
	} {
		if got := strays(tt[0], tt[1]); got != tt[2] {
			t.Errorf("strays of %s from %s: %q", tt[1], tt[0], got)
		}
	}
}

// The worktrees above are laid out by hand; this is Git's own.
func TestWorktreeOfGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, tree := filepath.Join(base, "repo"), filepath.Join(base, "tree")
	for _, args := range [][]string{
		{"init", "-q", repo},
		{"-C", repo, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "x"},
		{"-C", repo, "worktree", "add", "-q", tree},
	} {
		if out, err := exec.Command(git, args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	s := fresh(t)
	r := route(1)
	r.Root = repo
	do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(r); return err })
	if place, err := s.FindRoot(ctx, tree, "codex", "review"); err != nil || place.Found || place.Root != tree {
		t.Errorf("%+v %v", place, err)
	}
	if got, err := s.Strays(ctx, tree, "codex", "review"); err != nil || len(got) != 1 || got[0].Root != repo || got[0].Gone {
		t.Errorf("%+v %v", got, err)
	}
}
