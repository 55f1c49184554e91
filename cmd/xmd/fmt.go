package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"xmd/lang/diag"
	"xmd/lang/format"
	"xmd/runtime"
)

func fmtCommand() *command {
	return &command{
		name: "fmt", args: "FILE…|-", usage: "put tags, frontmatter spacing and indentation into form; the text and what it does stay",
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "w", Aliases: []string{"write"}, Usage: "write the files that change instead of printing"},
			&cli.BoolFlag{Name: "check", Usage: "list the files that would change and exit 1 if there are any"},
		},
		run: formatDocuments,
	}
}

// formatDocuments formats every document that can be. Those with errors stay as they are, their errors are said, and the code is 2.
func formatDocuments(p *program, c *call) error {
	write, check := c.Bool("w"), c.Bool("check")
	switch {
	case len(c.args) == 0:
		return &usageError{message: "fmt takes one document or more"}
	case write && check:
		return &usageError{message: "-w and --check exclude each other"}
	case len(c.args) > 1 && !write && !check:
		return &usageError{message: fmt.Sprintf("fmt prints one document, got %d", len(c.args)), hint: "give -w to write the files, or --check to list those that would change"}
	}
	invalid, changes := false, false
	for _, path := range c.args {
		if write && path == "-" {
			return &usageError{message: "stdin cannot be written", hint: "without -w the result is printed"}
		}
		doc, err := p.load(path, nil)
		if err != nil {
			return err
		}
		if doc.target != "" {
			return runtime.Errorf(runtime.KindUsage, "fmt formats whole documents: leave out #%s", doc.target)
		}
		src := diag.NewSource(doc.name, doc.text)
		text, list := format.Source(src)
		if list.HasErrors() {
			invalid = true
			p.say(src, list)
			continue
		}
		changed := text != doc.text
		changes = changes || changed
		if err := p.formatted(doc, text, write, check, changed); err != nil {
			return err
		}
	}
	switch {
	case invalid:
		return exitCode(2)
	case check && changes:
		return exitCode(1)
	}
	return nil
}

// formatted does with the form of a document what was asked for.
func (p *program) formatted(doc document, text string, write, check, changed bool) error {
	switch {
	case check:
		if changed {
			_, err := fmt.Fprintln(p.stdout, doc.name)
			return err
		}
		return nil
	case !write:
		_, err := fmt.Fprint(p.stdout, text)
		return err
	case !changed:
		return nil
	}
	if err := replaceFile(doc.name, text); err != nil {
		return runtime.Errorf(runtime.KindFailed, "%s cannot be written: %w", doc.name, err)
	}
	return nil
}

// replaceFile puts a text in place of a file at once, or not at all. The file keeps its mode; where the name is a link, what it leads to is
// replaced.
func replaceFile(name, text string) error {
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	for _, step := range []func() error{func() error { return f.Chmod(info.Mode().Perm()) }, f.Sync} {
		if err == nil {
			err = step()
		}
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
