package main

import (
	"fmt"
	"os"

	"github.com/mattn/go-isatty"

	"xmd/runtime"
)

// isTerminal says whether f is a terminal.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// question words a permission request for a person.
func question(agent, step string, req runtime.PermissionRequest) string {
	what := req.Subject
	if what == "" {
		what = req.Title
	}
	return fmt.Sprintf("%s: %s wants to %s: %s\nallow it once? [y/N] ", step, agent, first(req.Kind, "act"), what)
}
