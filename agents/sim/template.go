package sim

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"xmd/lang/expr"
)

// template matches whole prompts: its text literally, but for the amount of white space, and {?name} any text of at
// least one character, as little as will do. White space around the prompt does not count.
type template struct {
	pattern *regexp.Regexp
	names   []string // of the captures, in order
}

func parseTemplate(source string) (*template, error) {
	t := &template{}
	var pattern strings.Builder
	pattern.WriteString(`(?s)\A\s*`)
	rest := strings.TrimSpace(source)
	if rest == "" {
		return nil, errors.New("an empty template matches nothing")
	}
	afterCapture := false
	for rest != "" {
		literal, capture, found := strings.Cut(rest, "{?")
		writeLiteral(&pattern, literal)
		if !found {
			break
		}
		name, after, closed := strings.Cut(capture, "}")
		switch {
		case !closed || !expr.IsName(name):
			return nil, fmt.Errorf("{?%s is no capture", firstWord(capture))
		case slices.Contains(t.names, name):
			return nil, fmt.Errorf("{?%s} stands twice in the template", name)
		case afterCapture && literal == "":
			return nil, fmt.Errorf("{?%s} follows another capture with nothing between them", name)
		}
		t.names = append(t.names, name)
		pattern.WriteString(`(.+?)`)
		rest, afterCapture = after, true
	}
	pattern.WriteString(`\s*\z`)
	var err error
	t.pattern, err = regexp.Compile(pattern.String())
	return t, err
}

// writeLiteral writes text so that each run of white space in it matches any other.
func writeLiteral(pattern *strings.Builder, literal string) {
	fields := strings.Fields(literal)
	if len(fields) == 0 {
		if literal != "" {
			pattern.WriteString(`\s+`)
		}
		return
	}
	space := func(s string) bool { return strings.TrimSpace(s) == "" }
	if space(literal[:1]) {
		pattern.WriteString(`\s+`)
	}
	for i, f := range fields {
		if i > 0 {
			pattern.WriteString(`\s+`)
		}
		pattern.WriteString(regexp.QuoteMeta(f))
	}
	if space(literal[len(literal)-1:]) {
		pattern.WriteString(`\s+`)
	}
}

func firstWord(s string) string {
	if f := strings.Fields(s); len(f) > 0 {
		return f[0]
	}
	return ""
}

// match gives the captures, or false.
func (t *template) match(prompt string) (map[string]any, bool) {
	m := t.pattern.FindStringSubmatch(prompt)
	if m == nil {
		return nil, false
	}
	captures := map[string]any{}
	for i, name := range t.names {
		captures[name] = m[i+1]
	}
	return captures, true
}
