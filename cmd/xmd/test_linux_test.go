package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hanging is a test in which an agent, a program and another document's agent work and do not end.
const hanging = `<Test name="quick">x</Test>
<Test name="hangs"><TestAgent><Parallel>
<Run src="doc.xmd" as="r"/>
<Prompt>HANG</Prompt>
` + "```sh exec\nsleep 61\n```" + `
</Parallel></TestAgent></Test>
<Test name="later"><TestAgent><Prompt>HANG</Prompt></TestAgent></Test>
`

// TestEndsOfTests: whatever ends xmd test, nothing of what its tests started stays; a signal leaves no folder either.
func TestEndsOfTests(t *testing.T) {
	for _, c := range []struct {
		sig  syscall.Signal
		code int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGKILL, 137}} {
		t.Run(c.sig.String(), func(t *testing.T) {
			home, tmp := t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", tmp)
			for name, text := range map[string]string{"a.test.xmd": hanging, "doc.xmd": `<Prompt agent="codex">HANG</Prompt>`} {
				if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			x := startIn(t, home, "", "test", "-j", "2", "a.test.xmd")
			x.await("quick")
			x.awaitProcesses(" sim ", 6) // with their guardians
			x.signal(c.sig)
			var rest strings.Builder
			_, _ = x.stdout.WriteTo(&rest)
			if got := x.code(); got != c.code {
				t.Errorf("exit code %d, want %d; stderr: %s", got, c.code, x.stderr.String())
			}
			x.gone()
			if c.sig == syscall.SIGKILL {
				return
			}
			if !strings.Contains(rest.String(), "-     a.test.xmd: hangs (did not end)\n-     a.test.xmd: later (did not end)\n\n1 passed, 2 did not end (") {
				t.Errorf("got %s", rest.String())
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}

// awaitProcesses waits until n processes that xmd started have a command line with a text. Programs of exec blocks do not count: their
// environment does not hold the mark.
func (x *started) awaitProcesses(text string, n int) {
	x.t.Helper()
	end := time.Now().Add(20 * time.Second)
	for {
		left := strings.Join(x.left(), "\n")
		if strings.Count(left, text) >= n {
			return
		}
		if time.Now().After(end) {
			x.t.Fatalf("there are only %s; stderr: %s", left, x.stderr.String())
		}
		time.Sleep(5 * time.Millisecond) // polling the process table; nothing else tells
	}
}
