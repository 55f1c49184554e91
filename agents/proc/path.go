package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// LookPath finds the program name in the PATH of env and returns its absolute path.
// Entries of PATH that are not absolute are not searched. A name with a slash is
// taken as a path, made absolute. Errors are *StartError.
func LookPath(name string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') || filepath.IsAbs(name) {
		abs, err := filepath.Abs(name)
		if err != nil {
			return "", &StartError{Reason: ErrNotFound, Name: name, Err: err}
		}
		return abs, checkProgram(name, abs)
	}
	dirs := lookup(env, "PATH")
	var unusable error
	for _, dir := range filepath.SplitList(dirs) {
		if !filepath.IsAbs(dir) || name == "" {
			continue
		}
		for _, file := range candidates(filepath.Join(dir, name), env) {
			err := checkProgram(name, file)
			if err == nil {
				return file, nil
			}
			if unusable == nil && errors.Is(err, ErrNotExecutable) {
				unusable = err
			}
		}
	}
	if unusable != nil {
		return "", unusable
	}
	if dirs == "" {
		dirs = "an empty PATH"
	}
	return "", &StartError{Reason: ErrNotFound, Name: name, Looked: name + " in " + dirs}
}

// lookup returns the last value of key in env, as the started program sees it.
func lookup(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && sameKey(k, key) {
			return v
		}
	}
	return ""
}

// checkProgram tells whether file can be run.
func checkProgram(name, file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &StartError{Reason: ErrNotFound, Name: name, Looked: file}
	case err != nil:
		return &StartError{Reason: ErrNotFound, Name: name, Looked: file, Err: err}
	case info.IsDir():
		return &StartError{Reason: ErrNotExecutable, Name: name, Path: file, Err: errors.New("it is a directory")}
	case !executable(file, info):
		return &StartError{Reason: ErrNotExecutable, Name: name, Path: file}
	}
	return nil
}

// program finds the file to run and checks the directory to run it in: a missing
// directory would otherwise look like a missing program.
func (o *Options) program() (string, error) {
	if len(o.Argv) == 0 || o.Argv[0] == "" {
		return "", &StartError{Reason: ErrNotFound, Name: o.name(), Err: errors.New("no program was named")}
	}
	if o.Dir != "" {
		info, err := os.Stat(o.Dir)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "chdir", Path: o.Dir, Err: errors.New("not a directory")}
		}
		if err != nil {
			return "", &StartError{Reason: ErrLaunch, Name: o.name(), Err: err}
		}
	}
	name := o.Argv[0]
	if strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		abs, err := filepath.Abs(filepath.Join(o.Dir, name)) // Join alone would make "x" of "./x"
		if err != nil {
			return "", &StartError{Reason: ErrNotFound, Name: o.name(), Err: err}
		}
		name = abs
	}
	path, err := LookPath(name, o.Env)
	var e *StartError
	if errors.As(err, &e) {
		e.Name = o.name()
	}
	return path, err
}
