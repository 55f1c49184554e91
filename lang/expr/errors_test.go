package expr

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xmd/lang/diag"
)

var update = flag.Bool("update", false, "rewrite the goldens")

var badSources = []string{
	``, ` `, `a +`, `a b`, `(a`, `a)`, `[a}`, `"abc`, `"a` + "\n" + `b"`, `a = b`, `a === b`, `a and b`, `a or b`, `not a`,
	`a not in b`, `a | len()`, `a & b`, `let x = 1; x`, `if a { 1 } else { 2 }`, `a ?: b`, `1..3`, `2 ** 3`, `2 ^ 3`,
	`a /* c */ + b`, `a // c`, `/* c`, "`a`", `b"x"`, `0x10`, `1_000`, `.5`, `1.`, `007`, `1e400`, `9223372036854775808`,
	`12abc`, `nil`, `#`, `.x`, `map(xs, #index)`, `$env`, `größe`, `o.größe`, `a < b < c`, `xs[1:2]`, `xs[:]`, `s.upper()`,
	`now()`, `lenn(s)`, `len()`, `len(a, b)`, `map(xs)`, `map(items, {"k": .n})`, `filter(items, {.ok})`, `count(xs, # > 1)`,
	`reduce(xs, #)`, `{let: 1}`, `{1: 2}`, `{(a): 1}`, `{"a": 1, a: 2}`, `a ?? b == c`, `s matches "("`, `s matches "(?=x)"`,
	`"\q"`, `a @ b`, `"é漢" + nope()`, `a.`, `a..b`, `{a}`, `{"a" 1}`, `a ? b`, `::len(s)`, `a; b`, `nope(1) + nope(2)`,
	`x.y.z()`, `!in`, `{...a}`, `a => b`, `[1 2]`, `len(s`, `a !in b`,
}

// badValues compile and fail while they are evaluated.
var badValues = []string{
	`1/0`, `1 % 0`, `1e308 * 10`, `n && yes`, `!n`, `n ? 1 : 2`, `"a" + 1`, `nothing + 1`, `xs + xs`, `"a" < 1`, `nothing < 1`,
	`-s`, `s - 1`, `unbound`, `"é" + unbound.x`, `n.x`, `s[0]`, `xs.a`, `o[0]`, `xs["a"]`, `xs[1.5]`, `xs[null]`, `1 in s`,
	`1 in nothing`, `1 in o`, `s contains 1`, `s matches "(" + ""`, `len(n)`, `len(null)`, `lower(1)`, `join([[1]], "")`,
	`join(s, "")`, `keys(xs)`, `first(s)`, `fromJSON("{")`, `fromJSON("{\"a\" 1}")`, `fromJSON("1 2")`, `fromJSON("")`,
	`map(o, #)`, `map(null, #)`, `filter(xs, #)`, `any(xs, 1)`, `filter(items, .ok).x`, `map(xs, # + s)`,
}

func TestCompileErrors(t *testing.T) {
	var b strings.Builder
	for _, src := range badSources {
		_, errs := Compile(src, 100)
		if len(errs) == 0 {
			t.Errorf("%q compiles", src)
		}
		write(&b, src, errs)
	}
	golden(t, "compile-errors.golden", b.String())
}

func TestEvalErrors(t *testing.T) {
	env := world(t)
	var b strings.Builder
	for _, src := range badValues {
		e, errs := Compile(src, 100)
		if errs != nil {
			t.Errorf("%q does not compile: %s", src, show(errs))
			continue
		}
		_, err := e.Eval(env)
		var x *Error
		if !errors.As(err, &x) {
			t.Errorf("%q has no error", src)
			continue
		}
		write(&b, src, []*Error{x})
	}
	golden(t, "eval-errors.golden", b.String())
}

// write adds a source with its errors to a golden; offsets count from the expression's start at 100.
func write(b *strings.Builder, src string, errs []*Error) {
	fmt.Fprintf(b, "%q\n", src)
	for _, e := range errs {
		fmt.Fprintf(b, "\t%s %s\n", e.Code, show([]*Error{e}))
	}
}

func show(errs []*Error) string {
	var lines []string
	for _, e := range errs {
		line := fmt.Sprintf("%d-%d %s", e.Span.Start-100, e.Span.End-100, e.Message)
		if e.Hint != "" {
			line += " | " + e.Hint
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; is now:\n%s", name, got)
	}
}

// Types of the table below.
var (
	verdict = &Type{Kinds: Object, Closed: true, Fields: map[string]*Type{"passed": Of(Bool), "score": Of(Number),
		"issues": {Kinds: Array, Elem: &Type{Kinds: Object, Closed: true, Fields: map[string]*Type{"file": Of(String), "line": Of(Number)}}}}}
	known = map[string]*Type{"verdict": verdict, "n": Of(Number), "s": Of(String), "yes": Of(Bool), "maybe": Union(verdict, Of(Null)),
		"nothing": Of(Null), "both": Of(String | Number), "labels": {Kinds: Array, Elem: Of(String)}}
)

var typeCases = []struct{ src, want string }{
	{`verdict.passed`, `a boolean`}, {`verdict.score + 1`, `a number`}, {`n.x`, ``}, {`verdict.pased`, ``}, {`verdict.issues.file`, ``},
	{`verdict.issues[0].file`, `a string or null`}, {`map(verdict.issues, .fil)`, ``}, {`map(verdict.issues, .file)`, `an array`},
	{`any(labels, # == 1)`, ``}, {`any(labels, # == "bug")`, `a boolean`}, {`s == 1`, ``}, {`s == null`, `a boolean`}, {`both == 1`, `a boolean`},
	{`maybe.passed`, `a boolean or null`}, {`maybe.pased`, ``}, {`nothing.x`, `null`}, {`unknown.x.y`, `any value`}, {`s + n`, ``},
	{`s + string(n)`, `a string`}, {`n < s`, ``}, {`!n`, ``}, {`n && yes`, ``}, {`n ? 1 : 2`, ``}, {`yes ? 1 : "a"`, `a string or a number`},
	{`len(n)`, ``}, {`upper(verdict)`, ``}, {`filter(labels, #)`, ``}, {`map(verdict, #)`, ``}, {`1 in labels`, ``}, {`n in s`, ``},
	{`maybe.passed ?? false`, `a boolean`}, {`nothing ?? 1`, `a number`}, {`verdict[0]`, ``}, {`verdict["pased"]`, ``}, {`n[0]`, ``},
	{`{"a": n}.b`, `any value`}, {`{"a": n}.a.b`, ``}, {`first(labels)`, `a string or null`}, {`both + both`, `a string or a number`}, {`both - 1`, `a number`},
	{`s matches n`, ``}, {`[1, 2][0]`, `a number or null`}, {`verdict != 1`, ``}, {`verdict.passed && verdict.scor > 1 || n.x`, ``},
}

func TestTypes(t *testing.T) {
	var b strings.Builder
	for _, c := range typeCases {
		e, errs := Compile(c.src, 100)
		if errs != nil {
			t.Fatalf("%q: %s", c.src, show(errs))
		}
		typ, errs := e.Check(func(name string) *Type { return known[name] })
		if c.want == "" {
			if len(errs) == 0 {
				t.Errorf("%q fits", c.src)
			}
			write(&b, c.src, errs)
			continue
		}
		if len(errs) > 0 || typ.String() != c.want {
			t.Errorf("%q is %s, want %s; %s", c.src, typ, c.want, show(errs))
		}
	}
	golden(t, "type-errors.golden", b.String())
}

func TestPaths(t *testing.T) {
	env := world(t)
	for src, want := range map[string]string{
		"n": "3", "o.deep.x[0].y": "7", `o["a b"]`: "5", `o["a"]`: "1", "nothing.x[3]": "null", "xs[7]": "null", "o.in": `"I"`,
		"nope": "error nope is not bound", "n.x": "error a number has no member x", "xs.a": "error an array has no member a", "s[0]": "error a string has no items",
	} {
		p, ok := ParsePath(src)
		if !ok {
			t.Errorf("%s is no path", src)
			continue
		}
		v, err := p.Eval(env)
		got := ""
		if err != nil {
			got = "error " + err.Error()
		} else {
			got = JSON(v)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", src, got, want)
		}
	}
	for _, src := range []string{"", " n", "n ", "n.", ".n", "n[", "n[]", "n[-1]", "n[a]", `n["a]`, `n["a"`, `n['a']`, "n.1", "1n", "a b", "a-b", "a()", "a ?? b", "größe", "n[99999999999999999999]"} {
		if _, ok := ParsePath(src); ok {
			t.Errorf("%q is a path", src)
		}
	}
	p, _ := ParsePath("verdict.issues[0].fil")
	_, bad := p.Check(verdict)
	if bad == nil || bad.Span != (diag.Span{Start: 18, End: 21}) || bad.Hint != "did you mean file?" {
		t.Errorf("path check: %+v", bad)
	}
}

func TestNames(t *testing.T) {
	e, errs := Compile(`a.b[0].c + (x ?? "d") + f["k"] + any(items, .z == y.q) + (p.q[i] ?? r ?? s) + a`, 100)
	if errs != nil {
		t.Fatal(show(errs))
	}
	var b strings.Builder
	for _, r := range e.Names() {
		fmt.Fprintf(&b, "%s %d handled=%v %s\n", r.Name, r.Span.Start-100, r.Handled, r.Path())
	}
	golden(t, "names.golden", b.String())
}

func TestSpansOfSplitSources(t *testing.T) {
	// As in a quote: the characters "> " between the lines are no part of the expression.
	doc := "a={1 +\n> nope}"
	at := func(i int) int {
		if i < 4 {
			return 3 + i
		}
		return 5 + i
	}
	_, errs := CompileAt("1 +\nnope()", at)
	if len(errs) != 1 || doc[errs[0].Span.Start:errs[0].Span.End] != "nope" {
		t.Errorf("%s", show(errs))
	}
}

func TestBudget(t *testing.T) {
	big := make([]any, 5000)
	for i := range big {
		big[i] = int64(i)
	}
	env := map[string]any{"big": big, "text": strings.Repeat("x", 10_000_000)}
	for _, src := range []string{`all(big, all(big, all(big, true)))`, `map(big, text + text)`, `map(big, len(json(big)))`, `map(big, big == big)`} {
		e, errs := Compile(src, 100)
		if errs != nil {
			t.Fatal(show(errs))
		}
		if _, err := e.Eval(env); err == nil || !strings.Contains(err.Error(), "too many steps") {
			t.Errorf("%s: %v", src, err)
		}
	}
}

func TestBounds(t *testing.T) {
	for name, src := range map[string]string{
		"parentheses": strings.Repeat("(", 1<<20), "brackets": strings.Repeat("[", 1<<20), "not": strings.Repeat("!", 1<<20) + "a",
		"minus": strings.Repeat("-", 1<<20) + "1", "sum": "1" + strings.Repeat("+1", 1<<19), "ternary": strings.Repeat("a?b:", 1<<18) + "c",
		"members": "a" + strings.Repeat(".b", 15_000), "predicates": strings.Repeat("map(a,", 1<<18), "coalesce": "a" + strings.Repeat("??a", 9_000),
		"unary to the limit": strings.Repeat("!", 9_000) + "a", "conditions to the limit": strings.Repeat("a?b:", 2_400) + "c",
	} {
		start := time.Now()
		e, errs := Compile(src, 100)
		if errs == nil {
			_, _ = e.Eval(map[string]any{"a": true, "b": nil, "c": nil})
			_ = e.Canonical()
			e.Check(func(string) *Type { return nil })
		}
		if spent := time.Since(start); spent > 5*time.Second {
			t.Errorf("%s took %v", name, spent)
		}
	}
}
