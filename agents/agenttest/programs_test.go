package agenttest

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// The table of programs says what the lock files pin, and the locks name no place that packages come from.
func TestPins(t *testing.T) {
	listed := map[string]bool{}
	for _, p := range Programs() {
		listed[p.Name] = true
		data, err := p.manifest("package-lock.json")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(`"resolved"`)) {
			t.Errorf("%s: the lock file names addresses", p.Name)
		}
		var lock struct {
			Packages map[string]struct {
				Version              string
				Dependencies         map[string]string
				OptionalDependencies map[string]string
			}
		}
		if err := json.Unmarshal(data, &lock); err != nil {
			t.Fatal(err)
		}
		root := lock.Packages[""]
		for _, direct := range []map[string]string{root.Dependencies, root.OptionalDependencies} {
			for name, want := range direct {
				if got := lock.Packages["node_modules/"+name].Version; got != want || want != p.Version {
					t.Errorf("%s: %s is %q in the lock, %q in its root, %q in the table", p.Name, name, got, want, p.Version)
				}
			}
		}
	}
	folders, err := fs.Glob(manifests, "real/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if !listed[path.Base(f)] {
			t.Errorf("%s is in no row of the table", f)
		}
	}
}

// fakeNPM is a PATH whose npm runs this shell script in the folder of the install, and an empty cache.
func fakeNPM(t *testing.T, script string) (p Program, calls func() int) {
	t.Helper()
	bin, cache := t.TempDir(), t.TempDir()
	count := filepath.Join(bin, "calls")
	npm := "#!/bin/sh\necho call >> " + count + "\n" + script
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(npm), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XMD_REAL_CACHE", cache)
	p, err := FindProgram("codex-0.162.1")
	if err != nil {
		t.Fatal(err)
	}
	return p, func() int { data, _ := os.ReadFile(count); return bytes.Count(data, []byte("call")) }
}

const makeBin = "mkdir -p node_modules/.bin && touch node_modules/.bin/codex\n"

func TestInstall(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		calls  int
		fails  string
	}{
		"at once":         {makeBin, 1, ""},
		"at the second":   {`[ $(wc -l < "$(dirname "$0")/calls") = 2 ] || { echo "npm error network down" >&2; exit 1; }` + "\n" + makeBin, 2, ""},
		"never":           {"echo npm error code E404 >&2; exit 1\n", 2, "code E404"},
		"without command": {"exit 0\n", 2, "no command"},
	} {
		t.Run(name, func(t *testing.T) {
			p, calls := fakeNPM(t, c.script)
			var log strings.Builder
			bin, err := p.Install(t.Context(), &log)
			if calls() != c.calls {
				t.Errorf("npm ran %d times, want %d", calls(), c.calls)
			}
			cache, _ := CacheDir()
			if left, _ := filepath.Glob(filepath.Join(cache, ".tmp*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if c.fails != "" {
				if _, none := p.Installed(); err == nil || none == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("error %v, installed: %v; want %q", err, none == nil, c.fails)
				}
				return
			}
			if found, _ := p.Installed(); err != nil || found != bin || !exists(bin) {
				t.Fatalf("installed %q, found %q, %v", bin, found, err)
			}
			if _, err := p.Install(t.Context(), &log); err != nil || calls() != c.calls {
				t.Errorf("installing again: %v, %d calls", err, calls())
			}
		})
	}
}

// A folder without the marker is what a killed installer left, and is replaced.
func TestInstallReplacesUnfinished(t *testing.T) {
	p, _ := fakeNPM(t, makeBin)
	cache, err := CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := p.Dir(cache)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "node_modules", ".bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "node_modules", ".bin", "codex"), []byte("half"))
	if _, err := p.Installed(); err == nil {
		t.Error("an unfinished install counts")
	}
	var log strings.Builder
	bin, err := p.Install(t.Context(), &log)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, bin); len(got) != 0 {
		t.Errorf("the old command is still there: %q", got)
	}
}
