package agenttest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that the page of evidence names is there.
func TestAcceptanceNamesTests(t *testing.T) {
	var code bytes.Buffer
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`([A-Za-z0-9_.]+)`").FindAllStringSubmatch(acceptancePage, -1)
	if len(names) < 40 {
		t.Fatalf("only %d tests are named", len(names))
	}
	for _, m := range names {
		name := m[1]
		if strings.HasSuffix(name, ".txtar") {
			if _, err := os.Stat(filepath.Join(root, "cmd", "xmd", "testdata", "script", name)); err != nil {
				t.Errorf("there is no script %s", name)
			}
		} else if strings.HasPrefix(name, "Test") && name != "TestReal" && !bytes.Contains(code.Bytes(), []byte("func "+name+"(")) {
			t.Errorf("there is no test %s", name)
		}
	}
}
