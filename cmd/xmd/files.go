package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"xmd/lang/plan"
)

// documentFiles finds the component files and schema files that documents use: beside the file that uses them, beside the root
// document, then in the folders of --include. It reads files and nothing else.
type documentFiles struct {
	root    string // the root document's folder
	include []string
	read    func(path string) ([]byte, error)
	list    bool // folders may be looked through for suggestions
}

var _ plan.Files = documentFiles{}

// filesOf are the files of a document by its name; stdin and REPL entries count as lying in xmd's own folder.
func filesOf(name string, include []string) documentFiles {
	return documentFiles{root: filepath.Dir(name), include: include, read: os.ReadFile, list: true}
}

// folders are where a component that from uses may lie, in the order in which they are looked at.
func (d documentFiles) folders(from string) []string {
	folders := []string{filepath.Join(filepath.Dir(from), "components"), filepath.Join(d.root, "components")}
	for _, dir := range d.include {
		folders = append(folders, filepath.Join(dir, "components"), dir)
	}
	var once []string
	for _, f := range folders {
		if !slices.Contains(once, f) {
			once = append(once, f)
		}
	}
	return once
}

// extensions are those of component files, in the order in which they are looked for.
var extensions = []string{".xmd", ".md"}

// Component finds the file of a component; A.B is A/B.xmd.
func (d documentFiles) Component(from, name string) (plan.SourceFile, bool, error) {
	rel := filepath.FromSlash(strings.ReplaceAll(name, ".", "/"))
	for _, dir := range d.folders(from) {
		for _, ext := range extensions {
			path := filepath.Join(dir, rel+ext)
			text, err := d.read(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return plan.SourceFile{Name: path, Text: string(text)}, true, plainError(err)
		}
	}
	return plan.SourceFile{}, false, nil
}

// plainError is an error of reading without the path, which its reader says already.
func plainError(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// componentName is the form of a component's name.
var componentName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(\.[A-Z][A-Za-z0-9]*)*$`)
})

// maxComponents bounds how many files are listed for suggestions: an include folder may be anything.
const maxComponents = 2000

// Components lists the names of all component files that from can use.
func (d documentFiles) Components(from string) []string {
	var names []string
	if !d.list {
		return nil
	}
	for _, dir := range d.folders(from) {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || len(names) >= maxComponents {
				return fs.SkipAll
			}
			ext := filepath.Ext(path)
			if e.IsDir() || !slices.Contains(extensions, ext) {
				return nil
			}
			rel, err := filepath.Rel(dir, strings.TrimSuffix(path, ext))
			name := strings.ReplaceAll(filepath.ToSlash(rel), "/", ".")
			if err == nil && componentName().MatchString(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
			return nil
		})
	}
	slices.Sort(names)
	return names
}

// Schema reads the file of a schema, relative to the document that names it.
func (d documentFiles) Schema(from, path string) (plan.SourceFile, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(from), path)
	}
	text, err := d.read(path)
	return plan.SourceFile{Name: path, Text: string(text)}, plainError(err)
}
