package sim

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// acpx, a client nobody here wrote, drives the built binary: prompt, resume and load in new processes, cancel. It needs
// XMD_REAL=1, XMD_REAL_NODE22 (a node of version 22), XMD_REAL_ACPX (acpx's dist/cli.js) and XMD_REAL_BIN (xmd).
func TestRealACPX(t *testing.T) {
	if os.Getenv("XMD_REAL") != "1" {
		t.Skip("set XMD_REAL=1, XMD_REAL_NODE22, XMD_REAL_ACPX and XMD_REAL_BIN")
	}
	for _, method := range []string{"session/resume", "session/load"} {
		t.Run(method, func(t *testing.T) { driveACPX(t, method) })
	}
}

func driveACPX(t *testing.T, method string) {
	x := acpxRun{t: t, home: t.TempDir(), cwd: t.TempDir()}
	agent := []string{os.Getenv("XMD_REAL_BIN"), "sim", "--home", filepath.Join(x.home, "sim")}
	if method == "session/load" { // acpx resumes where it can
		agent = append(agent, "--fault", "no-resume")
	}
	x.agent = strings.Join(agent, " ")
	x.want("", "sessions", "new", "--name", "demo")
	x.want("turn 1: My codeword is ZEBRA.", "--format", "quiet", "prompt", "-s", "demo", "My codeword is ZEBRA.")
	x.awaitIdle()
	// A new agent process: the word can only come from the session's file.
	said := x.want("The codeword is ZEBRA.", "--format", "json", "prompt", "-s", "demo", question)
	if !strings.Contains(said, `"method":"`+method+`"`) || strings.Contains(said, `"session/new"`) {
		t.Errorf("the second prompt did not go through %s:\n%s", method, said)
	}
	x.awaitIdle()
	x.cancelled()
	x.awaitIdle()
}

// acpxRun is acpx with its own home and directory. --ttl 1: its background process ends after a second without work.
type acpxRun struct {
	t         *testing.T
	home, cwd string
	agent     string // the command line of the agent
}

func (x *acpxRun) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(x.t.Context(), 2*time.Minute)
	x.t.Cleanup(cancel)
	args = append([]string{os.Getenv("XMD_REAL_ACPX"), "--cwd", x.cwd, "--ttl", "1", "--agent", x.agent}, args...)
	cmd := exec.CommandContext(ctx, os.Getenv("XMD_REAL_NODE22"), args...)
	cmd.Env = append(os.Environ(), "HOME="+x.home)
	cmd.Dir = x.cwd
	return cmd
}

// want runs acpx and wants this text in its output.
func (x *acpxRun) want(text string, args ...string) string {
	x.t.Helper()
	cmd := x.command(args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), text) {
		x.t.Fatalf("acpx %s: %v\nstdout: %s\nstderr: %s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// awaitIdle waits until acpx's background process and with it the agent are gone: it keeps a lock file while it lives.
func (x *acpxRun) awaitIdle() {
	x.t.Helper()
	deadline := time.After(time.Minute)
	for {
		locks, err := filepath.Glob(filepath.Join(x.home, ".acpx", "queues", "*.lock"))
		if err == nil && len(locks) == 0 {
			return
		}
		select {
		case <-deadline:
			x.t.Fatalf("acpx's background process stays: %v", locks)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// cancelled starts a long prompt and cancels it from a second acpx once it was sent.
func (x *acpxRun) cancelled() {
	x.t.Helper()
	cmd := x.command("--format", "json", "prompt", "-s", "demo", "SLEEP 110000")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"method":"session/prompt"`) {
			x.want("cancel requested", "cancel", "-s", "demo")
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), `"stopReason":"cancelled"`) {
		x.t.Errorf("the cancelled prompt: %v\n%s", err, &said)
	}
}
