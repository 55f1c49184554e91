package link

import (
	"context"
	"os"
	"testing"

	"xmd/agents/proc"
	"xmd/runtime"
)

func TestMain(m *testing.M) {
	proc.GuardianMain()
	os.Exit(m.Run())
}

// ended is a process that is gone.
type ended struct{}

func (ended) Hold(context.Context, *os.File) error { return nil }
func (ended) Stop(context.Context) error           { return nil }
func (ended) Ending() string                       { return "exit code 3" }
func (ended) LastWords(int) []string               { return []string{"last", "two"} }
func (ended) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// A process is started in its root, says how it ended, and is gone after Close.
func TestLaunch(t *testing.T) {
	l := Link{Info: runtime.AgentInfo{Name: "a", Shown: "A", Command: []string{"/bin/sh", "-c", "echo $PWD $X; cat; exit 3"}}}
	root, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	stdout, stdin, err := l.Launch(t.Context(), []string{"X=y", "PATH=" + os.Getenv("PATH")}, 0, runtime.StartOptions{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 200)
	n, _ := stdout.Read(buf)
	if got := string(buf[:n]); got != root+" y\n" {
		t.Errorf("%q", got)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if how := l.Ending(); how != "exit code 3" {
		t.Errorf("ended with %q", how)
	}
	stdout.Close()
	l.Info.Command = []string{"/nowhere/agent"}
	if _, _, err := l.Launch(t.Context(), nil, 0, runtime.StartOptions{Root: root}); runtime.KindOf(err) != runtime.KindUnavailable {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Launch(ctx, nil, 0, runtime.StartOptions{Root: root}); runtime.KindOf(err) != runtime.KindCancelled {
		t.Errorf("%v", err)
	}
}
