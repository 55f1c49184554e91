package resolve

import (
	"slices"
	"strings"

	"xmd/lang"
	"xmd/lang/diag"
)

// File is a file that a document uses. Its Name is what messages print, and what the files that it uses itself are looked for
// from; one file has one name.
type File struct{ Name, Text string }

// Files gives the files that documents use. from is the name of the document that asks.
type Files interface {
	// Component finds the file of a component, found is false if there is none. An error means that there is one which cannot
	// be read; it is said at the place of its use, behind the file's name.
	Component(from, name string) (f File, found bool, err error)
	// Components lists the names of all component files that a document can use, for suggestions and because none may have the
	// name of a built-in component.
	Components(from string) []string
	// Schema reads the file of a schema. The path is relative to the document that names it.
	Schema(from, path string) (File, error)
}

// linker loads the files that a document and its components use, each once.
type linker struct {
	files   Files
	units   map[string]*Unit // by the name of the file; those that were resolved
	chain   []link           // the document and the components being resolved, outermost first
	schemas map[string]*schemaSource
	listed  map[string][]string
	clashed map[string]bool
	diags   diag.List // what is wrong with files
}

// link is one component being resolved.
type link struct{ name, file string }

func newLinker(files Files, root *diag.Source) *linker {
	return &linker{files: files, units: map[string]*Unit{}, schemas: map[string]*schemaSource{}, listed: map[string][]string{},
		clashed: map[string]bool{}, chain: []link{{root.Name, root.Name}}}
}

// names lists the component files that a document can use.
func (l *linker) names(from string) []string {
	if l.files == nil {
		return nil
	}
	list, ok := l.listed[from]
	if !ok {
		list = l.files.Components(from)
		l.listed[from] = list
	}
	return slices.Clone(list)
}

// clashes reports component files that are named like a built-in component.
func (l *linker) clashes(from string) {
	for _, name := range l.names(from) {
		if components[name] == nil {
			continue
		}
		f, found, err := l.files.Component(from, name)
		if !found && err == nil || l.clashed[f.Name] {
			continue
		}
		l.clashed[f.Name] = true
		var list diag.List
		list.Add(CodeBuiltinFile, diag.Span{}, "a component file cannot be named "+name+": the built-in component has this name", "rename the file")
		l.diags = append(l.diags, list.From(diag.NewSource(f.Name, f.Text))...)
	}
}

// component loads and resolves a component file. found is false if there is none; problem says why it cannot be used, "" with a
// nil Unit that it is part of itself, which chain then shows.
func (l *linker) component(from, name string) (u *Unit, found bool, problem string, cycle []string) {
	if l.files == nil {
		return nil, false, "", nil
	}
	f, found, err := l.files.Component(from, name)
	switch {
	case err != nil:
		return nil, true, strings.TrimSpace(f.Name + " cannot be read: " + err.Error()), nil
	case !found:
		return nil, false, "", nil
	}
	if i := slices.IndexFunc(l.chain, func(c link) bool { return c.file == f.Name }); i >= 0 {
		for _, c := range l.chain[i:] {
			cycle = append(cycle, c.name)
		}
		return nil, true, "", append(cycle, name)
	}
	if u := l.units[f.Name]; u != nil {
		return u, true, "", nil
	}
	l.chain = append(l.chain, link{name, f.Name})
	u = l.load(name, f)
	l.chain = l.chain[:len(l.chain)-1]
	l.units[f.Name] = u
	return u, true, "", nil
}

func (l *linker) load(name string, f File) *Unit {
	doc, list := lang.Parse(f.Name, f.Text)
	info, more := resolve(doc, Options{}, l)
	list = append(list, more...)
	for _, p := range info.Inputs.Props {
		if p.Name == "as" || p.Name == "slot" {
			list.Add(CodePropName, p.Pos, "a component cannot have a prop named "+p.Name, p.Name+" is an attribute that every component has")
		}
	}
	list.Sort()
	l.diags = append(l.diags, list.From(doc.Source)...)
	return &Unit{Name: name, Doc: doc, Info: info}
}

// schema reads and compiles a schema file once. problem says why it could not be read; what is wrong inside is among the
// linker's diagnostics.
func (l *linker) schema(from, path string) (s *schemaSource, problem string) {
	if l.files == nil {
		return nil, "cannot be read here"
	}
	f, err := l.files.Schema(from, path)
	if err != nil {
		return nil, "cannot be read: " + err.Error()
	}
	if s := l.schemas[f.Name]; s != nil {
		return s, ""
	}
	s = &schemaSource{source: diag.NewSource(f.Name, f.Text)}
	l.schemas[f.Name] = s
	var list diag.List
	s.schema, list = compileFile(s.source)
	l.diags = append(l.diags, list.From(s.source)...)
	return s, ""
}

// slotNames lists the slots that a component file has places for.
func (u *Unit) slotNames() []string {
	var names []string
	for name := range u.Info.slots {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
