package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPathsStayInside(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, out, tmp := filepath.Join(base, "run"), filepath.Join(base, "run-out"), filepath.Join(base, "tmp")
	for _, d := range []string{filepath.Join(dir, "sub/deep"), out, tmp} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{
		"inner": "sub", "absolute": filepath.Join(dir, "sub"), "out": out, "up": "../run-out", "gone": filepath.Join(out, "new"),
		"ring": "ring2", "ring2": "ring", "sub/deep/top": "../..", "gone-in": "sub/new", "tmp": tmp,
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := &Runner{o: Options{Dir: dir}}
	for _, c := range []struct{ path, want string }{
		{"a", "run/a"}, {"./a//b/", "run/a/b"}, {"sub/../a", "run/a"}, {dir + "/x", "run/x"}, {"new/folders/f", "run/new/folders/f"},
		{"inner/f", "run/sub/f"}, {"absolute/f", "run/sub/f"}, {"inner/../f", "run/f"}, {"sub/deep/top/f", "run/f"}, {"gone-in", "run/sub/new"},
		{"new/../../run/f", "run/f"}, {tmp + "/f", "tmp/f"}, {"tmp/f", "tmp/f"}, {".", "run"}, {"...", "run/..."}, {"..a", "run/..a"},
		{"../x", ""}, {"sub/../../x", ""}, {out + "/f", ""}, {"out/f", ""}, {"up/f", ""}, {"out", ""}, {"gone", ""}, {"gone/deeper", ""},
		{"ring", ""}, {"ring/x", ""}, {"/etc/passwd", ""}, {"inner/../../run-out/f", ""}, {"sub/deep/top/../run-out", ""}, {"", ""},
		{"a\x00b", ""}, {"new/../../run-out/f", ""},
	} {
		got, err := r.inside(c.path, []string{tmp})
		if c.want == "" {
			if err == nil {
				t.Errorf("%q is taken as %s", c.path, got)
			}
			continue
		}
		if err != nil || got.String() != filepath.Join(base, c.want) {
			t.Errorf("%q: %s, %v; want %s", c.path, got, err, c.want)
		}
	}
	if _, err := r.inside("up/f", nil); err == nil || !strings.Contains(err.Error(), filepath.Join(out, "f")) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the error does not say where it leads: %v", err)
	}
	if _, err := r.inside("tmp/f", nil); err == nil {
		t.Error("a folder that is no TempDir of this place is taken")
	}
}
