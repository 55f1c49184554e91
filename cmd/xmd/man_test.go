package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestManPage(t *testing.T) {
	const path = "../../man/xmd.1"
	var b bytes.Buffer
	if err := writeMan(&b); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, b.Bytes()) {
		t.Errorf("%s is not what the commands say (err %v); run: go test ./cmd/xmd -run ManPage -update", path, err)
	}
}

// The page reads well for those who set it: nothing of it is taken for a request that is none.
func TestManPageIsSet(t *testing.T) {
	var b bytes.Buffer
	if err := writeMan(&b); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(b.String(), "\n") {
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !strings.HasPrefix(line, ".TH ") && !strings.HasPrefix(line, ".S") &&
			!strings.HasPrefix(line, ".TP") && !strings.HasPrefix(line, ".B ") && !strings.HasPrefix(line, ".I ") && line != ".br" {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("there is no groff here")
	}
	cmd := exec.Command(groff, "-man", "-ww", "-Tutf8", "-z")
	cmd.Stdin = &b
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
