package main

import (
	"os"
	"testing"

	"xmd/agents/door"
)

// The shim's address and key are gone from the environment before anything is read.
func TestDoorShimClearsItsEnvironment(t *testing.T) {
	t.Setenv(door.EnvAddress, "http://127.0.0.1:9/mcp")
	t.Setenv(door.EnvKey, "0123456789abcdef")
	stdin, stdout := openNull(t), openNull(t)
	p := &program{args: []string{door.ShimCommand}, env: os.Environ(), stdin: stdin, stdout: stdout, stderr: stdout}
	if code := run(p); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, name := range []string{door.EnvAddress, door.EnvKey} {
		if v, there := os.LookupEnv(name); there {
			t.Errorf("%s is still there: %s", name, v)
		}
		if v, there := p.env.lookup(name); there {
			t.Errorf("the program still has %s: %s", name, v)
		}
	}
}

func openNull(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
