package target

import (
	"fmt"
	"net/url"
	"strings"

	"xmd/lang/diag"
)

// Error tells why a path selects nothing.
type Error struct {
	Message string
	Hint    string // what to do; may be empty
}

// Error gives the message and the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// pattern is a path taken apart: by level, the texts between its stars.
type pattern [][]string

// parsePattern takes a path apart. Levels and stars are found first, then what is between them is percent-decoded, so that an encoded / or *
// is part of a label.
func parsePattern(path string) (pattern, error) {
	var p pattern
	for _, level := range strings.Split(path, "/") {
		parts := strings.Split(level, "*")
		for i, part := range parts {
			decoded, err := url.PathUnescape(part)
			if err != nil {
				return nil, &Error{fmt.Sprintf("the target %q has a %% that is no percent-encoding", path), "write %25 for the sign itself"}
			}
			parts[i] = decoded
		}
		if len(parts) == 1 {
			parts[0] = strings.Join(strings.Fields(parts[0]), " ")
		}
		p = append(p, parts)
	}
	return p, nil
}

// matches tells whether labels, that of the outermost heading first, are what a pattern asks for.
func (p pattern) matches(labels []string) bool {
	if len(p) != len(labels) {
		return false
	}
	for i, parts := range p {
		if !matchLevel(parts, labels[i]) {
			return false
		}
	}
	return true
}

// matchLevel matches one level: each star stands for any text.
func matchLevel(parts []string, label string) bool {
	if len(parts) == 1 {
		return label == parts[0]
	}
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(label, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// encoder writes a label so that it is one level that names nothing else.
var encoder = strings.NewReplacer("%", "%25", "/", "%2F", "*", "%2A")

// encode writes labels as a path.
func encode(labels []string) string {
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = encoder.Replace(l)
	}
	return strings.Join(out, "/")
}

// maxListed is how many targets an error lists.
const maxListed = 10

// listed writes targets for an error.
func listed(src *diag.Source, list []*heading, places bool) string {
	var out []string
	for i, h := range list {
		if i == maxListed {
			out = append(out, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		text := encode(h.path())
		if places {
			line, _ := src.Pos(h.start)
			text += fmt.Sprintf(" (line %d)", line)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// find returns the one heading that a path selects.
func find(src *diag.Source, list []*heading, path string) (*heading, error) {
	p, err := parsePattern(path)
	if err != nil {
		return nil, err
	}
	var all, matches []*heading
	for _, h := range list {
		if h.title {
			continue
		}
		all = append(all, h)
		if p.matches(h.path()) {
			matches = append(matches, h)
		}
	}
	switch {
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) > 1:
		hint := "write out the one that is meant"
		if !strings.Contains(path, "*") {
			hint = "targets of one path cannot be told apart: give one of the headings another text"
		}
		return nil, &Error{fmt.Sprintf("%s: the target %q is %d headings: %s", src.Name, path, len(matches), listed(src, matches, true)), hint}
	case len(all) == 0:
		return nil, &Error{fmt.Sprintf("%s: there is no target %q", src.Name, path), "the document has no headings to select, at the left margin and outside of elements"}
	}
	return nil, &Error{fmt.Sprintf("%s: there is no target %q", src.Name, path), suggest(src, all, p, path)}
}

// suggest names the target that was likely meant: of a near path, or that ends as the path does. Otherwise it lists all.
func suggest(src *diag.Source, all []*heading, p pattern, path string) string {
	var paths []string
	for _, h := range all {
		paths = append(paths, encode(h.path()))
	}
	if near := diag.Nearest(path, paths); near != "" {
		return "did you mean " + near + "?"
	}
	var ends []*heading
	for _, h := range all {
		if labels := h.path(); len(labels) > len(p) && p.matches(labels[len(labels)-len(p):]) {
			ends = append(ends, h)
		}
	}
	if len(ends) > 0 {
		return "a path begins at the outermost heading: " + listed(src, ends, false)
	}
	return "its targets are " + listed(src, all, false)
}
