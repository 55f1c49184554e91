package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"xmd/lang/diag"
	"xmd/lang/plan"
	"xmd/runtime/event"
)

func checkCommand() *command {
	return &command{
		name: "check", args: "FILE…", usage: "check documents; nothing runs",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "look for the configuration from `DIR`"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
			&cli.BoolFlag{Name: "strict", Usage: "warnings are errors"},
		},
		run: checkDocuments,
	}
}

// checkDocuments says everything that is wrong with the documents. What it found is its result, on stdout.
func checkDocuments(p *program, c *call) error {
	if len(c.args) == 0 {
		return &usageError{message: "check takes one document or more"}
	}
	format := c.String("format")
	if format != "text" && format != "json" {
		return &usageError{message: fmt.Sprintf("--format is text or json, not %q (sarif is not built yet)", format)}
	}
	h, err := p.host(c)
	if err != nil {
		return err
	}
	bad := false
	records := []diag.Record{}
	for _, path := range c.args {
		doc, err := p.load(path)
		if err != nil {
			return err
		}
		compiled, src, list := compile(doc)
		list = append(list, h.checkAgents(compiled)...)
		bad = bad || list.HasErrors() || c.Bool("strict") && len(list) > 0
		if format == "json" {
			records = append(records, diag.Records(src, list)...)
		} else if err := diag.WriteText(p.stdout, src, list); err != nil {
			return err
		}
	}
	if format == "json" {
		enc := json.NewEncoder(p.stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"v": 1, "diagnostics": records}); err != nil {
			return err
		}
	}
	if bad {
		return exitCode(2)
	}
	return nil
}

func planCommand() *command {
	return &command{
		name: "plan", args: "FILE", usage: "print what a document would do; nothing runs",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "look for the configuration from `DIR`"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
		},
		run: planDocument,
	}
}

func planDocument(p *program, c *call) error {
	if len(c.args) != 1 {
		return &usageError{message: fmt.Sprintf("plan takes one document, got %d", len(c.args))}
	}
	h, err := p.host(c)
	if err != nil {
		return err
	}
	doc, err := p.load(c.args[0])
	if err != nil {
		return err
	}
	compiled, src, list := compile(doc)
	list = append(list, h.checkAgents(compiled)...)
	if len(list) > 0 {
		p.say(src, list)
	}
	if list.HasErrors() {
		return exitCode(2)
	}
	switch c.String("format") {
	case "text":
		return compiled.WriteText(p.stdout)
	case "json":
		return compiled.WriteJSON(p.stdout)
	}
	return &usageError{message: fmt.Sprintf("--format is text or json, not %q (mermaid and dot are not built yet)", c.String("format"))}
}

func schemaCommand() *command {
	schemas := map[string]string{"events": event.Schema, "plan": plan.JSONSchema}
	return &command{
		name: "schema", args: "events|plan", usage: "print the JSON Schema of a machine form",
		run: func(p *program, c *call) error {
			if len(c.args) == 1 && c.args[0] == "config" {
				return &usageError{message: "schema config is not built yet"}
			}
			if len(c.args) != 1 || schemas[c.args[0]] == "" {
				return &usageError{message: fmt.Sprintf("schema takes one of events, plan; got %q", strings.Join(c.args, " "))}
			}
			_, err := fmt.Fprintln(p.stdout, strings.TrimSpace(schemas[c.args[0]]))
			return err
		},
	}
}
