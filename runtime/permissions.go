package runtime

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/resolve"
)

// rule is one policy element around a step. What it does not decide is for the one around it.
type rule struct {
	up          *rule
	policy      Policy // "": only deny and allow decide
	deny, allow []permit
}

// policy runs ApproveAll, ApproveReads, AskPermission, DenyAll or Permissions: it holds for every prompt of the body.
func (r *Runner) policy(ctx context.Context, n *plan.Policy, at place, out layout.Sink) error {
	own := &rule{up: at.policy, policy: Policy(n.Policy)}
	var err error
	if own.deny, err = at.permits(n.Deny, n.Step, "deny"); err != nil {
		return err
	}
	if own.allow, err = at.permits(n.Allow, n.Step, "allow"); err != nil {
		return err
	}
	at.policy = own
	return r.render(ctx, n.Body, at, out)
}

func (at place) permits(a plan.Arg, s plan.Step, what string) ([]permit, error) {
	texts, err := at.texts(a, s, what)
	if err != nil {
		return nil, err
	}
	var list []permit
	for _, text := range texts {
		p, err := parsePermit(text)
		if err != nil {
			return nil, at.wrong(a, s, "%s: %w", what, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// permit is one entry of deny or allow: kind, or kind:glob.
type permit struct {
	kind    string
	text    string   // the glob; "": all of the kind
	command *command // of the kind execute
	paths   *pattern // of every other kind
}

func parsePermit(text string) (permit, error) {
	entry, err := resolve.ParsePermission(text)
	p := permit{kind: entry.Kind, text: entry.Glob}
	switch {
	case err != nil || p.text == "":
		return p, err
	case p.kind == "execute":
		p.command = compileCommand(p.text)
		return p, nil
	}
	p.paths, err = compilePattern(strings.TrimPrefix(filepath.ToSlash(p.text), "./"), true)
	return p, err
}

// decide is what the policies around a step say of a request; no for what none of them decides.
func (r *rule) decide(req PermissionRequest, root string) (d decision, decided bool) {
	for ; r != nil; r = r.up {
		switch {
		case slices.ContainsFunc(r.deny, func(p permit) bool { return p.denies(req, root) }):
			return deny, true
		case slices.ContainsFunc(r.allow, func(p permit) bool { return p.allows(req, root) }):
			return allow, true
		case r.policy != "":
			return r.policy.decide(req.Kind), true
		}
	}
	return ask, false
}

// allows says whether the glob covers all that the request would do.
func (p permit) allows(req PermissionRequest, root string) bool {
	switch {
	case p.kind != req.Kind:
		return false
	case p.text == "":
		return true
	case p.command != nil:
		return req.Command != "" && p.command.matches(req.Command)
	}
	if len(req.Paths) == 0 {
		return false
	}
	for _, path := range req.Paths {
		if !p.covers(realName(path, root), root) {
			return false
		}
	}
	return true
}

// denies says whether the glob touches anything that the request would do. It reads wider than allows does: what is not sure to
// be outside of the glob is inside.
func (p permit) denies(req PermissionRequest, root string) bool {
	switch {
	case p.kind != req.Kind:
		return false
	case p.text == "":
		return true
	case p.command != nil:
		return p.command.touches(req.Command)
	}
	for _, path := range req.Paths {
		for _, name := range []string{realName(path, root), cleanName(path, root)} {
			if p.covers(name, root) || !strings.Contains(p.text, "/") && p.paths.match(filepath.Base(name)) {
				return true
			}
		}
	}
	return false
}

// covers matches a pattern that begins with / against the whole path, any other against the path below root.
func (p permit) covers(path, root string) bool {
	if strings.HasPrefix(p.text, "/") || isURL(path) {
		return p.paths.match(filepath.ToSlash(path))
	}
	rel, ok := below(root, path)
	return ok && p.paths.match(filepath.ToSlash(rel))
}

// realName is where a path of a request leads, its links followed. One that cannot be followed is in no folder that a pattern
// can mean.
func realName(path, root string) string {
	if isURL(path) {
		return path
	}
	if !filepath.IsAbs(path) {
		path = root + string(filepath.Separator) + path
	}
	real, err := realPath(path)
	if err != nil {
		return "\x00"
	}
	return real
}

// cleanName is a path of a request as it is written.
func cleanName(path, root string) string {
	if isURL(path) {
		return path
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	return filepath.Clean(path)
}

func isURL(s string) bool { return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") }

// shellMarks join or nest commands, redirect, or put a value in: what stands beyond one of them is another command.
const shellMarks = ";&|<>$`\n\r\x00"

// command is a glob of the kind execute: * is any characters, ? any one, but never one of shellMarks; everything else is itself.
type command struct{ text string }

func compileCommand(glob string) *command { return &command{glob} }

// matches says whether the glob is the whole command.
func (c *command) matches(line string) bool { return wild(c.text, line, shellMarks) }

// touches says whether the glob is the whole command, its wildcards standing for anything, or one of the commands it is made of.
func (c *command) touches(line string) bool {
	if wild(c.text, line, "") {
		return true
	}
	parts := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|\n\r`(){}", r) })
	for _, part := range parts {
		if wild(c.text, strings.TrimSpace(part), "") {
			return true
		}
	}
	return false
}

// wild matches * and ? in time that grows with the product of the lengths at most; a wildcard never stands for a byte of barred.
func wild(glob, text, barred string) bool {
	g, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		bar := strings.IndexByte(barred, text[t]) >= 0
		switch {
		case g < len(glob) && glob[g] == '*':
			star, mark = g, t
			g++
		case g < len(glob) && (glob[g] == text[t] || glob[g] == '?' && !bar):
			g++
			t++
		case star >= 0 && strings.IndexByte(barred, text[mark]) < 0:
			mark++
			g, t = star+1, mark
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}
