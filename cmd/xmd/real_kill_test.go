//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/agents/agenttest"
	"xmd/runtime/store"
)

// kill -9 of xmd while the agent runs a command: nothing of its tree is left when the session's lock is free.
func TestRealKill9(t *testing.T) { forRealAgents(t, killed9Shown, killed9) }

const killed9Shown = "kill -9 of xmd in a turn leaves nothing, then recover"

func killed9(t *testing.T, p *person) {
	p.remember()
	mark := "AGENTTEST_MARK=" + rand.Text()
	p.env = append(p.env, mark)
	file := filepath.Join(p.place.Root, "made")
	doc := p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\">SAY I will run it now.\nASK touch %s && tail -f /dev/null</Prompt>\n", p.a.name, file))
	cmd := p.command("run", doc, "--approve-all")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the agent did not run its command")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	p.lockOutlives(strings.TrimPrefix(mark, "AGENTTEST_MARK="))
	busy := p.xmd("", "run", p.doc(fmt.Sprintf("<Prompt agent=%q session=\"s\">%s</Prompt>\n", p.a.name, codewordQuestion)))
	if busy.code != 5 || !strings.Contains(busy.stderr, "[recovery-required]") {
		t.Fatalf("before recover: %+v", busy)
	}
	got := p.xmd("", "sessions", "recover", "s")
	if got.code != 0 || !strings.Contains(got.stdout, "is in "+p.a.shown+"'s history") {
		t.Fatalf("recover: %+v", got)
	}
	p.want(p.xmd("", "run", "doc.xmd"), "CODEWORD=HERON\n")
}

// lockOutlives takes the session's lock as soon as it is free: by then no process may be left.
func (p *person) lockOutlives(mark string) {
	p.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(p.place.Home, "state", "xmd")})
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	key := store.SessionKey{Agent: p.a.name, Session: "s", Root: p.place.Root}
	lock, err := s.Wait(context.Background(), 30*time.Second, store.LockSession, key.LockName(), store.LockOwner{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	for _, line := range agenttest.Marked(mark) {
		if !strings.Contains(line, "__guardian") {
			p.t.Errorf("the lock is free, and still there: %s", line)
		}
	}
}
