package resolve

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// interp decides whether braces in a text are an interpolation, plain text, or an error.
func (r *resolver) interp(n *syntax.Interp, p place) {
	path, ok := expr.ParsePath(n.Path)
	if !ok || expr.IsWord(path.Root) {
		return
	}
	at := diag.Span{Start: n.Pos.Start + 1, End: n.Pos.Start + 1 + len(path.Root)}
	b, bound := r.scope.names[path.Root]
	switch {
	case !bound && !given[path.Root] && !r.isLent(path.Root):
		r.unboundText(path.Root, at, p)
	case b.Sometimes:
		r.sometimes(path.Root, at, b)
	case r.member(path, at.Start, p):
		r.info.Paths[n] = path
	}
}

func (r *resolver) unboundText(name string, at diag.Span, p place) {
	if p.captured {
		r.unbound(name, at, `bind it before, with <Let as="`+name+`" …> or as="`+name+`"; as text it is written \{`+name+"}")
		return
	}
	if near := r.suggest(name); near != "" {
		r.warn(CodeNearName, at, name+" is not bound, so the braces are text", "did you mean "+near+"?")
	}
}

// member checks the members of a path whose root is bound; false means that the braces stay text.
func (r *resolver) member(path *expr.Path, off int, p place) bool {
	_, bad := path.Check(r.typeOf(path.Root))
	if bad == nil {
		return true
	}
	at := diag.Span{Start: off + bad.Span.Start, End: off + bad.Span.End}
	code, summary, hint := bad.Code, bad.Message, bad.Hint
	if key, ok := path.Steps[0].(string); ok && given[path.Root] && bad.Span.Start == len(path.Root)+1 {
		code = CodeNoInput
		summary, hint = r.noInputWords(path.Root, key)
	}
	if p.captured {
		r.diags.Add(code, at, summary, hint)
		return false
	}
	r.warn(CodeProseMember, at, summary+", so the braces are text", hint)
	return false
}

// text warns of braces that look like an interpolation and are none.
func (r *resolver) text(n *syntax.Text, p place) {
	if n.Inert && !p.captured || r.warnings >= maxWarnings {
		return
	}
	r.braces(n.Value, func(inner string, from, to int) {
		path := strings.TrimSpace(inner)
		switch {
		case !r.names(path):
		case n.Inert && inner == path:
			r.warn(CodeInertBraces, r.locate(n.Value, from, to, n.Pos), "{"+path+"} stands in code and is not interpolated",
				"a fence with the word fill behind its language is")
		case !n.Inert && inner != path:
			r.warn(CodeBlanks, r.locate(n.Value, from, to, n.Pos), "blanks keep {"+inner+"} from being interpolated", "write {"+path+"}")
		}
	})
}

// maxBraces bounds how far the end of braces is searched; no path is that long.
const maxBraces = 200

// braces calls do for each {…} of a text, not for ${…}.
func (r *resolver) braces(text string, do func(inner string, from, to int)) {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '{')
		if i < 0 {
			return
		}
		i += from
		from = i + 1
		end := strings.IndexAny(text[from:min(from+maxBraces, len(text))], "{}\n")
		if end < 0 || text[from+end] != '}' || i > 0 && text[i-1] == '$' {
			continue
		}
		do(text[from:from+end], i, from+end+1)
		from += end + 1
	}
}

// names reports whether the inside of braces is a path of a bound name.
func (r *resolver) names(inner string) bool {
	n := 0
	for n < len(inner) && inner[n] != '.' && inner[n] != '[' {
		n++
	}
	if !r.isBound(inner[:n]) || n == len(inner) && reserved[inner] {
		return false // {env} and {run} alone are more likely code
	}
	_, ok := expr.ParsePath(inner)
	return ok
}

// locate finds the place of part of a text. Where indentation was moved the text is no piece of the source any more; then
// it is searched for in what the text stands for.
func (r *resolver) locate(value string, from, to int, pos diag.Span) diag.Span {
	source := r.src[pos.Start:min(pos.End, len(r.src))]
	if strings.HasPrefix(source[min(from, len(source)):], value[from:to]) {
		return diag.Span{Start: pos.Start + from, End: pos.Start + to}
	}
	if r.warnings >= maxWarnings {
		return pos
	}
	nth := strings.Count(value[:from], value[from:to])
	at := 0
	for {
		i := strings.Index(source[at:], value[from:to])
		if i < 0 {
			return pos
		}
		if nth == 0 {
			return diag.Span{Start: pos.Start + at + i, End: pos.Start + at + i + to - from}
		}
		nth--
		at += i + to - from
	}
}

// maxWarnings bounds how many warnings one document gets: finding the place of one may take time linear in the document.
const maxWarnings = 200

func (r *resolver) warn(code string, at diag.Span, summary, hint string, related ...diag.Related) {
	if r.warnings++; r.warnings <= maxWarnings {
		r.diags.Warn(code, at, summary, hint, related...)
	}
}

// stringBraces warns of {name} in a string attribute.
func (r *resolver) stringBraces(a *syntax.Attr) {
	r.braces(a.Value, func(inner string, from, to int) {
		if r.names(inner) {
			r.warn(CodeStringBraces, r.locate(a.Value, from, to, a.ValueSpan), "{"+inner+"} in a string is not interpolated",
				`write `+a.Name+`={"…" + `+inner+`}`)
		}
	})
}
