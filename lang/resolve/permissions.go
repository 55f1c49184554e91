package resolve

import (
	"errors"
	"slices"
	"strings"

	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// PermissionKinds are the kinds of what agents ask permission for.
var PermissionKinds = []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}

// Permission is one entry of the lists of Permissions.
type Permission struct {
	Kind string // one of PermissionKinds
	Glob string // of the command or path; "": any
}

// ParsePermission reads one entry, "kind" or "kind:glob".
func ParsePermission(entry string) (Permission, error) {
	kind, glob, cut := strings.Cut(entry, ":")
	p := Permission{Kind: kind, Glob: glob}
	switch {
	case !slices.Contains(PermissionKinds, kind):
		hint := expr.DidYouMean(kind, PermissionKinds)
		if hint == "" {
			hint = "kinds are " + strings.Join(PermissionKinds, ", ")
		}
		return p, &permissionError{"there is no kind of permission " + quoted(kind), hint}
	case cut && strings.TrimSpace(glob) == "":
		return p, &permissionError{"nothing stands behind the colon of " + quoted(entry), "write " + kind + " alone, or " + kind + ":glob"}
	}
	return p, nil
}

type permissionError struct{ message, hint string }

func (e *permissionError) Error() string { return e.message + "; " + e.hint }

// permissions checks the entries that are written out.
func (r *resolver) permissions(el *syntax.Element, e *Element) {
	if !hasAttr(el, "deny") && !hasAttr(el, "allow") && !hasUnknown(el, e.Component) {
		r.diags.Add(CodeMissingAttribute, tagSpan(el), "Permissions needs deny or allow", `write <Permissions deny={["execute:rm *"]}>`)
	}
	for _, name := range []string{"deny", "allow"} {
		a := e.Arg(name)
		v, ok := a.Const()
		if !ok {
			continue
		}
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, entry := range list {
			text, ok := entry.(string)
			if !ok {
				r.diags.Add(CodePermission, a.Pos, name+" must hold strings, one is "+expr.JSON(entry), `an entry is "kind" or "kind:glob"`)
				continue
			}
			var bad *permissionError
			if _, err := ParsePermission(text); errors.As(err, &bad) {
				r.diags.Add(CodePermission, a.Pos, bad.message, bad.hint)
			}
		}
	}
}

func quoted(s string) string { return expr.JSON(s) }
