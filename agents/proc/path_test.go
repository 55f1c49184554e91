//go:build unix

package proc

import (
	"path/filepath"
	"testing"
)

func TestLookPath(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	write(t, filepath.Join(a, "tool"), "", 0o600) // not executable: the next one counts
	tool := write(t, filepath.Join(b, "tool"), "", 0o700)
	env := []string{"PATH=/wrong", "X=PATH=", "PATH=:.:" + a + ":" + b}
	if got, err := LookPath("tool", env); got != tool || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	t.Chdir(b)
	if got, err := LookPath("./tool", nil); got != tool || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := LookPath("tool", []string{"PATH=.::bin"}); err == nil {
		t.Errorf("found %q in a relative entry", got)
	}
}
