//go:build unix

package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"xmd/agents/proc"
	"xmd/agents/sim"
	"xmd/runtime"
)

// ownerKey holds, as JSON, what a test binary is to do that plays the owner of a conversation who gets killed.
const ownerKey = "AGENTTEST_OWNER"

type ownerOrder struct {
	Target string
	Place  Place
	Mark   string
	Lock   string
}

// Main is what TestMain of a package that uses the suite calls: the test binary is then also the guardian of its agents, the
// scripted agent, and the owner that Killed kills.
func Main(m *testing.M) {
	proc.GuardianMain()
	if len(os.Args) > 1 && os.Args[1] == "sim" {
		os.Exit(sim.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	if order := os.Getenv(ownerKey); order != "" {
		fmt.Fprintln(os.Stderr, "owner:", own(order))
		os.Exit(1) // it was to be killed
	}
	os.Exit(m.Run())
}

// own starts the agent under a lock and runs the prompts that leave a process and an open turn.
func own(order string) error {
	var o ownerOrder
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return err
	}
	target, err := targetNamed(o.Target)
	if err != nil {
		return err
	}
	lock, err := flocked(o.Lock)
	if err != nil {
		return err
	}
	ctx := context.Background()
	reach := target.At(stubborn{}, o.Place)
	c, err := reach.Agent.Start(ctx, runtime.StartOptions{
		Root: o.Place.Root, Env: append(reach.Env, markKey+"="+o.Mark), Locks: []*os.File{lock},
	})
	if err != nil {
		return err
	}
	if _, err := c.Open(ctx, ""); err != nil {
		return err
	}
	prompts := target.Script.Stay(filepath.Join(o.Place.Root, "stays"))
	for i, words := range prompts {
		if i == len(prompts)-1 {
			fmt.Println("ready") // the parent waits for the file too, if the target makes one
		}
		if _, err := c.Prompt(ctx, runtime.Turn{Words: words, Sink: func(runtime.Update) {}, Ask: allow}); err != nil {
			return err
		}
	}
	return fmt.Errorf("the turn of %s ended", o.Target)
}

// stubborn is the testing.TB of a process that is no test.
type stubborn struct{ testing.TB }

func (stubborn) Helper()                   {}
func (stubborn) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (stubborn) Name() string              { return "owner" }
func (stubborn) Skip(args ...any)          { panic(fmt.Sprint(args...)) }
func (stubborn) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// flocked opens and locks a file without waiting.
func flocked(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return f, nil
}

// Killed kills the process that owns a conversation in the middle of a turn whose tool runs, and checks that nothing of the
// agent stays and that the conversation's lock is not free before that.
func Killed(t *testing.T, target Target) {
	claim(t, target, colTeardown)
	if target.Script.Stay == nil {
		NotRun(t, "the target cannot be made to start a process")
	}
	if !hasProc() {
		NotRun(t, "processes cannot be found on this system")
	}
	p := newPlace(t, target)
	target.At(t, p.Place) // skips what is not installed
	lock := filepath.Join(p.Home, "lock")
	owner := p.owner(t, lock)
	within(t, "the agent's processes", func() bool {
		return len(Marked(p.mark)) >= 2 && (!target.Script.StayFiles || exists(p.file("stays")))
	})
	t.Logf("running:\n%v", Marked(p.mark))
	if f, err := flocked(lock); err == nil {
		_ = f.Close() // only to tell
		t.Fatal("the lock is free while the owner lives")
	}
	begun := time.Now()
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // it was killed
	within(t, "the lock", func() bool {
		f, err := flocked(lock)
		if err != nil {
			return false
		}
		defer f.Close()
		p.none(t)
		return true
	})
	t.Logf("free after %s", time.Since(begun).Round(time.Millisecond))
}

// owner starts this binary as the owner and waits until its last prompt goes out.
func (p *place) owner(t testing.TB, lock string) *exec.Cmd {
	t.Helper()
	order, err := json.Marshal(ownerOrder{p.target.Name, p.Place, p.mark, lock})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), ownerKey+"="+string(order))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // usually long dead
	if n, err := out.Read(make([]byte, 6)); n == 0 {
		t.Fatalf("the owner said nothing: %v", err)
	}
	return cmd
}
