package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"xmd/runtime"
	"xmd/runtime/event"
)

// program is one start of xmd with everything it may look at. Only this package reads flags and environment.
type program struct {
	args   []string
	env    environment
	stdin  io.Reader
	stdout *os.File
	stderr *os.File

	reports *reports // of the run; nil: none
	owing   string   // the format in which the end of a run is still owed; "": none is
	// observe reads every event of every run too; nil: nobody does. Tests judge the events there.
	observe event.Sink
	face    face                // what is shown at a terminal beside the result
	mask    func(string) string // hides the secrets of a REPL; nil: there are none
	console *terminal           // where a person is asked; made on first use
	// recorder stands between a run and its journal; nil: nothing does. Tests kill the program there.
	recorder func(event.Recorder) event.Recorder

	// Of a run that is part of a test, in this process:
	parent  context.Context // ends it, with signals; nil: it takes signals itself
	watch   []event.Sink    // read its events too
	agents  runtime.Agents  // in the place of those of this machine; nil: those
	testing runtime.Testing // of a test document; nil: it is none
}

// environment is KEY=value pairs, as os.Environ gives them.
type environment []string

// get is the value of the last pair named key; "" when there is none.
func (e environment) get(key string) string {
	v, _ := e.lookup(key)
	return v
}

func (e environment) lookup(key string) (string, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(e[i], "="); ok && k == key {
			return v, true
		}
	}
	return "", false
}

// home is the person's home folder.
func (e environment) home() string {
	if h := e.get("HOME"); h != "" {
		return h
	}
	h, _ := os.UserHomeDir()
	return h
}

// configHome and stateHome follow the XDG base directories.
func (e environment) configHome() string { return e.xdg("XDG_CONFIG_HOME", ".config") }
func (e environment) stateHome() string  { return e.xdg("XDG_STATE_HOME", ".local", "state") }

func (e environment) xdg(name string, fallback ...string) string {
	if v := e.get(name); filepath.IsAbs(v) {
		return v
	}
	return filepath.Join(append([]string{e.home()}, fallback...)...)
}

// forChildren is the environment agents get: what xmd was started with, without xmd's own variables and the secrets of these names.
func (e environment) forChildren(secrets ...string) []string {
	out := make([]string, 0, len(e))
	for _, kv := range e {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "XMD_") && !slices.Contains(secrets, name) {
			out = append(out, kv)
		}
	}
	return out
}
