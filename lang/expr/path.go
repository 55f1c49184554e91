package expr

import (
	"strconv"

	"xmd/lang/diag"
)

// Path is a parsed interpolation path: name(.name | [int] | ["key"])*. It is immutable.
type Path struct {
	Source string
	Root   string
	Steps  []any // string: a member, int: an index

	spans []diag.Span // of the root and of each step, relative to Source
}

// ParsePath reads a path; ok is false if src is anything else, blanks included.
func ParsePath(src string) (p *Path, ok bool) {
	n := nameLen(src)
	if n == 0 {
		return nil, false
	}
	p = &Path{Source: src, Root: src[:n]}
	p.spans = append(p.spans, diag.Span{Start: 0, End: n})
	for i := n; i < len(src); {
		step, span, next := pathStep(src, i)
		if next < 0 {
			return nil, false
		}
		p.Steps = append(p.Steps, step)
		p.spans = append(p.spans, span)
		i = next
	}
	return p, true
}

// pathStep reads one step at i; next is -1 if there is none.
func pathStep(src string, i int) (step any, span diag.Span, next int) {
	switch src[i] {
	case '.':
		n := nameLen(src[i+1:])
		if n == 0 {
			return nil, span, -1
		}
		return src[i+1 : i+1+n], diag.Span{Start: i + 1, End: i + 1 + n}, i + 1 + n
	case '[':
		return bracketStep(src, i)
	}
	return nil, span, -1
}

func bracketStep(src string, i int) (step any, span diag.Span, next int) {
	end := i + 1
	if end < len(src) && src[end] == '"' {
		for end++; end < len(src) && src[end] != '"'; end++ {
			if src[end] == '\\' {
				end++
			}
		}
		end++
	} else {
		for end < len(src) && isDigit(src[end]) {
			end++
		}
	}
	if end >= len(src) || src[end] != ']' {
		return nil, span, -1
	}
	span = diag.Span{Start: i + 1, End: end}
	text := src[i+1 : end]
	if text != "" && text[0] == '"' {
		key, err := ParseJSON(text)
		if err != nil {
			return nil, span, -1
		}
		return key, span, end + 1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, span, -1
	}
	return n, span, end + 1
}

// nameLen is the length of the name that s begins with.
func nameLen(s string) int {
	i := 0
	for i < len(s) && (isNameStart(s[i]) || i > 0 && isDigit(s[i])) {
		i++
	}
	return i
}

// IsName reports whether s is a name: [A-Za-z_][A-Za-z0-9_]*.
func IsName(s string) bool { return s != "" && nameLen(s) == len(s) }

func isNameStart(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Eval looks the path up in env. A member of null, a missing member and an index outside are nil. It is an error if the
// root is not in env, or a member is asked of something that has none; the error's span is relative to the path's source.
func (p *Path) Eval(env map[string]any) (any, error) {
	v, ok := env[p.Root]
	if !ok {
		return nil, errorAt(p.spans[0], CodeValue, p.Root+" is not bound", "")
	}
	for i, step := range p.Steps {
		var problem string
		switch step := step.(type) {
		case string:
			v, problem = member(v, step)
		case int:
			v, problem = index(v, int64(step))
		}
		if problem != "" {
			return nil, errorAt(p.spans[i+1], CodeMember, problem, "")
		}
	}
	return v, nil
}

// Check follows the path through the type of its root and gives the type of what it names. The error's span is relative
// to the path's source.
func (p *Path) Check(root *Type) (*Type, *Error) {
	t := root
	for i, step := range p.Steps {
		owner := func() string { return p.Source[:p.stepStart(i)] }
		var bad *Error
		switch step := step.(type) {
		case string:
			t, bad = t.member(owner, step)
		case int:
			t, bad = t.index(owner)
		}
		if bad != nil {
			bad.Span = p.spans[i+1]
			return nil, bad
		}
	}
	return t, nil
}

// stepStart is where step i begins in the source, its dot or bracket included.
func (p *Path) stepStart(i int) int { return p.spans[i+1].Start - 1 }

// member gives v.name. problem says why that cannot be asked of v.
func member(v any, name string) (got any, problem string) {
	switch v := v.(type) {
	case nil:
		return nil, ""
	case map[string]any:
		return v[name], ""
	case []any:
		return nil, "an array has no member " + name
	}
	return nil, KindName(v) + " has no member " + name
}

// index gives v[i]. problem says why that cannot be asked of v.
func index(v any, i int64) (got any, problem string) {
	switch v := v.(type) {
	case nil:
		return nil, ""
	case []any:
		if i < 0 || i >= int64(len(v)) {
			return nil, ""
		}
		return v[i], ""
	}
	return nil, KindName(v) + " has no items"
}
