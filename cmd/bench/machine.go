//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// machine is a line for each thing that figures depend on.
func (b *bench) machine() []string {
	out := []string{
		"**Processor**: " + processor() + ", " + strconv.Itoa(runtime.NumCPU()) + " cores",
		"**System**: " + runtime.GOOS + "/" + runtime.GOARCH + " " + first("uname", "-r") + ", state folders on " + filesystem(b.dir) + ", load when it began " + b.began,
		"**Go**: " + strings.TrimPrefix(runtime.Version(), "go"),
		"**xmd**: " + strings.TrimPrefix(first(b.xmd, "--version"), "xmd "),
	}
	if b.acpx == nil {
		return append(out, "**acpx**: not installed")
	}
	return append(out, "**acpx**: "+first(b.acpx.node, b.acpx.cli, "--version")+" on Node "+strings.TrimPrefix(first(b.acpx.node, "--version"), "v"))
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// filesystem is the kind that a folder is on: a sync costs nothing on some.
func filesystem(dir string) string {
	return first("stat", "-f", "-c", "%T", dir)
}

// loadAverage is that of the last minute: other work makes every time longer.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(text), " ")
	return average
}

// first is the first line that a program prints; "unknown" if it cannot be asked.
func first(args ...string) string {
	out, err := exec.Command(args[0], args[1:]...).Output()
	line, _, _ := bytes.Cut(out, []byte("\n"))
	if err != nil || len(line) == 0 {
		return "unknown"
	}
	return string(line)
}
