//go:build linux

package sim

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// process starts the agent as a process and waits until it has answered initialize, so that it is up.
func process(t *testing.T, home string, faults ...string) (*exec.Cmd, func() error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "--home", home)
	for _, f := range faults {
		cmd.Args = append(cmd.Args, "--fault", f)
	}
	cmd.Env = append(os.Environ(), "SIM_TEST_RUN=1", "GORACE=atexit_sleep_ms=0") // the race detector lingers otherwise
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "protocolVersion") {
		t.Fatalf("initialize gave %q, %v", line, err)
	}
	return cmd, in.Close
}

// ignored reports whether a process ignores a signal.
func ignored(t *testing.T, pid int, sig syscall.Signal) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "SigIgn:\t")
	line, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(line, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return mask&(1<<(sig-1)) != 0
}

func TestIgnoreTerm(t *testing.T) {
	cmd, _ := process(t, t.TempDir(), "ignore-term")
	if !ignored(t, cmd.Process.Pid, syscall.SIGTERM) {
		t.Error("SIGTERM is not ignored")
	}
	cmd, _ = process(t, t.TempDir())
	if ignored(t, cmd.Process.Pid, syscall.SIGTERM) {
		t.Error("a good agent ignores SIGTERM")
	}
}

func TestGrandchildStays(t *testing.T) {
	for _, options := range []string{"plain", "setsid", "setsid+stdout+stubborn"} {
		t.Run(options, func(t *testing.T) {
			home := t.TempDir()
			cmd, closeStdin := process(t, home, "grandchild="+options)
			b, err := os.ReadFile(filepath.Join(home, "grandchildren"))
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
			group, err := syscall.Getpgid(pid)
			if own := group == pid; err != nil || own != strings.Contains(options, "setsid") {
				t.Errorf("group %d of process %d, %v", group, pid, err)
			}
			stdout, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/1", pid))
			if holds := strings.HasPrefix(stdout, "pipe:"); holds != strings.Contains(options, "stdout") {
				t.Errorf("its stdout is %s", stdout)
			}
			for comm := ""; comm != "sleep\n"; { // the shell has set its signals then
				b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
				if err != nil {
					t.Fatal(err)
				}
				comm = string(b)
			}
			if got := ignored(t, pid, syscall.SIGTERM); got != strings.Contains(options, "stubborn") {
				t.Errorf("it ignores TERM: %v", got)
			}
			closeStdin()
			cmd.Process.Wait() // not cmd.Wait: it would wait for the end of a stdout that is held
			if err := syscall.Kill(pid, 0); err != nil {
				t.Errorf("the grandchild is gone with its parent: %v", err)
			}
		})
	}
}
