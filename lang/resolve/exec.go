package resolve

import (
	"path"
	"slices"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// result is the type of what an exec block binds.
var result = &expr.Type{Kinds: expr.Object, Closed: true, Fields: map[string]*expr.Type{
	"exitCode": expr.Of(expr.Number), "stdout": expr.Of(expr.String), "stderr": expr.Of(expr.String), "truncated": expr.Of(expr.Bool)}}

func (r *resolver) exec(n *syntax.Exec) {
	e := &Exec{}
	r.info.Execs[n] = e
	if !slices.Contains(Languages, n.Lang) {
		hint := expr.DidYouMean(n.Lang, Languages)
		if hint == "" {
			hint = "known are " + strings.Join(Languages, ", ")
		}
		r.diags.Add(CodeExecLanguage, n.LangSpan, "no program is known that runs "+n.Lang, hint)
	}
	seen := map[string]*syntax.InfoWord{}
	for _, w := range n.Words {
		if first := seen[w.Name]; first != nil {
			r.diags.Add(diag.CodeRepeated, w.Pos, w.Name+" is given twice", "leave one of them out", diag.Related{Summary: "the first one is here", Span: first.Pos})
			continue
		}
		seen[w.Name] = w
		r.word(e, w)
	}
	r.execBraces(n, e)
	if e.As != "" {
		r.scope.bind(e.As, result, seen["as"].Pos)
	}
}

func (r *resolver) word(e *Exec, w *syntax.InfoWord) {
	i := slices.IndexFunc(Words, func(row ExecWord) bool { return row.Name == w.Name })
	switch {
	case w.Name == "":
		return // said by the parser
	case i < 0:
		var names []string
		for _, row := range Words {
			names = append(names, row.Name)
		}
		hint := expr.DidYouMean(w.Name, names)
		if hint == "" {
			hint = "an exec fence takes " + strings.Join(names[:len(names)-1], ", ")
		}
		r.diags.Add(CodeExecWord, w.Pos, w.Name+" is no word of an exec fence", hint)
	case Words[i].Value && !w.HasValue:
		r.diags.Add(CodeExecValue, w.Pos, w.Name+" needs a value", "write "+w.Name+`="…"`)
	case !Words[i].Value && w.HasValue:
		r.diags.Add(CodeExecValue, w.Pos, w.Name+" takes no value", "write "+w.Name+" alone")
	default:
		r.wordValue(e, w)
	}
}

func (r *resolver) wordValue(e *Exec, w *syntax.InfoWord) {
	switch w.Name {
	case "as":
		if bad := badName(w.Value); bad != "" {
			r.diags.Add(CodeBadName, w.ValueSpan, bad, "")
			return
		}
		e.As = w.Value
	case "with":
		r.with(e, w)
	case "throwOnError":
		e.ThrowOnError = true
	case "silent":
		e.Silent = true
	case "lax":
		e.Lax = true
	case "once":
		e.Once = true
	case "timeout":
		ms, err := Duration(w.Value)
		if err != nil {
			r.diags.Add(CodeDuration, w.ValueSpan, err.Error(), "")
		}
		e.TimeoutMS = ms
	case "cwd":
		e.Cwd = w.Value
		if c := path.Clean(w.Value); w.Value == "" || path.IsAbs(w.Value) || c == ".." || strings.HasPrefix(c, "../") {
			r.diags.Add(CodeExecValue, w.ValueSpan, "cwd is a folder inside the run's directory", `write a relative path, cwd="sub/folder"`)
		}
	}
}

// with reads with="name other@file".
func (r *resolver) with(e *Exec, w *syntax.InfoWord) {
	at := w.ValueSpan.Start
	for rest := w.Value; rest != ""; {
		word := strings.TrimLeft(rest, " \t")
		at += len(rest) - len(word)
		if word == "" {
			break
		}
		n := strings.IndexAny(word, " \t")
		if n < 0 {
			n = len(word)
		}
		r.withName(e, word[:n], diag.Span{Start: at, End: at + n})
		rest, at = word[n:], at+n
	}
	if len(e.With) == 0 && strings.TrimSpace(w.Value) == "" {
		r.diags.Add(CodeExecValue, w.Pos, "with names nothing", `write with="name other@file"`)
	}
}

func (r *resolver) withName(e *Exec, word string, at diag.Span) {
	name, kind, marked := strings.Cut(word, "@")
	p, ok := expr.ParsePath(name)
	b, bound := r.scope.names[name]
	switch {
	case marked && kind != "file":
		r.diags.Add(CodeExecValue, at, "after @ stands file only", "write "+name+"@file")
	case !ok:
		r.diags.Add(CodeExecValue, at, word+" is no name", `with takes names with blanks between: with="name other@file"`)
	case len(p.Steps) > 0:
		r.diags.Add(CodeExecValue, at, "with takes names, not members", `bind it before: <Let as="`+lastName(p)+`" value={`+name+"}/>")
	case slices.ContainsFunc(e.With, func(w With) bool { return w.Name == name }):
		r.diags.Add(CodeExecValue, at, name+" is named twice", "")
	case !bound && !given[name] && !r.isLent(name):
		r.unbound(name, diag.Span{Start: at.Start, End: at.Start + len(name)}, "")
	case b.Sometimes:
		r.sometimes(name, at, b)
	default:
		e.With = append(e.With, With{Name: name, Path: p, File: marked, Pos: at})
	}
}

func lastName(p *expr.Path) string {
	if s, ok := p.Steps[len(p.Steps)-1].(string); ok && expr.IsName(s) {
		return s
	}
	return p.Root
}

// execBraces warns of {name} in a program, which is sent as written.
func (r *resolver) execBraces(n *syntax.Exec, e *Exec) {
	r.braces(n.Program, func(inner string, from, to int) {
		if !r.names(inner) {
			return
		}
		root := inner
		if i := strings.IndexAny(inner, ".["); i >= 0 {
			root = inner[:i]
		}
		if slices.ContainsFunc(e.With, func(w With) bool { return w.Name == root }) {
			return // the author knows how values enter
		}
		r.warn(CodeExecBraces, r.locate(n.Program, from, to, n.Pos), "{"+inner+"} in a program is not interpolated",
			`values enter as environment variables: with="`+root+`", then $`+root)
	})
}
