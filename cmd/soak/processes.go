//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one of a life. They are found by a variable that everything of a life inherits, whatever group, session or parent it has.
type process struct {
	pid, parent int
	line        string
	role        string // xmd, guardian, agent, grandchild
}

// marked are the processes that run with this variable in their environment.
func marked(mark string) (found []process) {
	want := append([]byte(mark), 0)
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append(env, 0), want) {
			continue
		}
		if p, ok := look(filepath.Dir(file)); ok {
			found = append(found, p)
		}
	}
	return found
}

// look reads one process; false for one that has ended, or waits to be collected.
func look(dir string) (p process, ok bool) {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	_, rest, found := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	words := strings.Fields(rest)
	if err != nil || !found || len(words) < 2 || words[0] == "Z" || words[0] == "X" {
		return p, false
	}
	p.pid, _ = strconv.Atoi(filepath.Base(dir))
	p.parent, _ = strconv.Atoi(words[1])
	p.line = strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
	p.role = role(p.line)
	return p, true
}

// role is what a command line is in a run.
func role(line string) string {
	words := append(strings.Fields(line), "", "")
	own := filepath.Base(words[0]) == "xmd"
	switch {
	case own && strings.HasPrefix(words[1], "__"):
		return "guardian"
	case own && words[1] == "sim":
		return "agent"
	case own && words[1] != "door-shim":
		return "xmd"
	}
	return "grandchild"
}

// below are those that descend from a process.
func below(all []process, root int) (found []process) {
	under := []int{root}
	for i := 0; i < len(under); i++ {
		for _, p := range all {
			if p.parent == under[i] && !slices.Contains(under, p.pid) {
				under = append(under, p.pid)
				found = append(found, p)
			}
		}
	}
	return found
}

// gone waits until nothing of a life runs any more, at most so long, and gives what does.
func gone(mark string, limit time.Duration) []process {
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) { // nothing tells of the end of a process that is not a child
		left := marked(mark)
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

func describe(list []process) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "\n  %d (parent %d, %s) %s", p.pid, p.parent, p.role, p.line)
	}
	return b.String()
}

func killAll(list []process) {
	for _, p := range list {
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
}
