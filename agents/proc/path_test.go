//go:build unix

package proc

import (
	"os"
	"path/filepath"
	"reflect"
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

func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	os.MkdirAll(at("lib/pkg"), 0o700)
	os.MkdirAll(at("bin"), 0o700)
	write(t, at("lib/pkg/cli.js"), "text", 0o700)
	for link, to := range map[string]string{"bin/tool": "../lib/tool", "lib/tool": "pkg/cli.js", "dir": "lib", "loop": "loop", "gone": "nothing"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	cases := []struct {
		path  string
		links []string
	}{
		{"bin/tool", []string{at("bin/tool"), at("lib/tool")}},
		{"dir/tool", []string{at("dir/tool")}},
		{"lib/pkg/cli.js", nil},
	}
	for _, tc := range cases {
		f, err := Resolve(at(tc.path))
		if err != nil || !reflect.DeepEqual(f.Links, tc.links) || f.Real != at("lib/pkg/cli.js") || f.Info.Size() != 4 {
			t.Errorf("%s: %+v, %v", tc.path, f, err)
		}
	}
	for _, bad := range []string{"loop", "gone", "none"} {
		if f, err := Resolve(at(bad)); err == nil {
			t.Errorf("%s: %+v", bad, f)
		}
	}
}
