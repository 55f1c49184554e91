package agenttest

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// markKey is a variable in the environment of an agent and of all that it starts, by which they are found again whatever
// group, session or parent they moved to.
const markKey = "AGENTTEST_MARK"

func newMark() string { return rand.Text() }

// Marked lists the running processes with that mark in their environment, each as "pid command line". It is empty where the
// system has no /proc.
func Marked(mark string) []string {
	want := []byte(markKey + "=" + mark)
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, file := range environs {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, want) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || ended(pid) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		found = append(found, fmt.Sprintf("%d %s", pid, strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")))
	}
	return found
}

// ended says that a process is only waiting to be collected by its parent.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// none fails the test if a process of the place runs.
func (p *place) none(t testing.TB) {
	t.Helper()
	if left := Marked(p.mark); len(left) > 0 {
		t.Errorf("%d processes are left:\n%s", len(left), strings.Join(left, "\n"))
	}
}

// within waits until done says so. It looks again and again because what it waits for, a file or a process of a program
// that is not ours, sends no notice.
func within(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(turnLimit); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", turnLimit, what)
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// realDir is a new folder without symbolic links in its path.
func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
