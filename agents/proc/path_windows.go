package proc

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// candidates adds the extensions that make a file a program.
func candidates(file string, env []string) []string {
	if filepath.Ext(file) != "" {
		return []string{file}
	}
	list := lookup(env, "PATHEXT")
	if list == "" {
		list = ".com;.exe;.bat;.cmd"
	}
	var out []string
	for _, ext := range strings.Split(list, ";") {
		out = append(out, file+strings.ToLower(ext))
	}
	return out
}

func sameKey(a, b string) bool { return strings.EqualFold(a, b) }

func executable(string, fs.FileInfo) bool { return true }
