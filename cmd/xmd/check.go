package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"xmd/lang/diag"
	"xmd/lang/plan"
	"xmd/lang/resolve"
	"xmd/runtime/event"
)

func checkCommand() *command {
	return &command{
		name: "check", args: "FILE…", usage: "check documents; nothing runs",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "look for the configuration from `DIR`"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text, json or sarif"},
			&cli.BoolFlag{Name: "strict", Usage: "warnings are errors"},
			includeFlag(),
		},
		run: checkDocuments,
	}
}

// checkDocuments says everything that is wrong with the documents. What it found is its result, on stdout.
func checkDocuments(p *program, c *call) error {
	if len(c.args) == 0 {
		return &usageError{message: "check takes one document or more"}
	}
	write := checkWriters[c.String("format")]
	if write == nil {
		return &usageError{message: fmt.Sprintf("--format is text, json or sarif, not %q", c.String("format"))}
	}
	h, err := p.host(c)
	if err != nil {
		return err
	}
	bad := false
	var found []diag.FileDiagnostics
	for _, path := range c.args {
		var one diag.FileDiagnostics
		if one, err = h.check(p, path, c.StringSlice("include")); err != nil {
			break // said last, behind what was found in the files before
		}
		bad = bad || one.List.HasErrors() || c.Bool("strict") && len(one.List) > 0
		found = append(found, one)
	}
	if failed := write(p.stdout, found); failed != nil || err != nil {
		return cmp.Or(err, failed)
	}
	if bad {
		return exitCode(2)
	}
	return nil
}

// check finds everything that is wrong with one document. The error says that it cannot be read, or has no such target.
func (h *host) check(p *program, path string, include []string) (diag.FileDiagnostics, error) {
	doc, err := p.load(path, include)
	if err != nil {
		return diag.FileDiagnostics{}, err
	}
	compiled, src, list, err := compile(doc)
	list = append(append(list, h.checkAgents(compiled)...), checkScripts(compiled)...)
	return diag.FileDiagnostics{Source: src, List: list}, err
}

// checkWriters write what check found, by format.
var checkWriters = map[string]func(io.Writer, []diag.FileDiagnostics) error{
	"text": func(w io.Writer, found []diag.FileDiagnostics) error {
		for _, f := range found {
			if err := diag.WriteText(w, f.Source, f.List); err != nil {
				return err
			}
		}
		return nil
	},
	"json": func(w io.Writer, found []diag.FileDiagnostics) error {
		records := []diag.Record{}
		for _, f := range found {
			records = append(records, diag.Records(f.Source, f.List)...)
		}
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"v": 1, "diagnostics": records})
	},
	"sarif": func(w io.Writer, found []diag.FileDiagnostics) error {
		return diag.WriteSARIF(w, version, found, documentCodes())
	},
}

// documentCodes are the codes of all that can be wrong with a document.
func documentCodes() []diag.Code {
	agent := diag.Code{Code: CodeAgent, Title: "a document names an agent that is neither built in nor configured"}
	return slices.Concat(diag.ParseCodes, resolve.Codes, []diag.Code{agent})
}

func planCommand() *command {
	return &command{
		name: "plan", args: "FILE", usage: "print what a document would do; nothing runs",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "look for the configuration from `DIR`"},
			includeFlag(),
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text, json, mermaid or dot"},
		},
		run: planDocument,
	}
}

func planDocument(p *program, c *call) error {
	if len(c.args) != 1 {
		return &usageError{message: fmt.Sprintf("plan takes one document, got %d", len(c.args))}
	}
	write := planWriters[c.String("format")]
	if write == nil {
		return &usageError{message: fmt.Sprintf("--format is text, json, mermaid or dot, not %q", c.String("format"))}
	}
	h, err := p.host(c)
	if err != nil {
		return err
	}
	doc, err := p.load(c.args[0], c.StringSlice("include"))
	if err != nil {
		return err
	}
	compiled, src, list, err := compile(doc)
	if err != nil {
		return err
	}
	list = append(list, h.checkAgents(compiled)...)
	if len(list) > 0 {
		p.say(src, list)
	}
	if list.HasErrors() {
		return exitCode(2)
	}
	if c.String("format") == "json" {
		return write(compiled, p.stdout)
	}
	var text strings.Builder
	if err := write(compiled, &text); err != nil {
		return err
	}
	_, err = io.WriteString(p.stdout, printable(text.String())) // of a document that was not run, and may be anybody's
	return err
}

// planWriters write a plan, by format.
var planWriters = map[string]func(*plan.Plan, io.Writer) error{
	"text": (*plan.Plan).WriteText, "json": (*plan.Plan).WriteJSON, "mermaid": (*plan.Plan).WriteMermaid, "dot": (*plan.Plan).WriteDOT,
}

func schemaCommand() *command {
	schemas := map[string]func() string{
		"events": func() string { return event.Schema }, "plan": func() string { return plan.JSONSchema }, "config": configSchema,
	}
	return &command{
		name: "schema", args: "events|plan|config", usage: "print the JSON Schema of a machine form",
		run: func(p *program, c *call) error {
			if len(c.args) != 1 || schemas[c.args[0]] == nil {
				return &usageError{message: fmt.Sprintf("schema takes one of events, plan, config; got %q", strings.Join(c.args, " "))}
			}
			_, err := fmt.Fprintln(p.stdout, strings.TrimSpace(schemas[c.args[0]]()))
			return err
		},
	}
}
