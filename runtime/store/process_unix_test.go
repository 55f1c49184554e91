//go:build unix

package store_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"xmd/runtime/store"
)

func TestModesWhateverTheUmask(t *testing.T) {
	for _, mask := range []int{0, 0o277, 0o777} {
		t.Run(fmt.Sprintf("%o", mask), func(t *testing.T) {
			parent := t.TempDir()
			old := syscall.Umask(mask)
			defer syscall.Umask(old)
			dir := filepath.Join(parent, "xmd") // MkdirAll of more would fail as any program's does under 0777
			s := open(t, dir)
			take(t, s, store.LockSession, key.LockName())
			if err := s.BeginRun(ctx, store.Run{ID: "r"}); err != nil {
				t.Fatal(err)
			}
			seen := 0
			modes(t, dir, func(path string, mode fs.FileMode) {
				seen++
				want := fs.FileMode(0o600)
				if mode.IsDir() {
					want = 0o700
				}
				if mode.Perm() != want {
					t.Errorf("%s has mode %v", path, mode)
				}
			})
			if seen < 6 { // xmd, xmd.db, -wal, -shm, locks, two locks
				t.Errorf("only %d files", seen)
			}
		})
	}
}

func TestOpenNarrowsWideModes(t *testing.T) {
	s := fresh(t)
	s.Close()
	for path, mode := range map[string]fs.FileMode{s.Dir(): 0o755, filepath.Join(s.Dir(), store.FileName): 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	open(t, s.Dir())
	modes(t, s.Dir(), func(path string, mode fs.FileMode) {
		if mode.Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, mode)
		}
	})
}

func TestSymlinksAreRefused(t *testing.T) {
	link := func(target, at string) {
		t.Helper()
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error, path string) {
		t.Helper()
		var e *store.Error
		if !errors.As(err, &e) || e.Kind != store.KindUnsafe || e.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	real := fresh(t)
	real.Close()

	dir := filepath.Join(t.TempDir(), "xmd")
	link(real.Dir(), dir)
	_, err := store.Open(ctx, store.Options{Dir: dir})
	refused(err, dir)

	for _, name := range []string{store.FileName, store.FileName + "-wal", store.FileName + "-shm", store.FileName + "-journal", "locks"} {
		s := fresh(t)
		s.Close()
		path := filepath.Join(s.Dir(), name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(t.TempDir(), "target")
		if err := os.WriteFile(target, []byte("precious"), 0o644); err != nil {
			t.Fatal(err)
		}
		link(target, path)
		if name == "locks" {
			s = open(t, s.Dir())
			_, err = s.TryLock(ctx, store.LockRun, "r", store.LockOwner{})
		} else {
			_, err = store.Open(ctx, store.Options{Dir: s.Dir()})
		}
		refused(err, path)
		if data, err := os.ReadFile(target); string(data) != "precious" {
			t.Errorf("%s: the target was changed: %q %v", name, data, err)
		}
	}

	s := fresh(t)
	l := take(t, s, store.LockRun, "r")
	path := l.File().Name()
	l.Close()
	if err := os.Rename(path, path+".real"); err != nil {
		t.Fatal(err)
	}
	link(path+".real", path)
	_, err = s.TryLock(ctx, store.LockRun, "r", store.LockOwner{})
	refused(err, path)
}

func TestForeignOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, name := range []string{"", store.FileName} {
		s := fresh(t)
		s.Close()
		if err := os.Chown(filepath.Join(s.Dir(), name), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(ctx, store.Options{Dir: s.Dir()}); store.KindOf(err) != store.KindUnsafe {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// As root nothing is read-only, so the other process is nobody's.
func TestReadOnly(t *testing.T) {
	base, err := os.MkdirTemp("", "store")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(base, "child")
	run := func(dir string) string {
		cmd := command("open", dir)
		if os.Geteuid() == 0 {
			copyFile(t, cmd.Path, exe)
			cmd.Path = exe
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, _ := cmd.Output()
		return string(out)
	}
	own := func(path string, mode fs.FileMode) {
		t.Helper()
		if os.Geteuid() == 0 {
			if err := os.Chown(path, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	own(home, 0o500)
	dir := filepath.Join(home, "xmd")
	if out := run(dir); !strings.HasPrefix(out, "error store-read-only") || !strings.Contains(out, "--state-dir") {
		t.Errorf("no directory can be made: %s", out)
	}
	own(home, 0o700)
	if out := run(dir); out != "opened\n" {
		t.Fatalf("control: %s", out)
	}
	// A read-only directory of one's own is made writable again (0700 is what it must have), so the file system has to
	// be the one that refuses: see TestReadOnlyFileSystem.
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestTwoProcessesRaceForARoute(t *testing.T) {
	s := fresh(t)
	var in []io.Writer
	var out []*bufio.Reader
	for _, id := range []string{"first", "second"} {
		cmd := command("route", s.Dir(), id)
		w, _ := cmd.StdinPipe()
		r, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		in, out = append(in, w), append(out, bufio.NewReader(r))
	}
	line := func(i int) string {
		text, err := out[i].ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(text)
	}
	line(0)
	line(1)
	for _, w := range in {
		fmt.Fprintln(w)
	}
	a, b := strings.Fields(line(0)), strings.Fields(line(1))
	if a[0] != b[0] || a[1] == b[1] {
		t.Errorf("%v %v: want one winner, read by both", a, b)
	}
	do(t, s, func(tx *store.Tx) error {
		r, _, err := tx.Current(key)
		if r.NativeSessionID != a[0] {
			t.Errorf("stored %s", r.NativeSessionID)
		}
		return err
	})
}

// Ten processes create one fresh store together and append to it.
func TestTenProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "xmd")
	const each = 50
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if out, err := command("append", dir, fmt.Sprint("run", i), fmt.Sprint(each)).Output(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	s := open(t, dir)
	for i := range 10 {
		if n := count(t, s, fmt.Sprint("run", i)); n != each {
			t.Errorf("run%d has %d records", i, n)
		}
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
}

// kill -9 in the middle of commits loses nothing that was acknowledged.
func TestKilledInCommits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "xmd")
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for i := range rounds {
		run := fmt.Sprint("run", i)
		cmd := command("endless", dir, run)
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		acknowledged := int64(0)
		for lines.Scan() {
			n, err := strconv.ParseInt(lines.Text(), 10, 64)
			if err != nil {
				t.Fatal(lines.Text())
			}
			if acknowledged = n; acknowledged == int64(5+7*i) {
				cmd.Process.Kill() // what it said before it died is read to the end
			}
		}
		cmd.Wait()
		s := open(t, dir)
		if err := s.Check(ctx); err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for r, err := range s.Records(ctx, run, 0) {
			var data struct {
				N   int64
				Run string
			}
			if n++; err != nil || json.Unmarshal(r.Data, &data) != nil || data.N != n || data.Run != run {
				t.Fatalf("record %d: %+v %v", n, r, err)
			}
		}
		if n < acknowledged || n > acknowledged+1 {
			t.Errorf("%s: %d records, %d were acknowledged", run, n, acknowledged)
		}
		s.Close()
	}
}

// A child that inherited a lock holds it after its parent was killed, and the record still names the parent.
func TestLockOutlivesItsOwnerInAChild(t *testing.T) {
	s := fresh(t)
	owner := command("lock", s.Dir())
	in, err := owner.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	owner.Stdout = w
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if line, err := bufio.NewReader(r).ReadString('\n'); line != "holding\n" {
		t.Fatalf("%q %v", line, err)
	}
	_, err = s.TryLock(ctx, store.LockSession, key.LockName(), store.LockOwner{})
	if busy := busyOf(t, err); busy.Gone || busy.Owner.Pid != owner.Process.Pid {
		t.Errorf("%+v", busy)
	}
	owner.Process.Kill()
	owner.Process.Wait()
	_, err = s.TryLock(ctx, store.LockSession, key.LockName(), store.LockOwner{})
	busy := busyOf(t, err)
	if !busy.Gone || busy.Owner.Pid != owner.Process.Pid || busy.Owner.Run != "r1" || !strings.Contains(busy.Error(), "has ended") {
		t.Errorf("%+v: %v", busy, busy)
	}
	in.Close() // the child ends
	l, err := s.Wait(ctx, 10*time.Second, store.LockSession, key.LockName(), store.LockOwner{})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// A child that was not given the lock does not keep it.
func TestLockIsCloseOnExec(t *testing.T) {
	s := fresh(t)
	l := take(t, s, store.LockRun, "r")
	cmd := command("hold")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); cmd.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "holding\n" {
		t.Fatal(line, err)
	}
	l.Close()
	take(t, s, store.LockRun, "r")
}
