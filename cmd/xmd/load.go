package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/plan"
	"xmd/lang/syntax"
	"xmd/lang/target"
	"xmd/runtime"
)

// CodeAgent is the code of a document that names an agent which is neither built in nor configured.
const CodeAgent = "XMD1601"

// looksLikeFile says whether a first word that is no command is a document.
func looksLikeFile(word string) bool {
	if strings.HasSuffix(word, ".xmd") || strings.HasSuffix(word, ".md") || strings.ContainsAny(word, "/#") {
		return true
	}
	info, err := os.Stat(word)
	return err == nil && info.Mode().IsRegular()
}

// document is a file as it was read, and the part of it that is meant.
type document struct {
	name, text string
	target     string // "": all of it
	files      documentFiles
}

// splitTarget takes FILE#Target apart, at the first # before which the name of a file stands. A file that is named like the whole is meant as
// such.
func splitTarget(path string) (name, part string, err error) {
	if _, err := os.Stat(path); err == nil || !strings.Contains(path, "#") {
		return path, "", nil
	}
	name, part, _ = strings.Cut(path, "#")
	for i := strings.IndexByte(path, '#'); i < len(path); i++ {
		if path[i] != '#' {
			continue
		}
		if _, err := os.Stat(path[:i]); err == nil {
			name, part = path[:i], path[i+1:]
			break
		}
	}
	if part == "" {
		return "", "", runtime.Errorf(runtime.KindUsage, "%s# names no target; xmd run %s --help lists them", name, name)
	}
	return name, part, nil
}

// load reads a document; "-" is stdin, which can be read once.
func (p *program) load(path string, include []string) (document, error) {
	path, part, err := splitTarget(path)
	if err != nil {
		return document{}, err
	}
	var data []byte
	if path == "-" {
		data, err = io.ReadAll(p.stdin)
		path = "stdin"
	} else {
		data, err = os.ReadFile(path)
	}
	var pathErr *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return document{}, runtime.Errorf(runtime.KindInvalid, "%s: there is no such file", path)
	case errors.As(err, &pathErr):
		return document{}, runtime.Errorf(runtime.KindInvalid, "%s cannot be read: %w", path, pathErr.Err)
	case err != nil:
		return document{}, runtime.Errorf(runtime.KindInvalid, "%s cannot be read: %w", path, err)
	}
	return document{name: path, text: string(data), target: part, files: filesOf(path, include)}, nil
}

// compile does everything that can be done with a document before it runs. The plan is nil when the list has errors. The error says that
// a document without errors has no such target.
func compile(doc document) (*plan.Plan, *diag.Source, diag.List, error) {
	tree, list := lang.Parse(doc.name, doc.text)
	p, more, err := compileTree(tree, doc)
	list = append(list, more...)
	list.Sort()
	switch {
	case list.HasErrors():
		return nil, tree.Source, list, nil
	case err != nil:
		return nil, tree.Source, list, runtime.Errorf(runtime.KindUsage, "%w", err)
	}
	return p, tree.Source, list, nil
}

func compileTree(tree *syntax.Document, doc document) (*plan.Plan, diag.List, error) {
	compiler := plan.Compiler{Files: doc.files}
	if doc.target != "" {
		return target.Compile(compiler, tree, doc.target)
	}
	p, list := compiler.Compile(tree)
	return p, list, nil
}

// checkAgents finds the agents that a plan names and this machine does not know. Whether a known one is installed shows when it is
// used: a document may name agents that a run never reaches.
func (h *host) checkAgents(p *plan.Plan) diag.List {
	var list diag.List
	if p == nil || len(p.Tests()) > 0 { // those of a test are scripted, whatever their names
		return list
	}
	for _, use := range p.Agents() {
		if use.Value == "" {
			continue
		}
		if _, err := h.reach().Lookup(use.Value); err != nil && runtime.KindOf(err) == runtime.KindInvalid {
			list.Add(CodeAgent, use.Pos, err.Error(), "")
			list[len(list)-1].Source = use.Source
		}
	}
	return list
}

// bindProps takes the document's props from flags, variables and defaults.
func (p *program) bindProps(c *call, compiled *plan.Plan) (map[string]any, error) {
	src := plan.PropSources{Lookup: p.env.lookup}
	for _, a := range c.props {
		src.Flags = append(src.Flags, plan.PropFlag{Name: a.name, Value: a.value, Bare: !a.hasValue})
	}
	if text := c.String("props"); text != "" {
		object := plan.PropObject{From: "--props", Text: text}
		if file, ok := strings.CutPrefix(text, "@"); ok {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, runtime.Errorf(runtime.KindUsage, "--props: the file %s cannot be read: %w", file, plainError(err))
			}
			object = plan.PropObject{From: "--props " + text, Text: string(data)}
		}
		src.Objects = append(src.Objects, object)
	}
	props, errs := plan.BindProps(compiled.Inputs, src)
	if len(errs) == 0 {
		return props, nil
	}
	var lines []string
	for _, e := range errs {
		line := e.Message
		if e.Hint != "" {
			line += "; " + e.Hint
		}
		lines = append(lines, line)
	}
	return nil, runtime.Errorf(runtime.KindUsage, "%s: %s", compiled.Source.Name, strings.Join(lines, "\n"+compiled.Source.Name+": "))
}

// variables are the environment variables that a run's documents name, as they were when it began. One that is not set is not there.
type variables map[string]string

func (v variables) lookup(name string) (string, bool) {
	text, ok := v[name]
	return text, ok
}

// variablesOf takes the names under env: of a document and of its component files from the environment.
func (p *program) variablesOf(compiled *plan.Plan) variables {
	vars := variables{}
	for _, doc := range compiled.Documents() {
		for _, e := range doc.Inputs.Env {
			if v, ok := p.env.lookup(e.Name); ok {
				vars[e.Name] = v
			}
		}
	}
	return vars
}

// variablesWith adds those that the documents name and the run does not know yet.
func (p *program) variablesWith(compiled *plan.Plan, known variables) variables {
	vars := p.variablesOf(compiled)
	maps.Copy(vars, known)
	return vars
}

// documentEnv makes the values of env. Unset is null. Those of component files are checked here too, so that nothing runs when one is
// missing.
func documentEnv(compiled *plan.Plan, vars variables) (map[string]any, error) {
	for _, doc := range compiled.Documents() {
		if _, err := envOf(doc, vars); err != nil {
			return nil, err
		}
	}
	return envOf(compiled, vars)
}

// envOf makes the env of one document.
func envOf(compiled *plan.Plan, vars variables) (map[string]any, error) {
	env := map[string]any{}
	for _, e := range compiled.Inputs.Env {
		v, ok := vars.lookup(e.Name)
		switch {
		case ok:
			env[e.Name] = v
		case e.HasDefault:
			env[e.Name] = e.Default
		case e.Required:
			line, col := compiled.Source.Pos(e.Pos.Start)
			return nil, runtime.Errorf(runtime.KindUsage, "%s:%d:%d: the variable %s is required and not set", compiled.Source.Name, line, col, e.Name)
		default:
			env[e.Name] = nil
		}
	}
	return env, nil
}

// quickPlan compiles the document among the arguments for its props alone; nil when it cannot be.
func quickPlan(p *program, split *arguments) *plan.Plan {
	if len(split.positional) == 0 || split.positional[0] == "-" {
		return nil
	}
	doc, err := p.load(split.positional[0], split.values("include"))
	if err != nil {
		return nil
	}
	compiled, _, _, _ := compile(doc)
	return compiled
}

// booleanProps are the props of the document that need no value on the command line.
func booleanProps(p *program, split *arguments) map[string]bool {
	booleans := map[string]bool{}
	if len(split.props) == 0 {
		return booleans
	}
	if compiled := quickPlan(p, split); compiled != nil {
		for _, prop := range compiled.Inputs.Props {
			booleans[prop.Name] = prop.IsFlag()
		}
	}
	return booleans
}

// propsHelp lists what a document takes, and the parts of it that can be run.
func propsHelp(p *program, split *arguments) error {
	doc, err := p.load(split.positional[0], split.values("include"))
	if err != nil {
		return err
	}
	compiled, src, list, err := compile(doc)
	if err != nil {
		return err
	}
	if compiled == nil {
		p.say(src, list)
		return exitCode(2)
	}
	if len(compiled.Inputs.Props) == 0 {
		_, _ = fmt.Fprintf(p.stdout, "\n%s takes no props\n", printable(src.Name))
		return p.targetsHelp(src)
	}
	_, _ = fmt.Fprintf(p.stdout, "\nprops of %s:\n", printable(src.Name))
	for _, prop := range compiled.Inputs.Props {
		what := prop.Description
		switch {
		case prop.HasDefault:
			shown, isText := prop.Default.(string)
			if !isText {
				shown = expr.JSON(prop.Default)
			}
			what += fmt.Sprintf(" (default %s)", shown)
		case prop.Required:
			what += " (required)"
		}
		_, _ = fmt.Fprintf(p.stdout, "  %-26s %s\n", propsPrefix+prop.Name, printable(strings.TrimSpace(what)))
	}
	return p.targetsHelp(src)
}

// targetsHelp lists the targets of a document; nothing if it has none.
func (p *program) targetsHelp(src *diag.Source) error {
	tree, _ := lang.Parse(src.Name, src.Text)
	list := target.List(tree)
	if len(list) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(p.stdout, "\ntargets of %s (xmd run '%s#TARGET' runs one with what stands around it):\n", printable(src.Name), printable(src.Name))
	for _, t := range list {
		if err == nil {
			_, err = fmt.Fprintf(p.stdout, "  %s\n", printable(t.Path))
		}
	}
	return err
}
