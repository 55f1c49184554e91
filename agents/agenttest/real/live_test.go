package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Without a terminal nothing is run on anybody's account, whatever was piped in, and neither is it in CI.
func TestLiveRefuses(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	xmd := filepath.Join(t.TempDir(), "xmd")
	if err := os.WriteFile(xmd, []byte("#!/bin/sh\ntouch '"+ran+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("yes\n"); err != nil {
		t.Fatal(err)
	}
	_ = w.Close() // the reader sees the rest
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, c := range map[string]struct {
		person
		agent, says string
	}{
		"a pipe that says yes": {person{in: r}, "codex", "no terminal"},
		"nothing":              {person{in: null}, "codex", "no terminal"},
		"CI":                   {person{in: r, env: []string{"CI=true"}}, "codex", "never runs in CI"},
		"no agent":             {person{in: r}, "", "AGENT="},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c.out = &out
			err := live(t.Context(), c.person, c.agent, xmd, "continue.xmd")
			if err == nil || !strings.Contains(err.Error(), c.says) || out.Len() > 0 {
				t.Errorf("%v, said %q", err, out.String())
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("it ran")
			}
		})
	}
}
