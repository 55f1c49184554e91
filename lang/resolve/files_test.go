package resolve_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/lang/resolve"
)

// folder gives the files of a folder as the command does: beside the file that uses one, beside the document, then in lib.
type folder struct{ dir string }

func (f folder) places(from string) []string {
	return []string{filepath.Join(filepath.Dir(from), "components"), "components", "lib/components"}
}

func (f folder) Component(from, name string) (resolve.File, bool, error) {
	for _, dir := range f.places(from) {
		for _, ext := range []string{".xmd", ".md"} {
			path := filepath.Join(dir, strings.ReplaceAll(name, ".", "/")+ext)
			if name == "Locked" {
				return resolve.File{Name: path}, false, errors.New("permission denied")
			}
			text, err := os.ReadFile(filepath.Join(f.dir, path))
			if err == nil {
				return resolve.File{Name: path, Text: string(text)}, true, nil
			}
		}
	}
	return resolve.File{}, false, nil
}

func (f folder) Components(from string) (names []string) {
	for _, dir := range f.places(from) {
		root := filepath.Join(f.dir, dir)
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err == nil && !d.IsDir() && (ext == ".xmd" || ext == ".md") {
				rel, _ := filepath.Rel(root, strings.TrimSuffix(path, ext))
				names = append(names, strings.ReplaceAll(rel, "/", "."))
			}
			return nil
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (f folder) Schema(from, path string) (resolve.File, error) {
	path = filepath.Join(filepath.Dir(from), path)
	text, err := os.ReadFile(filepath.Join(f.dir, path))
	if err != nil {
		return resolve.File{}, errors.New("there is no such file")
	}
	return resolve.File{Name: path, Text: string(text)}, nil
}

// TestFiles compares what is said about documents that use files with the golden of each folder.
func TestFiles(t *testing.T) {
	dirs, err := filepath.Glob("testdata/files/*/main.xmd")
	if err != nil || len(dirs) == 0 {
		t.Fatal(dirs, err)
	}
	for _, main := range dirs {
		dir := filepath.Dir(main)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(main)
			if err != nil {
				t.Fatal(err)
			}
			got := check("main.xmd", string(text), resolve.Options{Files: folder{dir}})
			golden := filepath.Join(dir, "golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("is now:\n%s", got)
			}
			if again := check("main.xmd", string(text), resolve.Options{Files: folder{dir}}); again != got {
				t.Error("not the same twice")
			}
		})
	}
}
