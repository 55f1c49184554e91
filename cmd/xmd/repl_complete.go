package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"xmd/lang/resolve"
	"xmd/runtime/store"
)

// complete lists what may stand for the last word of a line up to the cursor: commands, files, components, attributes, agents, sessions,
// names.
func (r *repl) complete(text string) (word string, candidates []string) {
	if strings.HasPrefix(text, ":") {
		return r.completeCommand(text)
	}
	open := strings.LastIndexByte(text, '<')
	if open >= 0 && !strings.Contains(unquoted(text[open:]), ">") {
		return r.completeTag(text[open+1:])
	}
	if brace := strings.LastIndexByte(text, '{'); brace >= 0 && !strings.Contains(text[brace:], "}") {
		return lastWord(text[brace+1:], "([ .!&|=<>+-*/%?:,"), r.names()
	}
	return "", nil
}

func (r *repl) completeCommand(text string) (string, []string) {
	name, arg, given := strings.Cut(text, " ")
	if !given {
		var names []string
		for _, c := range replCommands() {
			names = append(names, c.name)
		}
		return name, names
	}
	switch name {
	case ":load", ":save":
		return arg, filesLike(arg)
	case ":agent":
		return arg, r.h.agents.Names()
	case ":open":
		return arg, r.sessionNames()
	}
	return "", nil
}

// completeTag completes in a tag that is open, without its "<".
func (r *repl) completeTag(tag string) (string, []string) {
	name, rest, more := strings.Cut(tag, " ")
	if !more {
		if closing, ok := strings.CutPrefix(name, "/"); ok {
			return closing, componentNames(r)
		}
		return name, componentNames(r)
	}
	plain := unquoted(rest)
	if quote := strings.LastIndexByte(rest, '"'); strings.Count(plain, `"`)%2 == 1 && quote >= 0 {
		attr := lastWord(strings.TrimSuffix(rest[:quote], "="), " ")
		return rest[quote+1:], r.attributeValues(name, attr)
	}
	if brace := strings.LastIndexByte(rest, '{'); brace >= 0 && !strings.Contains(rest[brace:], "}") {
		return lastWord(rest[brace+1:], "([ .!&|=<>+-*/%?:,"), r.names()
	}
	word := lastWord(rest, " ")
	if strings.Contains(word, "=") {
		return "", nil
	}
	var attrs []string
	for _, c := range resolve.Components {
		if c.Name == name {
			for _, a := range c.Attrs {
				attrs = append(attrs, a.Name)
			}
		}
	}
	return word, attrs
}

// attributeValues are what is known of the values of an attribute.
func (r *repl) attributeValues(component, attr string) []string {
	switch {
	case attr == "agent", component == "Agent" && attr == "name":
		return r.h.agents.Names()
	case attr == "session", component == "Session" && attr == "name":
		names := r.sessionNames()
		for i, n := range names {
			if _, short, ok := strings.Cut(n, ":"); ok {
				names[i] = short
			}
		}
		return names
	case attr == "path":
		return filesLike("")
	}
	return nil
}

func componentNames(r *repl) []string {
	var names []string
	for _, c := range resolve.Components {
		names = append(names, c.Name)
	}
	return append(names, filesOf("repl", r.include).Components("repl")...)
}

func (r *repl) names() []string {
	names := []string{"run", "env"}
	for name := range r.bound {
		names = append(names, name)
	}
	return names
}

// lookLimit bounds how long a completion looks into the store.
const lookLimit = 300 * time.Millisecond

// sessionNames are the named sessions of the REPL's root, AGENT:NAME.
func (r *repl) sessionNames() []string {
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	var names []string
	_ = r.live.store.View(ctx, func(tx *store.Tx) error { // what cannot be looked at is not completed
		all, err := tx.Routes(store.Filter{})
		for _, s := range all {
			if s.Root == r.h.dir {
				names = append(names, s.Agent+":"+s.Session)
			}
		}
		return err
	})
	return names
}

// filesLike are the files and folders whose names begin so.
func filesLike(prefix string) []string {
	dir, _ := filepath.Split(prefix)
	entries, err := os.ReadDir(first(dir, "."))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		name := dir + e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	return names
}

// lastWord is what stands behind the last of some characters.
func lastWord(text, stops string) string { return text[strings.LastIndexAny(text, stops)+1:] }

// unquoted is a text without what stands in whole pairs of double quotes.
func unquoted(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 0 {
			b.WriteString(part)
		}
	}
	if strings.Count(text, `"`)%2 == 1 {
		b.WriteString(`"`)
	}
	return b.String()
}
