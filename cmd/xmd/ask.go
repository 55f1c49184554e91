package main

import (
	"fmt"
	"os"

	"xmd/runtime"
)

// isTerminal says whether f is a character device that a person sits at.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && file.Name() != os.DevNull
}

// question words a permission request for a person.
func question(agent, step string, req runtime.PermissionRequest) string {
	what := req.Subject
	if what == "" {
		what = req.Title
	}
	return fmt.Sprintf("%s: %s wants to %s: %s\nallow it once? [y/N] ", step, agent, first(req.Kind, "act"), what)
}
