//go:build linux

package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// built has the agent, the floor and the launcher.
func built(t *testing.T) (*bench, *place) {
	b := &bench{dir: t.TempDir(), xmd: "/bin/sh", only: regexp.MustCompile("")}
	if err := b.programs(); err != nil {
		t.Fatal(err)
	}
	p, err := b.place("place")
	if err != nil {
		t.Fatal(err)
	}
	return b, p
}

// TestPrograms: the floor writes what the agent says, and what is lost, left behind or went wrong is found.
func TestPrograms(t *testing.T) {
	b, p := built(t)
	s, err := p.bare("NUMBERED 1000 20", 2, chunks(2, 1000, 20, true))
	if err != nil || s.took <= 0 || s.cpu <= 0 || s.peak < mib || s.peak > 100*mib {
		t.Errorf("%+v, %v", s, err)
	}
	for words, want := range map[string]want{
		"ping": exactly("pong: 1pong: 2"), "CHUNKS 3 7": chunks(2, 3, 7, false), "TOOLS 3": exactly("donedone"), "JUNK": {}, "ERR": {}, "CRASH": {},
	} {
		_, err := p.bare(words, 2, want)
		if bad := words == "JUNK" || words == "ERR" || words == "CRASH"; (err != nil) != bad {
			t.Errorf("%s: %v", words, err)
		}
	}
	if _, err := p.bare("CHUNKS 3 20", 1, chunks(1, 4, 20, false)); err == nil || !strings.Contains(err.Error(), "60 bytes, and 80") {
		t.Errorf("a loss is not found: %v", err)
	}
	if err := b.gone(); err != nil {
		t.Error(err)
	}
}

// TestLeft: a process that outlives what started it is found.
func TestLeft(t *testing.T) {
	b, p := built(t)
	_, err := p.command(want{}, "-c", "sleep 600 & echo $!")
	if err == nil || !strings.Contains(err.Error(), "sleep 600") {
		t.Errorf("what stayed is not found: %v", err)
	}
	text, err := os.ReadFile(p.out())
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); b.gone() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(b.gone())
		}
	}
}

// TestExit: how a program ended is told, also by a signal.
func TestExit(t *testing.T) {
	b, p := built(t)
	for script, want := range map[string]int{"exit 7": 7, "kill -9 $$": 137} {
		r, err := b.start(p.program(b.xmd, "-c", script))
		if err != nil {
			t.Fatal(err)
		}
		if o, err := r.wait(); err != nil || o.code != want {
			t.Errorf("%s: %d, %v", script, o.code, err)
		}
	}
}
