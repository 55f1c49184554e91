//go:build unix

package native

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime"
)

type plainAgent struct{ runtime.Agent }

func (plainAgent) Info() runtime.AgentInfo { return runtime.AgentInfo{Name: "codex", Shown: "Codex"} }

func agent(i Interface, home string) *Agent {
	return New(plainAgent{}, Config{Interface: i, Program: []string{"/bin/agent", "self"}, Env: []string{"AGENT_HOME=" + home}, Home: home})
}

var full = Interface{
	Open: []string{"resume", "-c", "x={id}", "{id}"}, Begin: []string{"--session-id", "{id}"}, Instructions: []string{"--layer", "{file}"},
	Version: []string{"--version"},
}

func TestWindowArguments(t *testing.T) {
	a := agent(full, "/home/a")
	open, err := a.Window(runtime.WindowRequest{ID: "ID-1", Root: "/root", Env: []string{"A=1"}})
	if err != nil || !slices.Equal(open.Argv, []string{"/bin/agent", "self", "resume", "-c", "x=ID-1", "ID-1"}) {
		t.Errorf("%v %q", err, open.Argv)
	}
	if open.Dir != "/root" || !slices.Equal(open.Env, []string{"A=1", "AGENT_HOME=/home/a"}) || open.Remove != "" {
		t.Errorf("%+v", open)
	}
	begin, err := a.Window(runtime.WindowRequest{ID: "ID-2", New: true})
	if err != nil || !slices.Equal(begin.Argv, []string{"/bin/agent", "self", "--session-id", "ID-2"}) {
		t.Errorf("%v %q", err, begin.Argv)
	}
	if again, _ := a.Window(runtime.WindowRequest{ID: "ID-3"}); again.Argv[5] != "ID-3" || full.Open[3] != "{id}" {
		t.Errorf("the table was changed: %q %q", again.Argv, full.Open)
	}
}

// The layer is in a file that only its owner can read, in a folder of its own, and nowhere else.
func TestWindowInstructions(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	p, err := agent(full, "").Window(runtime.WindowRequest{ID: "ID", New: true, Instructions: "say {id} and {file}\n"})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(p.Remove)
	file := p.Argv[len(p.Argv)-1]
	if filepath.Dir(file) != p.Remove {
		t.Errorf("%s is not in %s", file, p.Remove)
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "say {id} and {file}\n" {
		t.Errorf("%v %q", err, text)
	}
	for path, want := range map[string]os.FileMode{file: 0o600, p.Remove: 0o700 | os.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	if all := strings.Join(append(p.Argv, p.Env...), "\n"); strings.Contains(all, "say") {
		t.Errorf("the layer is in %q", all)
	}
}

func TestWindowWithoutATemporaryFolder(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	_, err := agent(full, "").Window(runtime.WindowRequest{ID: "ID", Instructions: "x"})
	if runtime.KindOf(err) != runtime.KindFailed || strings.Contains(err.Error(), "xmd-launch") {
		t.Errorf("%v", err)
	}
}

func TestNativeInfo(t *testing.T) {
	n := agent(full, "").Native()
	if !n.Instructs || !slices.Equal(n.VersionArgv, []string{"/bin/agent", "self", "--version"}) {
		t.Errorf("%+v", n)
	}
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if a, b := n.NewID(), n.NewID(); a == b || !form.MatchString(a) {
		t.Errorf("%s %s", a, b)
	}
	if n := agent(Interface{Open: []string{"{id}"}}, "").Native(); n.Instructs || n.NewID != nil || n.VersionArgv != nil {
		t.Errorf("%+v", n)
	}
}

// lockable is an agent with a writer lock, and the lock's file.
func lockable(t *testing.T) (*Agent, string) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	return agent(Interface{WriterLock: "locks/{id}.lock", FreeWait: 90 * time.Second}, home), filepath.Join(home, "locks", "ID.lock")
}

func hold(t *testing.T, path string) *os.File {
	f, err := os.Create(path)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A conversation that is open elsewhere is waited for, saying so once, and not longer than that.
func TestReleased(t *testing.T) {
	a, path := lockable(t)
	said := []string{}
	notice := func(line string) { said = append(said, line) }
	if err := a.Released(t.Context(), "ID", notice); err != nil || len(said) != 0 {
		t.Errorf("no lock there: %v %q", err, said)
	}
	f := hold(t, path)
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		time.AfterFunc(40*time.Second, func() { f.Close() })
		if err := a.Released(t.Context(), "ID", notice); err != nil || time.Since(begun).Round(time.Second) != 40*time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		if len(said) != 1 || said[0] != "Codex has this conversation open in another program; waiting up to 1m30s until it is free." {
			t.Errorf("said %q", said)
		}
	})
	f = hold(t, path)
	defer f.Close()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		err := a.Released(t.Context(), "ID", notice)
		var e *runtime.Error
		if !errors.As(err, &e) || e.Kind != runtime.KindBusy || !e.Retryable || time.Since(begun) != 90*time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		if err := a.Released(ctx, "ID", notice); err == nil || err.Error() != "enough" {
			t.Errorf("%v", err)
		}
	})
}

// Asking leaves the lock as it was: whoever takes it at another moment gets it, and no file is made.
func TestReleasedChangesNothing(t *testing.T) {
	a, path := lockable(t)
	if held(path) {
		t.Error("held without a file")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("asking made the file: %v", err)
	}
	f := hold(t, path)
	if !held(path) {
		t.Error("not held")
	}
	f.Close()
	if held(path) {
		t.Error("held after its holder let go")
	}
	hold(t, path).Close()
	for _, id := range []string{"", "../locks/ID", "a/b"} {
		if got := a.lock(id); got != "" {
			t.Errorf("id %q: %s", id, got)
		}
	}
	named := agent(Interface{WriterLock: "x", LockHome: "AGENT_HOME"}, "/there")
	if got := named.lock("ID"); got != "/there/x" {
		t.Errorf("%s", got)
	}
}

// An id that would be an option, or anything else than an id, opens nothing: it may come from a record of others.
func TestWindowRefusesIDs(t *testing.T) {
	for _, id := range []string{"", "--dangerously-skip-permissions", "-c", "a b", "a\nb", "a\x1b[2J", "\xff", "*"} {
		for _, fresh := range []bool{false, true} {
			p, err := agent(full, "").Window(runtime.WindowRequest{ID: id, New: fresh})
			if err == nil || p.Argv != nil {
				t.Errorf("%q opens %q", id, p.Argv)
			}
		}
	}
}
